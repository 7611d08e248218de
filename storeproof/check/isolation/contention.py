"""How much transactions got in each other's way: without that, any store looks isolated."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storeproof.history import Transaction


@dataclass(frozen=True, slots=True)
class _Use:
    """Of one record by one transaction."""

    number: int
    invoked: int
    completed: int
    wrote: bool


def contended(transactions: Sequence[Transaction]) -> int:
    """The number of acknowledged commits that shared a record with another transaction at the same time, and one of the two wrote it.

    The other one may have been rolled back: a store that locks lets only one of two go on, which is isolation at work.
    """
    found = {number for uses in _uses(transactions) for number in _overlapping(uses)}
    return sum(transactions[number].outcome == "ok" for number in found)


def _uses(transactions: Sequence[Transaction]) -> Iterator[list[_Use]]:
    """Those of each record, in the order in which the transactions began."""
    wrote: defaultdict[str, dict[int, bool]] = defaultdict(dict)
    for number in sorted(range(len(transactions)), key=lambda number: transactions[number].invoked):
        for access in transactions[number].accesses:
            of_record = wrote[access.key]
            of_record[number] = of_record.get(number, False) or access.action == "write"
    for of_record in wrote.values():
        yield [
            _Use(number, each.invoked, each.invoked if each.completed is None else each.completed, writes)
            for number, writes in of_record.items()
            for each in (transactions[number],)
        ]


def _overlapping(uses: Sequence[_Use]) -> Iterator[int]:
    """Those that overlap with one that began before, and with one that began after."""
    ended = wrote_ended = -math.inf
    for each in uses:
        if each.invoked <= (ended if each.wrote else wrote_ended):
            yield each.number
        ended = max(ended, each.completed)
        wrote_ended = max(wrote_ended, each.completed) if each.wrote else wrote_ended
    begun = wrote_begun = math.inf
    for each in reversed(uses):
        if each.completed >= (begun if each.wrote else wrote_begun):
            yield each.number
        begun = each.invoked
        wrote_begun = each.invoked if each.wrote else wrote_begun
