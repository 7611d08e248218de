"""One operation of one client: what it was to do, when it was invoked, when it ended, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["put", "delete", "increment"]

Ending = Literal["ok", "refused", "unknown"]
"""`ok`: acknowledged. `refused`: definitely did not happen. `unknown`: may have happened, or may yet happen."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A write. Times are nanoseconds of one monotonic clock, so that they can be compared between clients."""

    client: int
    action: Action
    collection: str
    key: str | int
    version: str
    """The write id that a `put` wrote, unique to it and to those that went together with it; empty for other actions."""
    amount: int
    """What an `increment` added, also negative; 0 for other actions."""
    invoked: int
    completed: int | None
    """When the reply was there; None for `unknown`: a write whose reply never came has no latest moment."""
    outcome: Ending

    def __post_init__(self) -> None:
        if (self.completed is None) != (self.outcome == "unknown"):
            raise ValueError(f"an operation has an end exactly if its outcome is known; found {self.outcome} completed at {self.completed}")

    def follows(self, other: Operation) -> bool:
        """Whether this began after the other had ended: only then does real time order the two."""
        return other.completed is not None and self.invoked > other.completed

    def __str__(self) -> str:
        what = self.version if self.action == "put" else f"{self.amount:+d}" if self.action == "increment" else ""
        return f"{self.action} {self.collection}[{self.key!r}] {what}".rstrip() + f" by client {self.client}: {self.outcome}"
