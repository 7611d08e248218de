"""Changes to a collection in use: indexes, validation rules, and stored procedures."""

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
