"""A failure that is known: it stays in sight, with its reason, and does not end the run with an error until a day that is named."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt, Strict

from storeproof.spec.base import Frozen, Name

_EXAMPLE = "'fault 1, .*, burst: .* suffix'"
_WHATEVER = ("", "any other finding, of 1 or 1000 records")


def _names_a_finding(expression: str) -> str:
    """A regular expression that does not match whatever there may be."""
    try:
        known = re.compile(expression, re.DOTALL)
    except re.error as wrong:
        raise ValueError(f"no regular expression: {wrong}; allowed: one that matches the whole finding, as in {_EXAMPLE}") from None
    if any(known.fullmatch(each) for each in _WHATEVER):
        raise ValueError(f"matches any finding; allowed: a regular expression that matches the known one alone, as in {_EXAMPLE}")
    return expression


class KnownFailure(Frozen):
    """Why a case fails, by which finding that is known, and how long it may stand."""

    variants: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Those of the store that fail."""
    finding: Annotated[str, AfterValidator(_names_a_finding)]
    """A regular expression (Python's) that matches the whole of every finding of the run; the case fails as worse than known otherwise.

    A finding is one line: the faults, rounds or keys that failed have one each, as in `fault 3, stream: 12 lost, 1 reverted of
    hash10, row; 13 operations within 41 ms, suffix` or `fault 4, compaction: unstartable: ended with exit status 1; its log: ...`; under
    power cuts `fault 3, 3 since a clean restart, stream: ...`. Of other cases it is the detail of
    the outcome, with every line break and run of spaces as one space.
    """
    at_most: PositiveInt | None = None
    """So many findings in one run; with more it is worse than known."""
    issue: Annotated[str, Field(min_length=1)]
    """What is wrong and in which version, with the address of its issue where it has one."""
    until: Annotated[datetime.date, Strict(False)]
    """The last day; from the next on it is a failure like any other."""
    sometimes: bool = False
    """Whether it fails in some runs only, as races do: a run in which it does not fail is then a pass, which shows nothing."""

    def worse(self, findings: Sequence[str]) -> list[str]:
        """Those of a run's findings, each as one line, that are not the known one; all of them where they are too many."""
        lines = [" ".join(each.split()) for each in findings]
        if self.at_most is not None and len(lines) > self.at_most:
            return [f"{len(lines)} findings, where at most {self.at_most} are known", *lines]
        known = re.compile(self.finding, re.DOTALL)
        return [line for line in lines if not known.fullmatch(line)]
