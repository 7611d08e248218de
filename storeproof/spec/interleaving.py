"""Requests of several sessions in a fixed order, to test isolation of transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import Field, NonNegativeInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError
from storeproof.spec.operation import OperationName

Isolation = Literal["read_committed", "repeatable_read", "snapshot", "serializable"]
"""The weakest level a store may use; a stronger one is allowed.

`read_committed`: no read of what is not committed.
`repeatable_read`: as in the SQL standard, a record that was read is the same when it is read again, for writes with a condition too.
`snapshot`: all reads are of the moment at which the transaction began, and of two concurrent transactions that write the same record
one is refused (Berenson et al., section 4.2).
`serializable`: as if one transaction ran after the other.
"""

LEVELS: Final[tuple[Isolation, ...]] = get_args(Isolation)
"""From weakest to strongest."""


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

    @model_validator(mode="after")
    def _begins_at_a_level(self) -> Self:
        if self.do == "begin" and (len(self.args) != 1 or self.args[0] not in LEVELS):
            raise RuleError(f"found {list(self.args)}; allowed: one level: {', '.join(LEVELS)}", "args")
        return self

    def with_levels(self, names: Mapping[Isolation, Isolation]) -> Turn:
        """The turn with another isolation level, if it begins at one that is named."""
        level = names.get(self.args[0]) if self.do == "begin" else None
        return self if level is None else self.model_copy(update={"args": (level,)})


class Interleaving(Frozen):
    """Requests of several sessions in order, and how many transactions may commit."""

    turns: Annotated[tuple[Turn, ...], Strict(False), Field(min_length=2)]
    committed: Annotated[tuple[NonNegativeInt, ...], Strict(False)] = ()
    """Correct numbers of commits; without any, all are correct."""
    recorded: Annotated[dict[NonNegativeInt, str], Strict(False)] = Field(default_factory=dict)
    """Where stores differ: the name of each number of commits in the result."""

    def with_levels(self, names: Mapping[Isolation, Isolation]) -> Interleaving:
        """The same at other isolation levels, by those that it has."""
        return self.model_copy(update={"turns": tuple(turn.with_levels(names) for turn in self.turns)})
