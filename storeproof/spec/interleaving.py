"""What several sessions do in turn: how transactions meet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, Strict

from storeproof.spec.base import Frozen, Name
from storeproof.spec.operation import OperationName

Isolation = Literal["read_committed", "snapshot", "serializable"]
"""At least this: a store may give more than it is asked for. `snapshot` is what SQL's REPEATABLE READ promises."""


class Turn(Frozen):
    """One session's next request. A session that waits for another one is left waiting, and the next turn is taken.

    A session that was refused has lost its transaction: its further turns are left out.
    """

    session: Name
    do: OperationName | Literal["begin", "commit", "rollback"]
    args: Annotated[tuple[Any, ...], Strict(False)] = ()
    """Of `begin`: an `Isolation`."""
    expect: Any = None
    alternatives: dict[str, Any] | None = None


class Interleaving(Frozen):
    """Turns, and how many of the transactions may have been committed."""

    turns: Annotated[tuple[Turn, ...], Strict(False), Field(min_length=2)]
    committed: Annotated[tuple[NonNegativeInt, ...], Strict(False)] = ()
    """The numbers of commits that are right; none given: any."""
    recorded: Annotated[dict[NonNegativeInt, str], Strict(False)] = Field(default_factory=dict)
    """Where stores differ: what a number of commits is called in the result."""
