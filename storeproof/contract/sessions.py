"""What a session may have beside its collections: transactions, maintenance, and what its client has seen elsewhere."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from storeproof.spec.interleaving import Isolation


@runtime_checkable
class Transactions(Protocol):
    """A session that can hold a transaction open. All operations of its collections then belong to it."""

    def begin(self, isolation: Isolation) -> None:
        """Start a transaction of at least this isolation level; `Unsupported` if the store has none so strong."""

    def commit(self) -> None:
        """Commit: all of it becomes durable and visible at once; `Refused` if the store rolled it back instead."""

    def rollback(self) -> None:
        """Roll back; allowed also after the store has rolled it back, or where none is open."""


@runtime_checkable
class Causal(Protocol):
    """A session of a client that uses several, with the same node or others, one after the other."""

    def position(self) -> Any:
        """What this session has written and read so far, in the store's own terms, for `follow` of another one; None before a request."""

    def follow(self, position: Any) -> None:
        """Show no less than that from now on: a read waits until its node has it, and is `Unknown` if that takes too long.

        `position`: of any session of this store; None tells nothing. What this session has seen itself counts too.
        """


@runtime_checkable
class Maintenance(Protocol):
    """A session that can make the store rewrite its files: compaction, checkpoint or snapshot."""

    def compact(self) -> str:
        """Run it, and return the command when it has finished, as an administrator would write it.

        `Unsupported` if the variant has none. Other sessions may write meanwhile, or wait.
        """
