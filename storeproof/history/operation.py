"""One operation of one client: what was asked, when, how it ended, and what was answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Action = Literal["get", "put", "compare_and_set", "put_if_absent", "delete", "increment"]

Ending = Literal["ok", "refused", "unknown"]
"""`ok`: acknowledged. `refused`: definitely did not happen. `unknown`: may have happened, or may yet happen."""

Answer = str | int | bool | None
"""Of a `get` the write id or the sum that was read, None if the key was absent; of an `increment` the sum; None of a `put`; of the other
actions whether they took effect."""

Place = tuple[str, str | int]
"""A collection and a key in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Times are nanoseconds of one monotonic clock, so that they can be compared between clients."""

    client: int
    action: Action
    collection: str
    key: str | int
    invoked: int
    completed: int | None
    """When the reply arrived; None for `unknown`: an operation without a reply may take effect at any later time, or never."""
    outcome: Ending
    write_id: str = ""
    """Names the write that an action stores: unique to it, or to the puts that were written together with it."""
    expected: str = ""
    """The write id that a `compare_and_set` was to replace."""
    amount: int = 0
    """What an `increment` adds, also negative."""
    answer: Answer = None
    """None also where it was not recorded: durability is judged by what was acknowledged, linearizability by the answers too."""
    answer_ignored: bool = False
    """The answer does not count: a history is reduced that way."""

    def __post_init__(self) -> None:
        if (self.completed is None) != (self.outcome == "unknown"):
            raise ValueError(f"an operation has an end exactly if its outcome is known; found {self.outcome} completed at {self.completed}")

    @property
    def place(self) -> Place:
        """The collection and the key."""
        return self.collection, self.key

    @property
    def answer_counts(self) -> bool:
        """Whether there is an answer that others must agree with."""
        return self.outcome == "ok" and not self.answer_ignored

    def follows(self, other: Operation) -> bool:
        """Whether this began after the other had ended: only then does real time order the two."""
        return other.completed is not None and self.invoked > other.completed

    def with_answer(self) -> str:
        """In words, without the place: `compare_and_set 1:1 by 2:4 -> yes`."""
        what = {
            "put": self.write_id,
            "compare_and_set": f"{self.expected} by {self.write_id}",
            "put_if_absent": self.write_id,
            "increment": f"{self.amount:+d}",
        }.get(self.action, "")
        if self.outcome != "ok":
            answered: str = self.outcome
        else:
            answered = "" if self.action == "put" or self.answer_ignored else answer_in_words(self.answer)
        return f"{self.action} {what}".rstrip() + (f" -> {answered}" if answered else "")

    def __str__(self) -> str:
        what = self.write_id if self.action == "put" else f"{self.amount:+d}" if self.action == "increment" else ""
        return f"{self.action} {self.collection}[{self.key!r}] {what}".rstrip() + f" by client {self.client}: {self.outcome}"


def answer_in_words(answer: Answer) -> str:
    """As messages and plots show it."""
    if answer is None:
        return "nothing"
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def by_place(operations: Iterable[Operation]) -> dict[Place, list[Operation]]:
    """The history of each key, in the order of `operations`."""
    found: defaultdict[Place, list[Operation]] = defaultdict(list)
    for operation in operations:
        found[operation.collection, operation.key].append(operation)  # the property would double the time, and histories are long
    return found
