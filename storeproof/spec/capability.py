"""Capabilities, as cases with immutable ids: steps on a fresh collection and their correct answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

from pydantic import Field, PositiveInt, Strict, StringConstraints, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import NUMBER_PATTERN, Frozen, Name, RuleError, SpecFile
from storeproof.spec.interleaving import Interleaving, Isolation
from storeproof.spec.operation import OperationName
from storeproof.spec.query import READING, Operator, check_request


class Dataset(SpecFile):
    """One file of `spec/datasets/`."""

    dataset: Name
    title: str
    model: Name
    records: Annotated[dict[str | int, Any], Field(min_length=1)]
    """By key; each record is written like an argument of `put`."""


_TIMED = frozenset({"put_expiring", "put_swept", "expire", "expires_in", "persist"})
MOST_BESIDE: Final = 100_000
CaseNumber = Annotated[str, StringConstraints(pattern=NUMBER_PATTERN)]


class Step(Frozen):
    """One operation and its correct answer.

    At most one of `expect`, `missing`, `between`, `alternatives` and `refused` is given; none where the operation returns nothing.
    `refused` may stand beside `alternatives` or `missing`: a refusal is then another alternative.
    """

    do: OperationName
    args: Annotated[tuple[Any, ...], Strict(False)] = ()
    expect: Any = None
    missing: bool = False
    """Expects that the field does not exist, which is not null."""
    between: Annotated[tuple[Annotated[float, Strict(False)], Annotated[float, Strict(False)]], Strict(False)] | None = None
    """Expects a number within these bounds, inclusive, where the answer depends on time."""
    refused: bool = False
    """Expects a clear refusal that changes nothing."""
    alternatives: dict[str, Any] | None = None
    """Named answers on which good stores differ: the result records which one was given."""
    wait: Annotated[float, Field(ge=0, le=10, strict=False)] = 0.0
    """Seconds to wait before the operation, for tests of expiry."""
    within: Annotated[float, Field(ge=0, le=180, strict=False)] = 0.0
    """Seconds within which the answer becomes the expected one: it is asked for again until then. Only of an operation that reads."""

    @model_validator(mode="after")
    def _only_an_answer_can_come_within_a_time(self) -> Self:
        if self.within and "expect" not in self.model_fields_set:
            raise RuleError(f"within: {self.within:g} needs an expected answer; give expect, or use wait", "within")
        return self

    @model_validator(mode="after")
    def _requests_can_be_read(self) -> Self:
        check_request(self.do, self.args)
        return self


class CapabilityCase(Frozen):
    """A case. Its id is never reused; a change of its meaning raises the revision."""

    id: CaseNumber
    revision: PositiveInt = 1
    title: str
    provisional: bool = False
    """New in this edition: it is tried and shown, and decides neither a profile nor a claim."""
    indexes: Annotated[int, Field(ge=0)] = 0
    """Number of secondary indexes the collection is created with; the store must report as many."""
    beside: Annotated[int, Field(ge=0, le=MOST_BESIDE)] = 0
    """Number of other records that the collection has before the steps, under keys such as `m-000012`: of all letters, so that those of the
    steps are on different pages. Only of values under text keys."""
    steps: Annotated[tuple[Step, ...], Strict(False), Field(min_length=1)]
    interleaved: Interleaving | None = None
    """Requests of several concurrent sessions, after the steps."""
    after: Annotated[tuple[Step, ...], Strict(False)] = ()
    """Steps after those sessions ended."""

    def with_levels(self, names: Mapping[Isolation, Isolation]) -> CapabilityCase:
        """The case with other isolation levels, by those that it has."""
        return self if self.interleaved is None else self.model_copy(update={"interleaved": self.interleaved.with_levels(names)})


class Capability(Frozen):
    """Something a store can do by itself on records of one model."""

    capability: Name
    title: str
    model: Name
    dataset: Name | None = None
    """The dataset that each case finds in the collection; without one the collection is empty."""
    operations: Annotated[tuple[OperationName, ...], Strict(False), Field(min_length=1)]
    """The operations that its cases show; the adapter must have all of them."""
    uses: Annotated[tuple[OperationName | Operator, ...], Strict(False)] = ()
    """What its cases need besides: further operations, of which they show nothing, and operators of filters other than comparisons."""
    cases: Annotated[tuple[CapabilityCase, ...], Strict(False), Field(min_length=1)]

    @property
    def provisional(self) -> bool:
        return all(case.provisional for case in self.cases)

    @property
    def questions(self) -> tuple[Step, ...]:
        """The requests of read-only cases, whose answers depend only on the dataset; of provisional cases only where all cases are."""
        asked = [case.steps for case in self.cases if case.provisional == self.provisional]
        return tuple(step for steps in asked if all(each.do in READING for each in steps) for step in steps)

    @property
    def timed(self) -> bool:
        """Whether its answers depend on the time between steps."""
        return not _TIMED.isdisjoint(self.operations) or any(step.wait for case in self.cases for step in (*case.steps, *case.after))

    @model_validator(mode="after")
    def _case_ids_are_unique(self) -> Self:
        ids = [case.id for case in self.cases]
        for position, number in enumerate(ids):
            if number in ids[:position]:
                raise RuleError(
                    f"case id {number} is given twice in {self.capability}; ids are never reused: take the next free one",
                    "cases",
                    position,
                    "id",
                )
        return self


class CapabilityGroup(SpecFile):
    """One file of `spec/capabilities/`."""

    FORMAT = (2, 2)
    RENAMED = older_formats.CAPABILITIES

    group: Name
    title: str
    capabilities: Annotated[tuple[Capability, ...], Strict(False), Field(min_length=1)]

    @model_validator(mode="after")
    def _means_what_it_meant(self) -> Self:
        if tuple(map(int, self.format.split("."))) >= (2, 2):
            return self
        capabilities = (
            each.model_copy(update={"cases": tuple(case.with_levels(older_formats.LEVELS) for case in each.cases)})
            for each in self.capabilities
        )
        return self.model_copy(update={"capabilities": tuple(capabilities)})
