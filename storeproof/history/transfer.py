"""Transfers between accounts: one transaction each, and snapshots of all accounts that were read in between.

A transfer takes an amount from one counter, adds it to another, and puts an entry: a record under a key of its own, which no other write
has. So the entries that are there in the end say which transfers happened, and what each account must then show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from storeproof.history.operation import RequestOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One transaction. Times are in nanoseconds, on one monotonic clock for all clients."""

    client: int
    entry: str
    """The key of its entry."""
    write_id: str
    """In the entry's record; no other write has it."""
    source: str
    target: str
    amount: int
    invoked: int
    completed: int | None = None
    """Time of the reply to the commit, or of the refusal; None if `unknown`."""
    outcome: RequestOutcome = "unknown"

    def without_reply(self) -> Transfer:
        """The same, as if its reply had been lost."""
        return replace(self, completed=None, outcome="unknown")

    def __str__(self) -> str:
        return f"{self.entry}: {self.amount} from {self.source} to {self.target} by client {self.client}: {self.outcome}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balances:
    """What one snapshot of all accounts showed; the transaction that read it was committed."""

    client: int
    invoked: int
    shown: Mapping[str, int]

    @property
    def total(self) -> int:
        """0 if it showed no half of a transfer."""
        return sum(self.shown.values())
