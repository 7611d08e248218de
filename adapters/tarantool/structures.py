"""Lists, sets and rankings: a tuple for each item, and a tree that has those of one record together.

The tree is the primary index, or a second one where that is a hash. Another one of a ranking is in the order of the scores. A
record without items is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from storeproof.adapters.tarantool.notation import packed
from storeproof.contract import Key, Layout, Record, Refused


class _Session(Protocol):
    engine: str
    synchronous: bool
    index: str

    def call(self, function: str, *args: Any) -> Any: ...


class Items:
    """Whole records of many tuples; a subclass says what is in one."""

    columns: Sequence[Sequence[str]] = ()
    """Names and types behind the key; the first of them tells the items of a record apart."""
    order: Sequence[int] | None = None
    """The columns of another tree, counted from 1."""

    def __init__(self, session: _Session, layout: Layout) -> None:
        self._made = session.engine, session.index, session.synchronous
        self._call = session.call
        self._name = layout.name

    def encode(self, record: Any) -> list[list[Any]]:
        """The tuples of a record, behind the key."""
        raise NotImplementedError

    def decode(self, found: Sequence[Sequence[Any]]) -> Record:
        raise NotImplementedError

    def prepare(self) -> None:
        self._call("prepare_items", self._name, *self._made, [["key", "string"], *self.columns], self.order)

    def clear(self) -> None:
        self._call("clear", self._name)

    def describe(self) -> Mapping[str, str]:
        """As of every space. The trees beside the primary index are secondary ones."""
        found: dict[str, str] = self._call("describe", self._name)[0]
        return found

    def get(self, key: Key) -> Record | None:
        """space:select by the first part of the key."""
        found = self._call("items", self._name, key)[0]
        return self.decode(found) if found else None

    def put(self, key: Key, record: Record) -> None:
        """space:delete of each old one and space:replace of each new one, in one transaction."""
        if not record:
            raise Refused("a record without items does not exist")
        self._call("put_items", self._name, key, packed([[key, *item] for item in self.encode(record)]))

    def delete(self, key: Key) -> bool:
        """space:delete of each, in one transaction."""
        return bool(self._call("delete_items", self._name, key)[0])

    def exists(self, key: Key) -> bool:
        return bool(self._call("has_items", self._name, key)[0])


class Queues(Items):
    """Lists. Items are added and taken at the ends only: their places have no gaps."""

    columns = (("place", "integer"), ("item", "varbinary"))

    def encode(self, record: Any) -> list[list[Any]]:
        return [[place, item] for place, item in enumerate(record)]

    def decode(self, found: Sequence[Sequence[Any]]) -> Record:
        return [item for _, _, item in found]

    def push_back(self, key: Key, item: bytes) -> int:
        """Behind the last, in one transaction."""
        return int(self._call("push", self._name, key, item, True)[0])

    def push_front(self, key: Key, item: bytes) -> int:
        """Before the first, in one transaction."""
        return int(self._call("push", self._name, key, item, False)[0])

    def pop_front(self, key: Key) -> bytes | None:
        return self._popped(key, False)

    def pop_back(self, key: Key) -> bytes | None:
        return self._popped(key, True)

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        """index:pairs from the place that is `start` behind the first."""
        return [found[2] for found in self._call("list_range", self._name, key, start, stop)[0]]

    def list_length(self, key: Key) -> int:
        """From the places of the first and the last."""
        return int(self._call("list_length", self._name, key)[0])

    def _popped(self, key: Key, back: bool) -> bytes | None:
        found = self._call("pop", self._name, key, back)
        return found[0][2] if found and found[0] is not None else None


class Sets(Items):
    columns = (("member", "string"),)

    def encode(self, record: Any) -> list[list[Any]]:
        return [[member] for member in record]

    def decode(self, found: Sequence[Sequence[Any]]) -> Record:
        return {member for _, member in found}

    def add_member(self, key: Key, member: str) -> bool:
        """space:insert, unless it is there."""
        return bool(self._call("add_member", self._name, key, member)[0])

    def remove_member(self, key: Key, member: str) -> bool:
        return bool(self._call("remove_item", self._name, key, member)[0])

    def has_member(self, key: Key, member: str) -> bool:
        return bool(self._call("has_item", self._name, key, member)[0])

    def member_count(self, key: Key) -> int:
        return int(self._call("item_total", self._name, key)[0])


class Rankings(Items):
    """Members with scores. Text is compared as UTF-8 bytes, which is by code point."""

    columns = (("member", "string"), ("score", "number"))
    order = (1, 3, 2)

    def encode(self, record: Any) -> list[list[Any]]:
        return [[member, score] for member, score in record.items()]

    def decode(self, found: Sequence[Sequence[Any]]) -> Record:
        return {member: float(score) for _, member, score in found}

    def set_score(self, key: Key, member: str, score: float) -> bool:
        return bool(self._call("set_score", self._name, key, member, score)[0])

    def add_score(self, key: Key, member: str, by: float) -> float:
        """space:get and space:replace, in one transaction; a sum beyond all numbers is refused."""
        return float(self._call("add_score", self._name, key, member, by)[0])

    def remove_score(self, key: Key, member: str) -> bool:
        return bool(self._call("remove_item", self._name, key, member)[0])

    def score_of(self, key: Key, member: str) -> float | None:
        found = self._call("score_of", self._name, key, member)
        return float(found[0]) if found else None

    def rank_of(self, key: Key, member: str) -> int | None:
        """A count of those before it in the tree of scores."""
        found = self._call("rank_of", self._name, key, member)
        return int(found[0]) if found else None

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        """The tree of scores, backwards."""
        return [(member, float(score)) for _, member, score in self._call("top", self._name, key, count)[0]]

    def ranking_size(self, key: Key) -> int:
        return int(self._call("item_total", self._name, key)[0])
