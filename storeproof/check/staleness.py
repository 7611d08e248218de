"""Checks reads against the writes that were acknowledged before they were sent: a stale read returns what had been replaced by then.

The key is a register of puts and deletes. A state of the key, a put's record or absence, is *replaced* at the first acknowledgement of a
write that was sent after the state's own write had completed: that write is certainly newer. A read that was sent later is stale if it
returns the state all the same, and its age is the time in between.

    put a |--|  put b |--|  get -> a      |--|    stale: b had been acknowledged; the age is the gap between both
    put a |--|  put b |----|  get -> a  |--|      not stale: b was not acknowledged yet
    put a |-----|  get -> a    |--|               not stale: a and b were sent at the same time, and b may be the older one
      put b |-|
    put a |--?     put b |--|  get -> a      |--| not stale: an unknown write may take effect at any later time
    put a |--|  del |--|  get -> a      |--|      stale, as b would be
    put a |--|  get -> nothing  |--|              stale: the key was absent before a, and nothing has deleted it since

A history without stale reads need not be linearizable: a read may return a write that is not acknowledged yet, and a later one not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storeproof.history import Operation

_BEFORE_ALL = -1
"""A time before all operations."""


@dataclass(frozen=True)
class StaleRead:
    """One read, and the write that had replaced what it returned."""

    read: Operation
    newer: Operation

    @property
    def age_ns(self) -> int:
        """Nanoseconds from the acknowledgement of the newer write until the read was sent."""
        return self.read.invoked - _completed(self.newer)

    def __str__(self) -> str:
        age = f"{self.age_ns / 1e6:.1f} ms"
        return f"{self.read.key!r}: {self.read.with_answer()}, sent {age} after {self.newer.with_answer()} was acknowledged"


@dataclass(frozen=True)
class Staleness:
    """The reads of one or several histories."""

    reads: int
    """Answered ones."""
    stale: tuple[StaleRead, ...]
    unexplained: tuple[Operation, ...]
    """Reads whose answer is the record of no write, or of a refused one."""

    @property
    def ages_ms(self) -> list[float]:
        """The ages of the stale reads in milliseconds, ascending."""
        return sorted(each.age_ns / 1e6 for each in self.stale)


def staleness(operations: Sequence[Operation]) -> Staleness:
    """The stale reads of one key, which was absent at first.

    `operations`: every get, put and delete of the key, in any order; the answer of a get is a write id, or None.

    Raises:
        ValueError: operations of several keys, or other operations.
    """
    if len({each.place for each in operations}) > 1 or any(each.action not in ("get", "put", "delete") for each in operations):
        raise ValueError("stale reads are looked for among the gets, puts and deletes of one key")
    writes = [each for each in operations if each.action != "get" and each.outcome != "refused"]
    replaced = _Replacements([each for each in writes if each.outcome == "ok"])
    by_id = {each.write_id: each for each in writes if each.action == "put"}
    deletes = [each for each in writes if each.action == "delete"]
    reads = [each for each in operations if each.action == "get" and each.answer_counts]
    stale: list[StaleRead] = []
    unexplained: list[Operation] = []
    for read in reads:
        if read.answer is None:
            newer = replaced.of_absence(deletes, read)
        elif read.answer in by_id:
            newer = replaced.of(by_id[str(read.answer)])
        else:
            unexplained.append(read)
            continue
        if newer is not None and _completed(newer) < read.invoked:
            stale.append(StaleRead(read, newer))
    return Staleness(len(reads), tuple(stale), tuple(unexplained))


def together(found: Iterable[Staleness]) -> Staleness:
    """The staleness of several keys or rounds."""
    every = list(found)
    return Staleness(
        sum(each.reads for each in every),
        tuple(stale for each in every for stale in each.stale),
        tuple(read for each in every for read in each.unexplained),
    )


class _Replacements:
    """Which acknowledged write replaced a state first."""

    def __init__(self, acknowledged: Iterable[Operation]) -> None:
        ordered = sorted(acknowledged, key=lambda each: each.invoked)
        self._sent = [each.invoked for each in ordered]
        self._first: list[Operation] = []
        """For each position, the write from there on that was acknowledged first."""
        for each in reversed(ordered):
            best = self._first[-1] if self._first else each
            self._first.append(min(best, each, key=_completed))
        self._first.reverse()

    def first(self, after: int) -> Operation | None:
        """The write sent after a time that was acknowledged first."""
        place = bisect_right(self._sent, after)
        return self._first[place] if place < len(self._first) else None

    def of(self, write: Operation) -> Operation | None:
        """The write that replaced what this one wrote; None if that is not certain of any."""
        return None if write.completed is None else self.first(write.completed)

    def of_absence(self, deletes: Iterable[Operation], read: Operation) -> Operation | None:
        """The write that replaced the last of the absences that a read may have found: that before all writes, and one after each delete
        that was sent before the read ended."""
        found = [self.first(_BEFORE_ALL), *(self.of(each) for each in deletes if each.invoked < _completed(read))]
        known = [each for each in found if each is not None]
        return max(known, key=_completed) if len(known) == len(found) else None


def _completed(operation: Operation) -> int:
    assert operation.completed is not None, "what was answered has completed"
    return operation.completed
