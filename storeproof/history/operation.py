"""One operation of one client: the request, its times, how it ended, and its answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Action = Literal["get", "put", "compare_and_set", "put_if_absent", "delete", "increment"]

RequestOutcome = Literal["ok", "refused", "unknown"]
"""`ok`: acknowledged. `refused`: certainly did not happen. `unknown`: may have happened, or may still happen."""

Answer = str | int | bool | None
"""`get`: the write id or sum that was read, None if the key was absent. `increment`: the new sum. `put`: None. Other actions: whether they
took effect."""

Place = tuple[str, str | int]
"""Collection and key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation on one key. Times are in nanoseconds, on one monotonic clock for all clients."""

    client: int
    action: Action
    collection: str
    key: str | int
    invoked: int
    completed: int | None
    """Time of the reply; None if `unknown`, because an operation without a reply may take effect at any later time, or never."""
    outcome: RequestOutcome
    write_id: str = ""
    """Identifies the stored record: unique to this write, or shared by the puts of one batch or transaction."""
    expected: str = ""
    """The write id that a `compare_and_set` expects to replace. Of a `put` in a transaction: that of a write of another client, which the
    transaction had read; its own are there only if that is."""
    amount: int = 0
    """What an `increment` adds; may be negative."""
    answer: Answer = None
    """Also None if it was not recorded: checks of durability use that of deletes alone, checks of linearizability every one."""
    answer_ignored: bool = False
    """Set when a history is reduced: the answer no longer counts."""

    def __post_init__(self) -> None:
        if (self.completed is None) != (self.outcome == "unknown"):
            raise ValueError(f"only an unknown operation has no time of completion; found {self.outcome} completed at {self.completed}")

    @property
    def place(self) -> Place:
        return self.collection, self.key

    @property
    def answer_counts(self) -> bool:
        """Whether the operation was acknowledged and its answer is to be explained."""
        return self.outcome == "ok" and not self.answer_ignored

    def without_reply(self) -> Operation:
        """The same, as if its reply had been lost."""
        return replace(self, completed=None, outcome="unknown", answer=None)

    def follows(self, other: Operation) -> bool:
        """Whether this was invoked after the other completed. Otherwise the two are concurrent, or in the opposite order."""
        return other.completed is not None and self.invoked > other.completed

    def with_answer(self) -> str:
        """The operation and its answer, without collection and key: `compare_and_set 1:1 by 2:4 -> yes`."""
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
    """The answer as shown in messages and plots."""
    if answer is None:
        return "nothing"
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def by_place(operations: Iterable[Operation]) -> dict[Place, list[Operation]]:
    """The operations of each key, in the given order."""
    found: defaultdict[Place, list[Operation]] = defaultdict(list)
    for operation in operations:
        found[operation.collection, operation.key].append(operation)  # calling `place` here takes twice as long
    return found


def as_of(operations: Iterable[Operation], moment: int) -> list[Operation]:
    """The history as it was known at a moment, in nanoseconds: without what was invoked later, and what was answered later is unknown."""
    known = (each for each in operations if each.invoked <= moment)
    return [each if each.completed is None or each.completed <= moment else each.without_reply() for each in known]
