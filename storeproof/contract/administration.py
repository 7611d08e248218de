"""What a store is told about a collection while it is in use: indexes, rules, and logic of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key, Path
from storeproof.spec.index import Index
from storeproof.spec.query import TypeName


@runtime_checkable
class Indexing(Protocol):
    """Indexes of documents, made and dropped beside the records that are there."""

    def create_index(self, index: Index) -> None:
        """Make it, and come back when it is in use; `Refused` if the records there are break it, and nothing is left of it."""

    def drop_index(self, name: str) -> bool:
        """Take it away; whether it was there."""

    def index_names(self) -> Sequence[str]:
        """The indexes that the live store has of those made by `create_index`, sorted."""


@runtime_checkable
class Validation(Protocol):
    """Rules that documents must keep."""

    def require(self, path: Path, kind: TypeName) -> None:
        """From now on a write is `Refused` after which there would be no value of this type at the path."""


@runtime_checkable
class Procedures(Protocol):
    """Logic of the user's own, kept by the store or sent along, and run there as one step (`counter`)."""

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        """Take `amount` from one counter and add it to the other, if the first has as much; whether it had.

        An absent counter is zero. Atomic, also among other clients, and in one request.
        """
