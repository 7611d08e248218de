"""Reduces a history that is not linearizable to a small part that is not, for the same reason.

First the end is cut off: every prefix of a linearizable history is linearizable, so there is a first reply that makes the history wrong,
and what follows does not matter. Then operations are removed, in chunks that get smaller (as in delta debugging), as long as the rest is
still wrong. Only operations without which a linearizable history stays linearizable may go: removing the put of a value that was read
would make any history wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from storeproof.check.linearizable import is_linearizable
from storeproof.check.reduction import only_reads, unobserved
from storeproof.history import Operation

BEFORE = -1
"""The client number of an increment that stands for the sum of all earlier ones."""

_ONE_SEARCH = 2.0
"""Timeout in seconds for checking one candidate. An undecided candidate counts as linearizable and is not used."""

History = list[Operation]


@dataclass(frozen=True)
class Contradiction:
    """Part of a history, not linearizable by itself."""

    operations: tuple[Operation, ...]
    """In order of invocation."""
    culprit: Operation
    """The operation whose reply came last: before that reply, the history was linearizable."""


def contradiction(
    operations: Sequence[Operation], seconds: float, holds: Callable[[Sequence[Operation]], bool | None] | None = None
) -> Contradiction:
    """The smallest part found within `seconds` that is not linearizable.

    `holds`: replaces the checker, in tests.

    Raises:
        ValueError: the history is linearizable, or the check was undecided.
    """
    judge = holds if holds is not None else lambda some: is_linearizable(some, _ONE_SEARCH)
    deadline = time.monotonic() + seconds

    def wrong(some: Sequence[Operation]) -> bool:
        return time.monotonic() < deadline and judge(some) is False

    if judge(operations) is not False:
        raise ValueError("only a history that is not linearizable can be reduced; this one is, or it was not decided in time")
    shortest, culprit = _beginning(list(operations), wrong)
    rest = [each for each in shortest if each is not culprit]
    smaller = _counter(rest, culprit, wrong) if any(each.action == "increment" for each in shortest) else _register(rest, culprit, wrong)
    return Contradiction(tuple(sorted([*smaller, culprit], key=lambda each: each.invoked)), culprit)


def _beginning(operations: History, wrong: Callable[[History], bool]) -> tuple[History, Operation]:
    """The shortest prefix that is not linearizable, by bisection, and the operation whose reply ends it."""
    ended = sorted((each for each in operations if each.outcome == "ok"), key=_end)
    low, high = 0, len(ended) - 1
    while low < high:
        middle = (low + high) // 2
        if wrong(_until(operations, _end(ended[middle]))):
            high = middle
        else:
            low = middle + 1
    return _until(operations, _end(ended[high])), ended[high]


def _until(operations: History, moment: int) -> History:
    """The history as of a moment: writes in flight are unknown, reads in flight are left out."""
    found = []
    for each in operations:
        if each.outcome == "refused" or each.invoked > moment:
            continue
        if each.completed is not None and each.completed <= moment:
            found.append(each)
        elif each.action != "get":
            found.append(replace(each, completed=None, outcome="unknown", answer=None))
    return found


def _end(operation: Operation) -> int:
    assert operation.completed is not None
    return operation.completed


def _without(rest: History, culprit: Operation, wrong: Callable[[History], bool], may_go: Callable[[Operation, History], bool]) -> History:
    """Remove operations that `may_go` permits, in chunks that get smaller."""
    size = len(rest)
    while size:
        at = 0
        while at < len(rest):
            going = {id(each) for each in rest[at : at + size] if may_go(each, [*rest, culprit])}
            left = [each for each in rest if id(each) not in going]
            if going and wrong([*left, culprit]):
                rest = left
            else:
                at += size
        size //= 2
    return rest


def _ignore_answers(rest: History, culprit: Operation, wrong: Callable[[History], bool]) -> History:
    """Ignore the answers of writes, in chunks that get smaller. This makes no history wrong: a write without an answer constrains less."""
    size = len(rest)
    while size:
        for at in range(0, len(rest), size):
            chosen = [
                replace(each, answer_ignored=True)
                if at <= place < at + size and each.answer_counts and each.action not in ("get", "put")
                else each
                for place, each in enumerate(rest)
            ]
            if chosen != rest and wrong([*chosen, culprit]):
                rest = chosen
        size //= 2
    return rest


def _register(rest: History, culprit: Operation, wrong: Callable[[History], bool]) -> History:
    before = None
    while before != len(rest):
        before = len(rest)
        rest = _without(rest, culprit, wrong, lambda each, _: only_reads(each))
        rest = _ignore_answers(rest, culprit, wrong)
        rest = _without(rest, culprit, wrong, unobserved)
        rest = _since_a_put(rest, culprit, wrong)
    return rest


def _since_a_put(rest: History, culprit: Operation, wrong: Callable[[History], bool]) -> History:
    """Remove all that completed before an acknowledged put, if only puts and operations without an answer overlap it.

    Writes whose values are read later stay, to show where the values came from; their answers are ignored.
    """
    every = [*rest, culprit]
    for put in sorted((each for each in rest if each.action == "put" and each.outcome == "ok"), key=lambda each: -each.invoked):
        overlapping = [each for each in every if (each.completed or put.invoked) >= put.invoked and each.invoked <= _end(put)]
        if not all(each.action == "put" or not each.answer_counts for each in overlapping):
            continue
        later = [each for each in every if each.completed is None or each.completed >= put.invoked]
        read = {found for each in later for found in (each.answer if each.answer_counts else None, each.expected) if isinstance(found, str)}
        left = [
            replace(each, answer_ignored=each.answer_ignored or each.action != "put")
            if each.completed and each.completed < put.invoked
            else each
            for each in rest
            if each.completed is None or each.completed >= put.invoked or (each.write_id and each.write_id in read)
        ]
        if len(left) < len(rest) and wrong([*left, culprit]):
            return left
    return rest


def _counter(rest: History, culprit: Operation, wrong: Callable[[History], bool]) -> History:
    """Reduce the history of a counter: ignore answers where possible, then add up or leave out the increments that no answer depends on."""
    rest = _without(rest, culprit, wrong, lambda each, _: each.action == "get")
    rest = _ignore_answers(rest, culprit, wrong)
    heard = [each for each in [*rest, culprit] if each.answer_counts]
    first, last = min(each.invoked for each in heard), max(_end(each) for each in heard)
    # An increment without an answer can be placed only if it is before all operations with answers, or after all of them.
    early = [each for each in rest if not each.answer_counts and each.completed is not None and each.completed < first]
    left = [each for each in rest if each.answer_counts or not (each in early or each.invoked > last)]
    if not early:
        return left
    total = sum(each.amount for each in early)
    begin, end = min(each.invoked for each in early), max(_end(each) for each in early)
    return [replace(early[0], client=BEFORE, invoked=begin, completed=end, amount=total, answer=None, answer_ignored=True), *left]
