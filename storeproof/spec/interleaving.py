"""Requests of several sessions in a fixed order, to test isolation of transactions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, Strict

from storeproof.spec.base import Frozen, Name
from storeproof.spec.operation import OperationName

Isolation = Literal["read_committed", "snapshot", "serializable"]
"""The weakest level a store may use; a stronger one is allowed. `snapshot` is SQL's REPEATABLE READ."""


class Turn(Frozen):
    """The next request of one session. A session that waits for a lock keeps waiting while the next turn is taken.

    A session whose transaction was refused skips its remaining turns.
    """

    session: Name
    do: OperationName | Literal["begin", "commit", "rollback"]
    args: Annotated[tuple[Any, ...], Strict(False)] = ()
    """Of `begin`: an `Isolation`."""
    expect: Any = None
    alternatives: dict[str, Any] | None = None


class Interleaving(Frozen):
    """Requests of several sessions in order, and how many transactions may commit."""

    turns: Annotated[tuple[Turn, ...], Strict(False), Field(min_length=2)]
    committed: Annotated[tuple[NonNegativeInt, ...], Strict(False)] = ()
    """Correct numbers of commits; without any, all are correct."""
    recorded: Annotated[dict[NonNegativeInt, str], Strict(False)] = Field(default_factory=dict)
    """Where stores differ: the name of each number of commits in the result."""
