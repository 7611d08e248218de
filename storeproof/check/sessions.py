"""Checks what each client saw of keys that have one writer: its own acknowledged writes, and never an older state than it had seen before.

The writes of a key have the order in which its writer sent them, one after the other. A read *forgets* if it shows something older than the
last write of the key that the same client had acknowledged (*read your writes*); it goes *back* if it shows something older than an earlier
read of the same client did (*monotonic reads*). What others read or wrote at the same time does not matter, so that a replica that lags
behind does no wrong to clients that never saw more than it has.

    put 1 ok, put 2 ok, get -> 1                    forgets
    put 1 ok, put 2 unknown, get -> 1               right: 2 may never happen
    put 1 ok, get -> 1, get -> nothing              forgets, and goes back
    put 1 unknown, put 2 ok, get -> 2, get -> 1     right: 1 may have happened late, after 2
    put 1 ok, put 2 unknown, get -> 2, get -> 1     goes back: 2 came after 1, and had been seen
    of another client's key: get -> 2, get -> 1     goes back, but forgets nothing
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storeproof.history import Operation, Place

_NOTHING = -1
"""The position of a key's state before its first write."""


@dataclass(frozen=True)
class Regress:
    """One read, and the newer write that the client knew of: it had written it, or read it."""

    read: Operation
    newer: Operation
    known: Operation
    """By which the client knew of it: that write, or the earlier read."""

    def __str__(self) -> str:
        read = self.read
        return f"client {read.client}: {read.key!r}: {read.with_answer()}, after it knew of {self.newer.write_id}"


@dataclass(frozen=True)
class SessionReads:
    reads: int = 0
    """Answered ones."""
    forgotten: tuple[Regress, ...] = ()
    back: tuple[Regress, ...] = ()
    unexplained: tuple[Operation, ...] = ()
    """Reads whose answer is the record of no write of the key, or of a refused one."""

    def of_acknowledged(self) -> SessionReads:
        """The same without reads that went back from a write which was never acknowledged: a fault may have undone it."""
        return replace(self, back=tuple(each for each in self.back if each.newer.outcome != "unknown"))


def judge_sessions(operations: Sequence[Operation]) -> SessionReads:
    """The reads that forget or go back.

    `operations`: gets and puts, of any keys that were absent at first and have one writer each. A get's answer is a write id, or None.

    Raises:
        ValueError: other operations, or a key with two writers, whose writes have no order that is known.
    """
    ordered = sorted(operations, key=lambda each: each.invoked)
    if any(each.action not in ("get", "put") for each in ordered):
        raise ValueError("sessions are judged by gets and puts")
    writes: dict[Place, list[Operation]] = {}
    for each in ordered:
        if each.action == "put":
            writes.setdefault(each.place, []).append(each)
    if any(len({each.client for each in of_key}) > 1 for of_key in writes.values()):
        raise ValueError("each key has one writer")
    positions = {place: {each.write_id: position for position, each in enumerate(of_key)} for place, of_key in writes.items()}
    written: dict[tuple[int, Place], tuple[int, Operation]] = {}
    """The last write that each client has acknowledged, by its position."""
    seen: dict[tuple[int, Place], tuple[int, Operation]] = {}
    """The newest that each client has read, by its position, and the first read that showed it."""
    reads, forgotten, back, unexplained = 0, list[Regress](), list[Regress](), list[Operation]()
    for each in ordered:
        if each.outcome != "ok":
            continue
        known, of_key = (each.client, each.place), writes.get(each.place, [])
        if each.action == "put":
            written[known] = positions[each.place][each.write_id], each
            continue
        reads += 1
        shown = _NOTHING if each.answer is None else positions.get(each.place, {}).get(str(each.answer))
        if shown is None or (shown != _NOTHING and of_key[shown].outcome == "refused"):
            unexplained.append(each)
            continue
        if shown == _NOTHING or of_key[shown].outcome == "ok":  # an unknown write may happen at any later time
            for newest, wrong in ((written, forgotten), (seen, back)):
                newer, by = newest.get(known, (_NOTHING, each))
                if newer > shown:
                    wrong.append(Regress(each, of_key[newer], by))
        seen[known] = max(seen.get(known, (_NOTHING, each)), (shown, each), key=lambda one: one[0])
    return SessionReads(reads, tuple(forgotten), tuple(back), tuple(unexplained))
