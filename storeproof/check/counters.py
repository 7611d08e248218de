"""Checks the value of a counter after a fault against the increments that were acknowledged before it.

The value must be the sum of the acknowledged increments plus the sum of any subset of the unknown ones; refused ones do not count:

    +1 ok, +1 ok, +1 unknown      2 and 3 are right; 1 lost an increment, 4 counted one twice.
    +5 ok, -2 unknown, +3 unknown 3, 5, 6 and 8 are right; 4 is between them, but no subset adds up to it.
    +1 ok, -1 ok                  0 is right, and so is absence: a counter starts from zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.check.durability import Anomaly, Finding
from storeproof.history import Operation


def judge_counter(operations: Sequence[Operation], value: int | None) -> Finding:
    """The finding for a counter: `ok` or `miscounted`.

    `operations`: every increment of one counter, at least one; it was absent before the first. `value`: the value read, None if absent.
    Time and memory grow with the number of distinct sums of the unknown increments.

    Raises:
        ValueError: no operation, operations of several counters, or an operation that is not an increment.
    """
    counters = {each.place for each in operations}
    if len(counters) != 1 or any(each.action != "increment" for each in operations):
        raise ValueError(f"a counter is judged by its increments, at least one and nothing else; found {len(counters)} counters")
    collection, key = next(iter(counters))
    acknowledged = [each for each in operations if each.outcome == "ok"]
    base = sum(each.amount for each in acknowledged)
    allowed = {base}
    for each in operations:
        if each.outcome == "unknown":
            allowed |= {total + each.amount for total in allowed}
    if (value or 0) in allowed:
        return Finding(collection, key, Anomaly.OK, _shown(value))
    bounds = f"{base}" if len(allowed) == 1 else f"{base} plus unknown ones, {min(allowed)} to {max(allowed)}"
    # An absent counter has lost every increment; a wrong value does not show which ones are missing.
    missing = tuple(sorted(acknowledged, key=lambda each: each.completed or 0)) if value is None else ()
    return Finding(collection, key, Anomaly.MISCOUNTED, f"{_shown(value)}, acknowledged {bounds}", missing)


def _shown(value: int | None) -> str:
    return "absent" if value is None else str(value)
