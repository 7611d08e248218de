"""Interactive transactions: the client sends one request after the other."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

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
