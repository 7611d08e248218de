"""Known failures: reported with their reason, and not counted as failures of the run until they expire."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt, Strict

from storeproof.spec.base import Frozen, Name

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


class KnownFailure(Frozen):
    """Why a case fails, which findings are known, and until when."""

    variants: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """The store's variants that fail."""
    finding: Annotated[str, AfterValidator(_names_a_finding)]
    """A Python regular expression that matches every finding of the run as a whole; otherwise the case fails as worse than known.

    A finding is one line per failed fault, round or key, such as `fault 3, stream: 12 lost, 1 reverted of hash10, row; 13 operations
    within 41 ms, suffix` or `fault 4, compaction: unstartable: ended with exit status 1; its log: ...`. For other cases it
    is the outcome's detail, with runs of white space as one space.
    """
    at_most: PositiveInt | None = None
    """The most findings in one run; more are worse than known."""
    at_most_like: Mapping[Annotated[str, AfterValidator(_compiles)], PositiveInt] = Field(default_factory=dict)
    """Beside it, the most findings in one run that match a regular expression as a whole, where the failure is rarer than elsewhere: more
    have another cause, and are worse than known."""
    issue: Annotated[str, Field(min_length=1)]
    """What is wrong, in which version, and the URL of the issue if there is one."""
    until: Annotated[datetime.date, Strict(False)]
    """The last day on which it is a known failure."""
    sometimes: bool = False
    """Whether it fails only in some runs, as races do: a run without the failure is then a pass, which shows nothing."""

    def worse(self, findings: Sequence[str]) -> list[str]:
        """The findings of a run that are not known, each as one line; all of them if there are more than `at_most`, and those that
        are more than `at_most_like` says."""
        lines = [" ".join(each.split()) for each in findings]
        if self.at_most is not None and len(lines) > self.at_most:
            return [f"{len(lines)} findings, where at most {self.at_most} are known", *lines]
        for expression, most in self.at_most_like.items():
            alike = [line for line in lines if re.fullmatch(expression, line, re.DOTALL)]
            if len(alike) > most:
                return [f"{len(alike)} findings like {expression}, where at most {most} are known", *alike]
        known = re.compile(self.finding, re.DOTALL)
        return [line for line in lines if not known.fullmatch(line)]
