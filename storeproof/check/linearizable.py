"""Checks linearizability: whether the operations on one key look as if they had been executed one at a time.

Every operation must take effect at one point between its invocation and its completion, such that all answers are those of one
register, or one counter, accessed sequentially (Herlihy and Wing, "Linearizability", 1990). The compiled part searches for these
points, with the crate `todc-utils`: `native/src/linearizable.rs`.

    put a |--ok--|   get -> a |--|   get -> nothing |--|    no: the second read returns an older state than the first
    put a |------ok------|                                  yes: during the put a read may return either; but once one has
        get -> nothing |--|  get -> a |--|                  returned a, a later one must not return nothing
    put a |--???                                            an unknown write takes effect at any later time, or never
    increment 1 -> 5 |--|                                   no: two increments cannot return the same sum
    increment 1 -> 5 |--|

Keys are checked separately: a history is linearizable if and only if its part for each key is (locality).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from storeproof.check.reduction import unobserved
from storeproof.history import Operation
from storeproof.native_support import require

MOST_OPERATIONS = 1_000
MOST_CLIENTS = 8
"""Limits per key, within which a check takes seconds."""

_ABSENT = 0


def is_linearizable(operations: Sequence[Operation], seconds: float) -> bool | None:
    """Whether the history of one key, absent at first, is linearizable; None if that was not decided within `seconds`.

    Raises:
        NotAvailable: the compiled part is not installed.
        ValueError: more than `MOST_OPERATIONS` operations are left to check.
    """
    require("a check of linearizability")
    deadline = time.monotonic() + seconds
    from storeproof import native  # here, because the compiled part is optional

    numbers: dict[str, int] = {}

    def number(write_id: str) -> int:
        return numbers.setdefault(write_id, _ABSENT + 1 + len(numbers))

    def answered(operation: Operation) -> int | None:
        if not operation.answer_counts or operation.action == "put":
            return None
        found = operation.answer
        return number(found) if isinstance(found, str) else _ABSENT if found is None else int(found)

    # A refused operation did not happen, and a read without an answer constrains nothing.
    counted = [each for each in operations if each.outcome != "refused" and (each.action != "get" or each.answer_counts)]
    return native.linearizable(
        [
            (
                each.action,
                each.amount if each.action == "increment" else number(each.write_id) if each.write_id else _ABSENT,
                number(each.expected) if each.action == "compare_and_set" else _ABSENT,
                answered(each),
                each.invoked,
                each.completed,
            )
            for each in _without_unobserved(counted, deadline)
        ],
        max(0.0, deadline - time.monotonic()),
    )


def _without_unobserved(operations: list[Operation], deadline: float) -> list[Operation]:
    """Leave out unknown writes that no answer reveals, as there is time for it: they may not have happened, and each doubles the search
    space."""
    for each in [each for each in operations if each.outcome == "unknown" and each.action != "increment"]:
        if time.monotonic() < deadline and unobserved(each, operations):
            operations = [other for other in operations if other is not each]
    return operations
