"""Anomalies that analyses by Jepsen report, to hold results against.

They demand nothing of a store, so they are not part of the edition.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, Strict, StringConstraints, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder

JEPSEN = "https://jepsen.io/analyses/"
"""Where the analyses are, each under its own name."""


class _Reported(Frozen):
    nodes: Literal["one", "several"]
    """Of the store, that clients used."""
    faults: Annotated[tuple[str, ...], Strict(False)] = ()
    """Under which it was seen; none where the analysis's summary tells of none."""
    expected: str
    """What it should have been instead: what the maker promised, or what the name of the level says."""
    tried_on: Annotated[tuple[Annotated[str, StringConstraints(pattern="^[^:]+:[^:]+$")], ...], Strict(False)] = ()
    """`store:variant` on which cases here try the same, those of the analysis's own store first."""
    untried: str = ""
    """Why no case tries it on a store that has a file."""

    @model_validator(mode="after")
    def _is_tried_or_not(self) -> Self:
        if self.tried_on and self.untried:
            raise RuleError("allowed: `tried_on`, or `untried` with the reason, not both")
        return self


class ReportedIsolation(_Reported):
    """Anomalies among transactions at one isolation level."""

    kind: Literal["isolation"]
    level: Isolation
    """As it is asked for here."""
    seen: Annotated[tuple[AnomalyKind, ...], Strict(False), Field(min_length=1)]
    order: AnomalyOrder = "item"
    """By what they show: reads and writes alone, or also the order of a client or of time."""


class ReportedLoss(_Reported):
    """Acknowledged writes that were lost."""

    kind: Literal["durability"]
    after: Annotated[tuple[Literal[GuaranteeName, NodeGuaranteeName], ...], Strict(False)] = ()
    """The guarantees whose faults here are like those of the analysis; none where no fault is."""
    settings: str = ""
    """By which the analysis had the store acknowledge writes."""

    @model_validator(mode="after")
    def _names_faults(self) -> Self:
        if self.tried_on and not self.after:
            raise RuleError("is missing, and must be given where `tried_on` is", "after")
        return self


class ReportedOther(_Reported):
    """What is neither, and no case tries."""

    kind: Literal["other"]
    what: str

    @model_validator(mode="after")
    def _is_tried_by_no_case(self) -> Self:
        if self.tried_on:
            raise RuleError("allowed: none, since no case tries what is of kind `other`", "tried_on")
        return self


class Analysis(SpecFile):
    """One file of `spec/analyses/`: what one analysis reports."""

    analysis: Name
    """Its name in its address."""
    title: str
    """The product with its version."""
    source: str
    year: PositiveInt
    store: Name
    """Its file here, or the name that one would have."""
    versions: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
    """Those that were tested and show it."""
    note: str = ""
    """What it says besides, such as what was not found, or was mended."""
    reported: Annotated[
        tuple[Annotated[ReportedIsolation | ReportedLoss | ReportedOther, Field(discriminator="kind")], ...],
        Strict(False),
        Field(min_length=1),
    ]

    @model_validator(mode="after")
    def _is_at_its_address(self) -> Self:
        if self.source != JEPSEN + self.analysis:
            raise RuleError(f"found {self.source}; allowed: {JEPSEN}{self.analysis}, the address of the analysis", "source")
        return self
