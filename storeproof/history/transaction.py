"""One transaction of one client: what it read and wrote, its times, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from storeproof.history.operation import RequestOutcome


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of one record within a transaction."""

    action: Literal["read", "write"]
    key: str
    version: str | None
    """The write id that was read or written; None if a read found no record. Each version of a key is written once, and records are never
    deleted: None is the state before the first write."""
    predicate: bool = False
    """A read by a condition, given as one read of each record that it could have found."""
    after: str | None = None
    """Of a write: the version that it replaced, if that is known by other means than a read of this transaction: by the order of a list to
    which the store appended. None: not known so, or no record."""

    def __post_init__(self) -> None:
        if self.action == "write" and (self.version is None or self.predicate):
            raise ValueError(f"a write has a version, and is of one record; found {self}")
        if self.action == "read" and self.after is not None:
            raise ValueError(f"only a write comes after a version; found {self}")


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction. Times are in nanoseconds, on one monotonic clock for all clients."""

    client: int
    """Has one transaction at a time."""
    invoked: int
    completed: int | None
    """Time of the reply to the commit, or of the refusal; None if `unknown`: the commit may take effect at any later time, or never."""
    outcome: RequestOutcome
    """`ok`: committed. `refused`: rolled back, by the store or on purpose. `unknown`: the reply to the commit was lost."""
    accesses: tuple[Access, ...]
    """In the order of the client; reads that were answered, and writes that were sent."""

    def __post_init__(self) -> None:
        if (self.completed is None) != (self.outcome == "unknown"):
            raise ValueError(f"only an unknown transaction has no time of completion; found {self.outcome} completed at {self.completed}")
        if self.completed is not None and self.completed < self.invoked:
            raise ValueError(f"it was invoked at {self.invoked}, and completed before that, at {self.completed}")

    def without_reply(self) -> Transaction:
        """The same, as if the reply to its commit had been lost; that of one that was rolled back says what its client knew before."""
        return self if self.outcome == "refused" else replace(self, completed=None, outcome="unknown")
