"""What a store tells without being asked each time: changes as they are committed, and searches that wait for documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from storeproof.contract.values import Key, Record
from storeproof.spec.query import Where


class Change(NamedTuple):
    """One committed change of one record."""

    kind: Literal["put", "delete"]
    """What became of the record: it was written, whether there was one before or not; or removed."""
    key: Key
    record: Record | None = None
    """As this change left it, where records were asked for; None for one that was removed."""


@runtime_checkable
class Feed(Protocol):
    """The changes of one collection, whoever makes them. One feed at a time, which belongs to the collection's handle; `clear` ends it."""

    def follow(self, records: bool) -> None:
        """Begin: every change that is committed after the answer is told. `records`: with the record as it became.

        `Unsupported` where the server is not set up for it; its setup is not changed for us.
        """

    def changes(self, count: int, seconds: float) -> Sequence[Change]:
        """The next changes, in the order in which they were committed, each once: waits until there are `count`, at most `seconds`.

        Changes of a transaction are told when it is committed, those that were undone never.
        """


@runtime_checkable
class ResumableFeed(Protocol):
    """A feed that outlives its connection: the store keeps what happened meanwhile."""

    def leave_feed(self) -> None:
        """Close the feed's connection. All that is kept on our side is the store's token of the last change that `changes` answered."""

    def resume_feed(self) -> None:
        """Open another connection, and go on by the token: behind that change, with nothing lost and nothing told again."""


@runtime_checkable
class StoredSearches(Protocol):
    """Searches that are kept beside a collection, and asked for documents that come."""

    def save_search(self, name: str, where: Where) -> None:
        """Keep a search under a name, in place of any that was there."""

    def searches_for(self, record: Record) -> Sequence[str]:
        """The names of the searches that this document would be found by, sorted. The document is not stored."""
