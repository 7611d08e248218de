"""What a store can do, as cases with immutable ids: steps on a fresh collection and the answers that are right."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import Field, PositiveInt, Strict, StringConstraints, model_validator

from storeproof.spec.base import NUMBER_PATTERN, Frozen, Name, RuleError, SpecFile
from storeproof.spec.interleaving import Interleaving
from storeproof.spec.operation import OperationName
from storeproof.spec.query import READING, check_request

_TIMED = frozenset({"put_expiring", "expire", "expires_in", "persist"})
CaseNumber = Annotated[str, StringConstraints(pattern=NUMBER_PATTERN)]


class Step(Frozen):
    """One operation and its right answer.

    Exactly one of `expect`, `missing`, `between`, `alternatives` and `refused` is given, or none where the operation answers
    nothing. `alternatives` may have `refused` beside them: then a refusal is one alternative more.
    """

    do: OperationName
    args: Annotated[tuple[Any, ...], Strict(False)] = ()
    expect: Any = None
    missing: bool = False
    """Expects the answer "there is no such field", which is not null."""
    between: Annotated[tuple[Annotated[float, Strict(False)], Annotated[float, Strict(False)]], Strict(False)] | None = None
    """Expects a number in these bounds, both included: what the clock decides is not known exactly."""
    refused: bool = False
    """Expects that the store refuses clearly, and changes nothing."""
    alternatives: dict[str, Any] | None = None
    """Answers on which good stores differ, by name: recorded per store, not failed."""
    wait: Annotated[float, Field(ge=0, le=10, strict=False)] = 0.0
    """Seconds to wait before the operation, for expiry."""

    @model_validator(mode="after")
    def _requests_can_be_read(self) -> Self:
        check_request(self.do, self.args)
        return self


class Case(Frozen):
    """A case. Its id is never reused; a change of meaning raises the revision."""

    id: CaseNumber
    revision: PositiveInt = 1
    title: str
    indexes: Annotated[int, Field(ge=0)] = 0
    """Secondary indexes that the collection is made with; the live store must then report as many."""
    steps: Annotated[tuple[Step, ...], Strict(False), Field(min_length=1)]
    interleaved: Interleaving | None = None
    """What several sessions then do in turn."""
    after: Annotated[tuple[Step, ...], Strict(False)] = ()
    """What is right when they have ended."""


class Capability(Frozen):
    """Something that a store can do or not, in the store, on the records of one model."""

    capability: Name
    title: str
    model: Name
    dataset: Name | None = None
    """The data set that its cases find in place; without one they start on an empty collection."""
    operations: Annotated[tuple[OperationName, ...], Strict(False), Field(min_length=1)]
    """The operations of the contract that the capability is about; all of them must be there."""
    cases: Annotated[tuple[Case, ...], Strict(False), Field(min_length=1)]

    @property
    def questions(self) -> tuple[Step, ...]:
        """The requests of cases that only read: their answers depend on the given records alone."""
        return tuple(step for case in self.cases if all(step.do in READING for step in case.steps) for step in case.steps)

    @property
    def timed(self) -> bool:
        """Whether its answers depend on the time that passes between the steps."""
        return not _TIMED.isdisjoint(self.operations) or any(step.wait for case in self.cases for step in (*case.steps, *case.after))

    @model_validator(mode="after")
    def _case_ids_are_unique(self) -> Self:
        ids = [case.id for case in self.cases]
        for position, number in enumerate(ids):
            if number in ids[:position]:
                raise RuleError(
                    f"case id {number} is given twice in {self.capability}; ids are never reused, take the next free one",
                    "cases",
                    position,
                    "id",
                )
        return self


class CapabilityGroup(SpecFile):
    """One file of `spec/capabilities/`."""

    FORMAT = (2, 0)
    RENAMED = MappingProxyType({"given": "dataset", "nothing": "nulls"})

    group: Name
    title: str
    capabilities: Annotated[tuple[Capability, ...], Strict(False), Field(min_length=1)]
