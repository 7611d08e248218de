"""What the collections of a composite store have beyond the contract: measurements ask them where reads were answered."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key


@runtime_checkable
class Cached(Protocol):
    """A collection whose records may have copies in a front."""

    home_reads: int
    """How many reads of whole records this collection has sent to the home, since the front had no copy that counts."""

    @property
    def waiting(self) -> int:
        """How many writes of the collection wait for the home, which were acknowledged all the same; 0 where none does."""

    def carry_out(self) -> None:
        """Give the home all writes that wait for it. Raises `Unknown` if a server does not answer."""

    def drop_copy(self, key: Key) -> None:
        """Remove the copy of a record, as if it had expired; it need not exist. Raises `Unknown` if the front does not answer."""
