"""Checks linearizability: whether the operations on one key look as if they had been executed one at a time.

Every operation must have taken effect at one moment between its request and its reply, so that the answers are those of a single
register, or a single counter, to which nothing happens at the same time (Herlihy and Wing, 1990). Searching for those moments is the
work of a library, compiled: the crate `todc-utils`, in `native/src/linearizable.rs`.

    put a |--ok--|   get -> a |--|   get -> nothing |--|    no: the second read is older than the first
    put a |------ok------|                                  either may be answered during the put, but a after nothing:
        get -> nothing |--|  get -> a |--|                  this is right, and the other way round it is not
    put a |--???                                            an unknown write may take effect at any time from then on, or never
    increment 1 -> 5 |--|                                   no: no two sums are the same
    increment 1 -> 5 |--|

The histories of different keys are checked separately: they are linearizable together if each of them is.
"""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.check.reduction import unobserved
from storeproof.history import Operation
from storeproof.native_support import require

MOST_OPERATIONS = 1_000
MOST_CLIENTS = 8
"""What the checker can handle in seconds, for one key."""

_ABSENT = 0


def is_linearizable(operations: Sequence[Operation], seconds: float) -> bool | None:
    """Whether the history of one key, which was absent before, is linearizable; None if `seconds` were not enough to decide.

    Raises:
        NotAvailable: the compiled part is not installed.
        ValueError: more than `MOST_OPERATIONS` that count.
    """
    require("a check of linearizability")
    from storeproof import native  # only here: it is optional

    numbers: dict[str, int] = {}

    def number(write_id: str) -> int:
        return numbers.setdefault(write_id, _ABSENT + 1 + len(numbers))

    def answered(operation: Operation) -> int | None:
        if not operation.answer_counts or operation.action == "put":
            return None
        found = operation.answer
        return number(found) if isinstance(found, str) else _ABSENT if found is None else int(found)

    # A refused operation did not happen, and a read without an answer says nothing.
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
            for each in _without_unobserved(counted)
        ],
        seconds,
    )


def _without_unobserved(operations: list[Operation]) -> list[Operation]:
    """Without unknown writes that no answer shows: they may never have happened, and each would double the search space."""
    for each in [each for each in operations if each.outcome == "unknown" and each.action != "increment"]:
        if unobserved(each, operations):
            operations = [other for other in operations if other is not each]
    return operations
