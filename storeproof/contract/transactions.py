"""Transactions that a client leads, request by request."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from storeproof.spec.interleaving import Isolation


@runtime_checkable
class Transactions(Protocol):
    """A session that can hold a transaction open. All operations of its collections then belong to it."""

    def begin(self, isolation: Isolation) -> None:
        """Start a transaction that is isolated at least as well; `Unsupported` if the store has none so strong."""

    def commit(self) -> None:
        """Make all of it last and visible at once; `Refused` if the store undid it instead."""

    def rollback(self) -> None:
        """Undo all of it; fine also after the store has undone it, or where none is open."""
