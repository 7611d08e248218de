"""Known failures: reported with their reason, and not counted as failures of the run until they expire."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError

HarmKind = Literal["lost", "resurrected", "reverted", "torn", "invented", "miscounted", "split", "unstartable", "unusable"]
"""What is found of records, or of the store: that it ended or does not start, or that it starts and then answers with errors."""
BROKEN: Final = ("unstartable", "unusable")

_EXAMPLE = "'fault 1, .*, burst: .* suffix'"
_WHATEVER = ("", "any other finding, of 1 or 1000 records")


def _compiles(expression: str) -> str:
    try:
        re.compile(expression, re.DOTALL)
    except re.error as wrong:
        raise ValueError(f"not a regular expression: {wrong}; allowed: one that matches the whole finding, as in {_EXAMPLE}") from None
    return expression


def _names_a_finding(expression: str) -> str:
    """Accept a regular expression, unless it matches everything."""
    known = re.compile(_compiles(expression), re.DOTALL)
    if any(known.fullmatch(each) for each in _WHATEVER):
        raise ValueError(f"matches any finding; allowed: a regular expression that matches the known one alone, as in {_EXAMPLE}")
    return expression


@dataclass(frozen=True)
class FaultFinding:
    """What one fault cost, as it is held against what is known; `str` gives it in words."""

    words: str
    kinds: frozenset[str]
    """`HarmKind`s; none: reads were wrong, or nodes differ, of which nothing can be known."""
    load: str = ""
    """The load shape in which it struck, or the fault, where a guarantee has several."""
    models: frozenset[str] = frozenset()
    """Of the records that were harmed."""
    shape: str | None = None
    """Of the loss, `suffix` or `holes`; None where no acknowledged operation is lost."""
    said: str = ""
    """In the store's own words: why it broke, and the last lines of its log."""

    def __str__(self) -> str:
        return self.words


class KnownFinding(Frozen):
    """What a fault may cost: kind, place and bounds."""

    kinds: Annotated[tuple[HarmKind, ...], Strict(False), Field(min_length=1)]
    """A finding has no other kinds."""
    loads: Annotated[tuple[Name, ...], Strict(False)] = ()
    """The load shapes, or the faults, of which it may be a finding; none: all."""
    models: Annotated[tuple[Name, ...], Strict(False)] = ()
    """Models of which one is harmed at least; none: all."""
    shape: Literal["suffix", "holes"] | None = None
    """Of the loss: everything after some moment, or some writes although later ones are present; None: nothing acknowledged is lost."""
    log: Annotated[str, AfterValidator(_names_a_finding)] | None = None
    """A Python regular expression that is found in the store's own words: why it broke, and the last lines of its log."""
    at_most: PositiveInt | None = None
    """The most such findings in one run; more have another cause, and are worse than known."""

    @model_validator(mode="after")
    def _log_of_what_broke(self) -> Self:
        if any(each in BROKEN for each in self.kinds) != (self.log is not None):
            wanted = (
                "a store that broke is known by its own words"
                if self.log is None
                else f"only a store that broke ({', '.join(BROKEN)}) has one"
            )
            raise RuleError(wanted, "log")
        return self

    def covers(self, finding: FaultFinding) -> bool:
        """Whether the finding is one of these, however many there are."""
        return (
            bool(finding.kinds)
            and finding.kinds <= {*self.kinds}
            and (not self.loads or finding.load in self.loads)
            and (not self.models or not finding.models.isdisjoint(self.models))
            and finding.shape == self.shape
            and (self.log is None or re.search(self.log, " ".join(finding.said.split())) is not None)
        )

    def __str__(self) -> str:
        bounds = (" or ".join(self.kinds), self.shape, *(f"under {each}" for each in self.loads), *self.models, self.log)
        return ", ".join(filter(None, bounds))


class KnownFailure(Frozen):
    """Why a case fails, which findings are known, and until when."""

    variants: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """The store's variants that fail."""
    findings: Annotated[tuple[KnownFinding, ...], Strict(False)] = ()
    """Of a guarantee, what its faults may cost: each is one of these, or the case fails as worse than known."""
    finding: Annotated[str, AfterValidator(_names_a_finding)] | None = None
    """Of any other case: a Python regular expression that matches every finding of the run as a whole; otherwise the case fails as worse
    than known.

    A finding is one line per failed round or key; of most cases it is the outcome's detail, with runs of white space as one space.
    """
    at_most: PositiveInt | None = None
    """The most findings in one run; more are worse than known."""
    issue: Annotated[str, Field(min_length=1)]
    """What is wrong, in which version, and the URL of the issue if there is one."""
    until: Annotated[datetime.date, Strict(False)]
    """The last day on which it is a known failure."""
    sometimes: bool = False
    """Whether it fails only in some runs, as races do: a run without the failure is then a pass, which shows nothing."""

    @model_validator(mode="after")
    def _names_findings(self) -> Self:
        if self.finding is None and not self.findings:
            raise RuleError("is missing, and must be given", "finding")
        if self.finding is not None and self.findings:
            raise RuleError("allowed: either `finding` or `findings`", "finding")
        return self

    @property
    def covered(self) -> str:
        """What it covers, in words."""
        return self.finding or "; ".join(map(str, self.findings))

    def worse(self, findings: Sequence[str | FaultFinding]) -> list[str]:
        """The findings of a run that are not known, each as one line; all of them if there are more than `at_most`."""
        lines = [" ".join(str(each).split()) for each in findings]
        if self.at_most is not None and len(lines) > self.at_most:
            return [f"{len(lines)} findings, where at most {self.at_most} are known", *lines]
        if self.finding is not None:
            known = re.compile(self.finding, re.DOTALL)
            return [line for line in lines if not known.fullmatch(line)]
        covering = [
            next((each for each in self.findings if isinstance(found, FaultFinding) and each.covers(found)), None) for found in findings
        ]
        for known_one in self.findings:
            alike = [line for line, each in zip(lines, covering, strict=True) if each is known_one]
            if known_one.at_most is not None and len(alike) > known_one.at_most:
                return [f"{len(alike)} findings like {known_one}, where at most {known_one.at_most} are known", *alike]
        return [line for line, each in zip(lines, covering, strict=True) if each is None]
