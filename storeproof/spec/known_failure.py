"""Known failures: reported with their reason, and not counted as failures of the run until they expire."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError
from storeproof.spec.isolation import AnomalyKind

HarmKind = Literal["lost", "resurrected", "reverted", "torn", "invented", "miscounted", "split", "unstartable", "unusable"]
"""What is found of records, or of the store: that it ended or does not start, or that it starts and then answers with errors."""
BROKEN: Final = ("unstartable", "unusable")
FindingKind = Literal[
    AnomalyKind, HarmKind, "wrong_answer", "refused", "unreadable", "not_linearizable", "went_back", "not_kept", "wrong_end", "not_found"
]
"""What else a case finds: a wrong answer, a refusal, a reply that cannot be read, answers that no order explains, a read of an older state
than its client knew, metadata that did not survive, a time to live that ends at another time, records that a load asked for in vain, and
what is wrong between transactions."""
SAYING: Final = (*BROKEN, "refused", "unreadable")
"""What is known by the store's own words."""

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
class CaseFinding:
    """What one fault cost, or what was wrong with one answer, as it is held against what is known; `str` gives it in words."""

    words: str
    kinds: frozenset[str]
    """`FindingKind`s; none: reads were wrong, or nodes differ, of which nothing can be known."""
    load: str = ""
    """The load shape in which it struck, or the fault, where a guarantee has several; of metadata what it is."""
    models: frozenset[str] = frozenset()
    """Of the records that were harmed."""
    shape: str | None = None
    """Of the loss, `suffix` or `holes`; None where no acknowledged operation is lost."""
    said: str | None = ""
    """In the store's own words: its answer, or why it refused or broke, and the last lines of its log; None: they were not kept."""
    operation: str = ""
    """That was answered wrongly, or found nothing."""
    expected: str = ""
    """The right answer, as a case writes it."""

    @classmethod
    def wrong_answer(cls, words: str, operation: str, found: str, wanted: str) -> Self:
        """The store answered an operation otherwise than is right."""
        return cls(words, frozenset({"wrong_answer"}), said=found, operation=operation, expected=wanted)

    def __str__(self) -> str:
        return self.words


class KnownFinding(Frozen):
    """What a fault may cost, or what an answer may be: kind, place and bounds."""

    kinds: Annotated[tuple[FindingKind, ...], Strict(False), Field(min_length=1)]
    """A finding has no other kinds."""
    loads: Annotated[tuple[Name, ...], Strict(False)] = ()
    """The load shapes, the faults, or the kinds of metadata, of which it may be a finding; none: all."""
    models: Annotated[tuple[Name, ...], Strict(False)] = ()
    """Models of which one is harmed at least; none: all."""
    shape: Literal["suffix", "holes"] | None = None
    """Of the loss: everything after some moment, or some writes although later ones are present; None: nothing acknowledged is lost."""
    operations: Annotated[tuple[Name, ...], Strict(False)] = ()
    """The operations that may be answered wrongly, or find nothing; none: all."""
    expected: str | None = None
    """The right answer in whose place there is another one, as a case writes it; None: any."""
    said: Annotated[str, AfterValidator(_names_a_finding)] | None = None
    """A Python regular expression that is found in the store's own words: its wrong answer, why it refused or broke, the last lines of its
    log."""
    at_most: PositiveInt | None = None
    """The most such findings in one run; more have another cause, and are worse than known."""

    @model_validator(mode="after")
    def _words_of_what_has_some(self) -> Self:
        if self.said is None and any(each in SAYING for each in self.kinds):
            raise RuleError(f"a store is known by its own words where it has some ({', '.join(SAYING)})", "said")
        if self.said is not None and not {*self.kinds} <= {*SAYING, "wrong_answer"}:
            raise RuleError(f"only these have words of the store: wrong_answer, {', '.join(SAYING)}", "said")
        return self

    def covers(self, finding: CaseFinding) -> bool:
        """Whether the finding is one of these, however many there are."""
        return (
            bool(finding.kinds)
            and finding.kinds <= {*self.kinds}
            and (not self.loads or finding.load in self.loads)
            and (not self.models or not finding.models.isdisjoint(self.models))
            and finding.shape == self.shape
            and (not self.operations or finding.operation in self.operations)
            and self.expected in (None, finding.expected)
            and (self.said is None or finding.said is None or re.search(self.said, " ".join(finding.said.split())) is not None)
        )

    def __str__(self) -> str:
        place = (*(f"under {each}" for each in self.loads), *self.models, *(f"of {each}" for each in self.operations))
        return ", ".join(filter(None, (" or ".join(self.kinds), self.shape, *place, self.said)))


class KnownFailure(Frozen):
    """Why a case fails, which findings are known, and until when."""

    variants: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """The store's variants that fail."""
    findings: Annotated[tuple[KnownFinding, ...], Strict(False)] = ()
    """What the case may find: each finding is one of these, or the case fails as worse than known."""
    finding: Annotated[str, AfterValidator(_names_a_finding)] | None = None
    """In their place: a Python regular expression that matches the words of every finding of the run as a whole.

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

    def worse(self, findings: Sequence[str | CaseFinding]) -> list[str]:
        """The findings of a run that are not known, each as one line; all of them if there are more than `at_most`."""
        lines = [" ".join(str(each).split()) for each in findings]
        if self.at_most is not None and len(lines) > self.at_most:
            return [f"{len(lines)} findings, where at most {self.at_most} are known", *lines]
        if self.finding is not None:
            known = re.compile(self.finding, re.DOTALL)
            return [line for line in lines if not known.fullmatch(line)]
        typed = [found if isinstance(found, CaseFinding) else CaseFinding(found, frozenset({"wrong_answer"})) for found in findings]
        covering = [next((each for each in self.findings if each.covers(found)), None) for found in typed]
        for known_one in self.findings:
            alike = [line for line, each in zip(lines, covering, strict=True) if each is known_one]
            if known_one.at_most is not None and len(alike) > known_one.at_most:
                return [f"{len(alike)} findings like {known_one}, where at most {known_one.at_most} are known", *alike]
        return [line for line, each in zip(lines, covering, strict=True) if each is None]
