"""One operation on one hot key, with what it was answered: what linearizability is judged by.

Beside the writes of `Operation`, whose answers say nothing, these are reads, comparisons and sums, and whether they agree is the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from storeproof.history.operation import Ending

AccessAction = Literal["get", "put", "compare_and_set", "put_if_absent", "delete", "increment"]

Answer = str | int | bool | None
"""A `get`: the write id or the sum that was read, None where there was nothing. An `increment`: the sum. A `put`: None. Others: whether."""


@dataclass(frozen=True, slots=True)
class Access:
    """An operation of a client. Times are nanoseconds of one monotonic clock."""

    client: int
    action: AccessAction
    invoked: int
    completed: int | None
    """None for `unknown`: it may have happened at any time since, or not at all."""
    outcome: Ending
    value: str = ""
    """The write id that was written."""
    expected: str = ""
    """The write id that a `compare_and_set` was to replace."""
    amount: int = 0
    answer: Answer = None
    forgotten: bool = False
    """The answer is left out of account: so a history is made smaller."""

    @property
    def heard(self) -> bool:
        """Whether the answer counts."""
        return self.outcome == "ok" and not self.forgotten

    def __str__(self) -> str:
        what = {
            "put": self.value,
            "compare_and_set": f"{self.expected} by {self.value}",
            "put_if_absent": self.value,
            "increment": f"{self.amount:+d}",
        }.get(self.action, "")
        answered = self.outcome if self.outcome != "ok" else "" if self.action == "put" or self.forgotten else answer_in_words(self.answer)
        return f"{self.action} {what}".rstrip() + (f" -> {answered}" if answered else "")


def answer_in_words(answer: Answer) -> str:
    """As a message and a picture have it."""
    if answer is None:
        return "nothing"
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)
