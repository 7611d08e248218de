"""What a store pushes to its clients: change feeds, and stored searches that match new documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from storeproof.contract.values import Key, Record
from storeproof.spec.query import Where


class Change(NamedTuple):
    """One committed change of one record."""

    kind: Literal["put", "delete"]
    """The record was written, whether it is new or not; or removed."""
    key: Key
    record: Record | None = None
    """The record after this change, where records were asked for; None if it was removed."""


@runtime_checkable
class Feed(Protocol):
    """The changes of one collection by any client. One feed at a time, which belongs to the collection's handle; `clear` ends it."""

    def follow(self, records: bool) -> None:
        """Subscribe: every change committed after the answer is delivered. `records`: with the record after the change.

        `Unsupported` where the server is not configured for it; its configuration is not changed.
        """

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        """The next changes in commit order, each once: waits until there are `count`, at most `seconds`.

        Changes of a transaction are delivered when it commits, never if it is rolled back.
        """


@runtime_checkable
class ResumableFeed(Protocol):
    """A feed that outlives its connection: the store keeps the changes of the meantime."""

    def leave_feed(self) -> None:
        """Close the feed's connection. The client keeps only the store's token of the last change that `changes` returned."""

    def resume_feed(self) -> None:
        """Open another connection and resume by the token, after that change: no change is lost or repeated."""


@runtime_checkable
class StoredSearches(Protocol):
    """Searches stored with a collection, and matched against new documents (percolation)."""

    def save_search(self, name: str, where: Where) -> None:
        """Store a search under a name, in place of any existing one."""

    def searches_for(self, record: Record) -> Sequence[str]:
        """The names of the searches that match this document, sorted. The document is not stored."""
