"""Checks the value of a counter after a fault against the increments that were acknowledged before it.

The value must be the sum of the acknowledged increments plus the sum of any subset of the unknown ones; refused ones do not count:

    +1 ok, +1 ok, +1 unknown      2 and 3 are right; 1 lost an increment, 4 counted one twice.
    +5 ok, -2 unknown, +3 unknown 3, 5, 6 and 8 are right; 4 is between them, but no subset adds up to it.
    +1 ok, -1 ok                  0 is right, and so is absence: a counter starts from zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from storeproof.check.durability import Anomaly, Finding
from storeproof.history import Operation


def judge_counter(operations: Sequence[Operation], value: int | None) -> Finding:
    """The finding for a counter: `ok` or `miscounted`.

    `operations`: every increment of one counter, at least one; it was absent before the first. `value`: the value read, None if absent.
    Memory grows with the sum of the unknown increments, one bit for each possible value.

    Raises:
        ValueError: no operation, operations of several counters, or an operation that is not an increment.
    """
    counters = {each.place for each in operations}
    if len(counters) != 1 or any(each.action != "increment" for each in operations):
        raise ValueError(f"a counter is judged by its increments, at least one and nothing else; found {len(counters)} counters")
    collection, key = next(iter(counters))
    acknowledged = [each for each in operations if each.outcome == "ok"]
    base = sum(each.amount for each in acknowledged)
    unknown = Counter(each.amount for each in operations if each.outcome == "unknown" and each.amount)
    if _is_sum(unknown, (value or 0) - base):
        return Finding(collection, key, Anomaly.OK, _shown(value))
    lowest, highest = _bounds(unknown)
    bounds = f"{base} plus unknown ones, {base + lowest} to {base + highest}" if unknown else f"{base}"
    # An absent counter has lost every increment; a wrong value does not show which ones are missing.
    missing = tuple(sorted(acknowledged, key=lambda each: each.completed or 0)) if value is None else ()
    return Finding(collection, key, Anomaly.MISCOUNTED, f"{_shown(value)}, acknowledged {bounds}", missing)


def _bounds(amounts: Mapping[int, int]) -> tuple[int, int]:
    """The lowest and the highest sum of some of the amounts, of which each is there so often."""
    return (
        sum(amount * number for amount, number in amounts.items() if amount < 0),
        sum(amount * number for amount, number in amounts.items() if amount > 0),
    )


def _is_sum(amounts: Mapping[int, int], wanted: int) -> bool:
    """Whether some of the amounts add up to `wanted`.

    The sums are bits of one number, so that an amount is added to all of them by a shift. Of an amount that is there n times, 1, 2, 4, ...
    and the rest are taken at once: some of these add up to every number of times from 0 to n.
    """
    lowest, highest = _bounds(amounts)
    if not lowest <= wanted <= highest:
        return False
    sums = 1 << -lowest  # nothing taken: the sum is 0
    for amount, number in amounts.items():
        left, step = number, 1
        while left:
            taken = min(step, left) * amount
            sums |= sums << taken if taken > 0 else sums >> -taken
            left, step = left - min(step, left), step * 2
    return bool(sums >> (wanted - lowest) & 1)


def _shown(value: int | None) -> str:
    return "absent" if value is None else str(value)
