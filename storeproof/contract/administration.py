"""Changes to a collection in use: indexes, rules, stored procedures; and what the collections of a composite store have beyond that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key, Path
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName


@runtime_checkable
class Indexing(Protocol):
    """Indexes of documents, created and dropped while the collection has records."""

    def create_index(self, index: Index) -> None:
        """Create an index and return when it is in use; `Refused`, leaving no index, if existing records violate it."""

    def drop_index(self, name: str) -> bool:
        """Drop an index; returns whether it existed."""

    def index_names(self) -> Sequence[str]:
        """The names of the indexes from `create_index` that the live store has, sorted."""


@runtime_checkable
class Validation(Protocol):
    """Validation rules for documents."""

    def require(self, path: Path, kind: TypeName) -> None:
        """From now on a write is `Refused` if the record would have no value of this type at the path."""


@runtime_checkable
class Procedures(Protocol):
    """Stored procedures or scripts of the user, which the store runs as one atomic step (`counter`)."""

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        """Move `amount` from one counter to the other, if the first has at least that much; returns whether it had.

        An absent counter is zero. Atomic with respect to other clients, and in one request.
        """


@runtime_checkable
class Cached(Protocol):
    """A collection whose records may have copies in a front: measurements ask it where reads were answered."""

    home_reads: int
    """How many reads of whole records this collection has sent to the home, since the front had no copy that counts."""

    @property
    def waiting(self) -> int:
        """How many writes of the collection wait for the home, which were acknowledged all the same; 0 where none does."""

    def carry_out(self) -> None:
        """Give the home all writes that wait for it. Raises `Unknown` if a server does not answer."""

    def drop_copy(self, key: Key) -> None:
        """Remove the copy of a record, as if it had expired; it need not exist. Raises `Unknown` if the front does not answer."""
