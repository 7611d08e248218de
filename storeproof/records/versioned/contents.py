"""What the records of a mix are: how a transaction writes one, what it sees of one, and how it looks for several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from storeproof.contract import Collection, Key, Layout, Record, Session, WholeTransactions, call, call_whole
from storeproof.history import Access
from storeproof.records.self_verifying import identify, recipe
from storeproof.records.versioned.lists import SeenLists, item, items_of
from storeproof.spec.isolation import TransactionMix
from storeproof.spec.query import Query

_FIELD: Final = "name"
"""Of the model `nested`: the first that can have an index. It has the group of a record."""
_GROUP: Final = 4
"""Records in a group."""


class Contents:
    """Records that are replaced as a whole, by transactions that have read them."""

    blind: bool = False
    """Whether a transaction writes a record without a read before."""

    def __init__(self, layout: Layout, not_written: list[str]) -> None:
        """`not_written`: takes what is read and was written so by no client."""
        self._layout = layout
        self._not_written = not_written

    def use(self, session: Session) -> None:
        """Open the collection."""
        self._collection: Collection = session.collection(self._layout)

    def write(self, key: str, write_id: str) -> None:
        """Put the record of this write."""
        self._call("put", key, recipe(self._layout.model).make(key, write_id))

    def read(self, key: str) -> Iterable[Access]:
        """What is seen of a record; nothing of one that no client has written so."""
        return self._seen(key, self._call("get", key))

    def search(self, key: str) -> Iterable[Access]:
        """What is seen of those that are found with a record by a condition."""
        return self.read(key)

    def run_whole(self, keys: Sequence[str], writes: Mapping[str, str]) -> Iterable[Access]:
        """Read these and put others, by their write ids, in one request; what is seen."""
        assert isinstance(self._collection, WholeTransactions)
        made: dict[Key, Record] = {key: recipe(self._layout.model).make(key, write_id) for key, write_id in writes.items()}
        found = call_whole(self._collection, self._layout, keys, made)
        return [access for key, record in zip(keys, found, strict=True) for access in self._seen(key, record)]

    def _seen(self, key: str, found: Record | None, *, predicate: bool = False) -> list[Access]:
        version = None if found is None else self._version(key, found)
        return [Access("read", key, version, predicate)] if found is None or version is not None else []

    def _version(self, key: str, found: Record) -> str | None:
        """The write id of a record; None: no client has written it so, which is noted."""
        seen = identify(self._layout.model, key, found)
        if not seen.write_id:
            self._not_written.append(f"{key} is {seen.kind}")
        return seen.write_id or None

    def _call(self, operation: str, *arguments: Any) -> Any:
        return call(self._collection, self._layout, operation, *arguments)


class ListContents(Contents):
    """Lists of write ids, to which the store appends."""

    blind = True

    def __init__(self, layout: Layout, not_written: list[str], lists: SeenLists) -> None:
        super().__init__(layout, not_written)
        self._lists = lists

    def write(self, key: str, write_id: str) -> None:
        """Append it."""
        self._call("append", key, item(write_id))

    def _version(self, key: str, found: Record) -> str | None:
        items = items_of(found)
        if items is None:
            self._not_written.append(f"{key} is no list")
            return None
        self._lists.add(key, items)
        return items[-1]


class GroupContents(Contents):
    """Documents that belong to groups, and are found by them. A group has its records from the beginning, and all are absent at first."""

    def write(self, key: str, write_id: str) -> None:
        """Put the document of this write, with its group."""
        made: Any = recipe(self._layout.model).make(key, write_id)
        self._call("put", key, {**made, _FIELD: group_of(key)})

    def search(self, key: str) -> Iterable[Access]:
        """All of its group: those that are found, and that the others are absent."""
        query = Query.model_validate({"filter": [_FIELD, "eq", group_of(key)]})
        found: Sequence[tuple[str, Record]] = self._call("find", query)
        records: Mapping[str, Record] = dict(found)
        group = keys_of_group(key)
        strange = [*(each for each in records if each not in group), *(["one twice"] if len(records) < len(found) else [])]
        self._not_written += [f"{each} is found in the group of {key}" for each in strange]
        return [access for each in group for access in self._seen(each, records.get(each), predicate=True)]

    def _version(self, key: str, found: Record) -> str | None:
        seen = identify(self._layout.model, key, found)  # never whole: the field tells no write
        if isinstance(found, Mapping) and len(seen.write_ids) == 1 and found.get(_FIELD) == group_of(key):
            own: Any = {**found, _FIELD: recipe(self._layout.model).part(key, seen.write_ids[0], (_FIELD,))}
            return super()._version(key, own)
        self._not_written.append(f"{key} is {seen.kind}")
        return None


def keys_of_group(key: str) -> list[str]:
    """The keys of all records in the group of one."""
    first = int(key.removeprefix("k")) // _GROUP * _GROUP
    return [f"k{number}" for number in range(first, first + _GROUP)]


def group_of(key: str) -> str:
    """The group of a record, as its field has it."""
    return f"g{int(key.removeprefix('k')) // _GROUP}"


def contents_of(mix: TransactionMix, layout: Layout, not_written: list[str], lists: SeenLists) -> Contents:
    """Those of a mix; arguments as of the kinds."""
    if mix.records == "lists":
        return ListContents(layout, not_written, lists)
    return GroupContents(layout, not_written) if mix.records == "groups" else Contents(layout, not_written)
