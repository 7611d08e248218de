"""Transactions that are wrong in one way each: the variant's option `lie` says which.

Each mutant holds what a transaction writes back until it commits, reads from a copy of the collection, and decides at the commit whether
another transaction contradicts it. The lies are in what it reads, and in what it looks at then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Collection, Key, Layout, Record, Refused
from storeproof.spec.interleaving import Isolation

_ALL = 1_000_000
Place = tuple[str, Key | None]
"""A collection and a key; None: which keys there are."""


@dataclass
class Open:
    """A transaction."""

    isolation: Isolation
    began: int
    """How many had committed before."""
    copies: dict[str, dict[Key, Record]] = field(default_factory=dict)
    """The records as they were when it looked first, by collection."""
    writes: dict[str, dict[Key, Record | None]] = field(default_factory=dict)
    read: set[Place] = field(default_factory=set)
    written: set[Place] = field(default_factory=set)


class Held(Values):
    """A collection whose requests belong to the session's transaction, if one is open."""

    def __init__(self, session: Mutant, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self.name = layout.name
        self._session = session

    def now(self) -> dict[Key, Record]:
        """All records as they are committed."""
        return dict(super().scan(None, _ALL, False))

    def _seen(self) -> dict[Key, Record]:
        """All records, as the transaction sees them."""
        opened = self._session.opened
        assert opened is not None
        seen = {**opened.copies.setdefault(self.name, self.now()), **opened.writes.get(self.name, {})}
        return {key: record for key, record in seen.items() if record is not None}

    def _look(self, key: Key) -> Record | None:
        found = self._seen().get(key)
        self._session.note_read(self, key, found)
        return found

    def _write(self, key: Key, record: Record | None) -> None:
        opened = self._session.opened
        assert opened is not None
        opened.written.add((self.name, key))
        if (self._seen().get(key) is None) != (record is None):
            opened.written.add((self.name, None))
        opened.writes.setdefault(self.name, {})[key] = record

    def get(self, key: Key) -> Record | None:
        return self._look(key) if self._session.opened else super().get(key)

    def exists(self, key: Key) -> bool:
        return self.get(key) is not None

    def put(self, key: Key, record: Record) -> None:
        if self._session.opened:
            self._write(key, record)
        else:
            super().put(key, record)

    def delete(self, key: Key) -> bool:
        if not self._session.opened:
            return super().delete(key)
        found = self._look(key)
        self._write(key, None)
        return found is not None

    def count(self) -> int:
        if not self._session.opened:
            return super().count()
        self._session.note_range(self)
        return len(self._seen())

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        if not self._session.opened:
            return super().scan(start, count, backwards)
        self._session.note_range(self)
        seen = self._session.records_of_a_scan(self, self._seen())
        keys = sorted(map(str, seen), reverse=backwards)
        kept = [key for key in keys if start is None or key == start or (key < str(start)) == backwards]
        return [(key, seen[key]) for key in kept[:count]]

    def put_if_absent(self, key: Key, record: Record) -> bool:
        if not self._session.opened:
            return super().put_if_absent(key, record)
        free = self._session.decides(self, key, self._look(key)) is None
        if free:
            self._write(key, record)
        return free

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        if not self._session.opened:
            return super().compare_and_set(key, expected, record)
        equal = self._session.decides(self, key, self._look(key)) == expected
        if equal:
            self._write(key, record)
        return equal


class Mutant(SQLite):
    """A session whose transactions are right, but for what a lie changes."""

    done: ClassVar[list[Open]] = []
    """All that have committed, in order."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self.opened: Open | None = None

    def collection(self, layout: Layout) -> Collection:
        return Held(self, self._link, layout) if layout.model.record.kind == "value" else super().collection(layout)

    def begin(self, isolation: Isolation) -> None:
        self.opened = Open(isolation, len(self.done))

    def rollback(self) -> None:
        self.opened = None

    def commit(self) -> None:
        mine, self.opened = self.opened, None
        assert mine is not None
        if any(self.contradicts(mine, other) for other in self.done[mine.began :]):
            raise Refused("another transaction contradicts it")
        self._link.lead("begin")
        for name, writes in mine.writes.items():
            for key, record in writes.items():
                table = f'"{name}"'
                self._link.change(f"DELETE FROM {table} WHERE k = ?", key)
                if record is not None:
                    self._link.change(f"INSERT INTO {table} VALUES (?, ?)", key, record)
        self._link.lead("commit")
        self.done.append(mine)

    # What a lie changes:

    def note_read(self, records: Held, key: Key, found: Record | None) -> None:
        """Remember that a record was looked for."""
        assert self.opened is not None
        self.opened.read.add((records.name, key))

    def note_range(self, records: Held) -> None:
        """Remember that many records were looked at."""
        assert self.opened is not None
        self.opened.read.add((records.name, None))

    def records_of_a_scan(self, records: Held, seen: dict[Key, Record]) -> dict[Key, Record]:
        """What a scan goes through."""
        return seen

    def decides(self, records: Held, key: Key, found: Record | None) -> Record | None:
        """The record by which a conditional write is decided."""
        return found

    def contradicts(self, mine: Open, other: Open) -> bool:
        """Whether another transaction, which committed since this one began, contradicts it."""
        both = {place for place in mine.written & other.written if place[1] is not None}
        return bool(both) or (mine.isolation == "serializable" and bool(mine.read & other.written))


class AbsentForgotten(Mutant):
    """Reads that found nothing are not remembered."""

    def note_read(self, records: Held, key: Key, found: Record | None) -> None:
        if found is not None:
            super().note_read(records, key, found)


class PairsOnly(Mutant):
    """A contradiction needs two transactions of which each has read what the other one wrote."""

    def contradicts(self, mine: Open, other: Open) -> bool:
        return bool(mine.read & other.written) and bool(mine.written & other.read)


class FewRemembered(Mutant):
    """What was read of a large collection is not remembered."""

    def note_read(self, records: Held, key: Key, found: Record | None) -> None:
        if len(records.now()) < 1000:
            super().note_read(records, key, found)


class RangesForgotten(Mutant):
    """Of a range that was read no gap is remembered."""

    def note_range(self, records: Held) -> None:
        pass


class DecidedByTheLatest(Mutant):
    """As InnoDB: a conditional write is decided by what was committed last."""

    def decides(self, records: Held, key: Key, found: Record | None) -> Record | None:
        return super().decides(records, key, records.now().get(key))


class LastWriterWins(Mutant):
    """Of two transactions that write the same record both commit."""

    def contradicts(self, mine: Open, other: Open) -> bool:
        return False


class ScansTheLatest(Mutant):
    """A scan finds what was committed last."""

    def records_of_a_scan(self, records: Held, seen: dict[Key, Record]) -> dict[Key, Record]:
        return records.now()


@dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    session: type[Mutant]


LIES: Mapping[str, Lie] = {
    "absent-forgotten": Lie("transactions.no-write-skew/003", AbsentForgotten),
    "pairs-only": Lie("transactions.no-write-skew/005", PairsOnly),
    "few-remembered": Lie("transactions.no-write-skew/007", FewRemembered),
    "ranges-forgotten": Lie("transactions.no-range-write-skew/001", RangesForgotten),
    "decided-by-the-latest": Lie("transactions.conditional-writes/004", DecidedByTheLatest),
    "last-writer-wins": Lie("transactions.snapshot/003", LastWriterWins),
    "scans-the-latest": Lie("transactions.snapshot-ranges/001", ScansTheLatest),
}
"""By name."""


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    return (LIES[options["lie"]].session if options else Mutant)(Link(address))
