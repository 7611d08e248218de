"""Transactions of stores in which each is one request, so that no session can hold one open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key, Record


@runtime_checkable
class WholeTransactions(Protocol):
    """A collection whose store runs a plan of reads and writes as one transaction."""

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        """Read these records, then put those, and answer what was read, in the order of the keys: None where there is no record.

        No other request is between two of them, and none sees only a part of what they write. `Refused`: nothing was written.
        """
