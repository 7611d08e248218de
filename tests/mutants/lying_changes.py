"""Stores that lie about what changes: feeds, indexes that are built meanwhile, pages, stored searches. `lie` says which lie it is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, SQLite, Values
from storeproof.adapters.sqlite.table import Table
from storeproof.contract import Address, Change, Json, Key, Path, Record
from storeproof.spec.model import Index
from storeproof.spec.query import Condition, Query, Where


class LastDropped(Values):
    """The last of several changes is never told."""

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        told = super().changes(count, seconds)
        return told[:-1] if len(told) > 1 else told


class ToldAgain(Values):
    """A feed that goes on at the last change that was answered, and not behind it."""

    def resume_feed(self) -> None:
        super().resume_feed()
        self._last -= 1 if self._last else 0


class LostBetween(Values):
    """A feed that goes on at what happens next, whatever happened meanwhile."""

    def resume_feed(self) -> None:
        super().resume_feed()
        self._last = self._link.read(f"SELECT coalesce(max(n), 0) FROM {self._log}")[0][0]


class LatestRecord(Values):
    """With each change the record is read as it is by then."""

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        told = super().changes(count, seconds)
        return [change._replace(record=self.get(change.key)) if change.record is not None else change for change in told]


class FromTheBeginning(Values):
    """What was there before is told too."""

    def follow(self, records: bool) -> None:
        super().follow(records)
        self._link.write(f"INSERT INTO {self._log} (kind, k, v) SELECT 'put', k, v FROM {self._name}")


class LatestOnly(Values):
    """Of several changes of one record only the last is told, as some caches do."""

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        return list({change.key: change for change in super().changes(count, seconds)}.values())


class OwnOnly(Values):
    """The changes of its own session, put down by the client."""

    own: list[Change] | None = None

    def follow(self, records: bool) -> None:
        self.own = []

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        if self.own is not None:
            self.own.append(Change("put", key))

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        told, self.own = (self.own or [])[:count], (self.own or [])[count:]
        return told


class WrittenMeanwhile(Documents):
    """An index of the records as they were when its build began."""

    def create_index(self, index: Index) -> None:
        before = dict(super().find(Query()))
        time.sleep(0.05)
        super().create_index(index)
        after = dict(super().find(Query()))
        self.missed = {key for key, record in after.items() if before.get(key) != record}

    missed: frozenset[Key] | set[Key] = frozenset()

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return [entry for entry in super().find(query) if entry[0] not in self.missed]


class DuplicateMeanwhile(Documents):
    """An index that is to be unique, and forgets to look at what it finds."""

    def create_index(self, index: Index) -> None:
        super().create_index(index.model_copy(update={"unique": False}))


class NothingWithoutIndex(Documents):
    """An index that finds nothing until it is whole again."""

    def count_where(self, where: Where) -> int:
        return super().count_where(where) if self.index_names() else 0


class PageShifts(Documents):
    """What is asked for by where the last page ended is looked for by its number."""

    shown = 0

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        if query.limit and query.filter is not None:
            query = query.model_copy(update={"filter": None, "skip": self.shown})
        self.shown += query.limit or 0
        return super().find(query)


class PartOfAWord(Documents):
    """A phrase is looked for as a part of the text."""

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        if isinstance(query.filter, Condition) and query.filter.operator == "phrase":
            text = query.filter.model_copy(update={"path": ("body",), "operator": "icontains"})
            query = query.model_copy(update={"filter": text})
        return super().find(query)


class AnyOrder(Documents):
    """Stored searches forget the order of a phrase."""

    def save_search(self, name: str, where: Where) -> None:
        if isinstance(where.filter, Condition) and where.filter.operator == "phrase":
            where = Where(filter=where.filter.model_copy(update={"operator": "words"}))
        super().save_search(name, where)


class MadeOnTheWay(Documents):
    """An update that puts an object in place of what is there."""

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        number = self.count_where(where)
        for key, _ in super().find(Query(filter=where.filter, fields=())):
            self.set_path(key, path[:-1], {str(path[-1]): value})
        return number


@dataclasses.dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    liar: type[Table]


LIES: Mapping[str, Lie] = {
    "last-change-dropped": Lie("server_side.change-feed/001", LastDropped),
    "latest-change-only": Lie("server_side.change-feed/003", LatestOnly),
    "changes-of-before": Lie("server_side.change-feed/002", FromTheBeginning),
    "own-changes-only": Lie("server_side.change-feed/concurrent", OwnOnly),
    "own-changes-for-commits": Lie("server_side.change-feed-transactions/001", OwnOnly),
    "change-told-again": Lie("server_side.change-feed-resumed/001", ToldAgain),
    "change-lost-between": Lie("server_side.change-feed-resumed/001", LostBetween),
    "latest-record": Lie("server_side.change-feed-records/001", LatestRecord),
    "misses-what-was-written-meanwhile": Lie("indexes.built-while-writing/concurrent", WrittenMeanwhile),
    "duplicate-meanwhile": Lie("indexes.built-while-writing/unique", DuplicateMeanwhile),
    "nothing-without-index": Lie("indexes.dropped-while-reading/concurrent", NothingWithoutIndex),
    "page-shifts": Lie("paging.stable-under-inserts/001", PageShifts),
    "part-of-a-word": Lie("text.phrase/004", PartOfAWord),
    "phrase-in-any-order": Lie("text.stored-search/001", AnyOrder),
    "made-on-the-way": Lie("bulk.update-where-without-place/001", MadeOnTheWay),
}
"""By name."""


class Mutant(SQLite):
    """A session one of whose kinds of tables lies."""

    def __init__(self, link: Link, liar: type[Table]) -> None:
        super().__init__(link)
        kind = "document" if issubclass(liar, Documents) else "value"
        self.tables = {**SQLite.tables, kind: liar}


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    """Open one session that lies as `lie` says."""
    return Mutant(Link(address), LIES[options["lie"]].liar) if options else SQLite(Link(address))
