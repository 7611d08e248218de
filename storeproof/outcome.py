"""The one vocabulary of results, and how results roll up."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """What became of one case. Ordered from worst to best: a roll-up shows the worst, and counts them all."""

    ERROR = "error"  # a harness error
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # flaky or timed out
    NOT_RUN = "not_run"  # the environment lacks something; the detail says what, and the remedy
    KNOWN_FAIL = "known_fail"
    UNSUPPORTED = "unsupported"  # declared, and refused clearly
    EXCLUDED = "excluded"  # the user's choice on the command line
    UNDECLARED = "undeclared"  # works though not claimed
    PASS = "pass"  # noqa: S105


IDLE: Final = (Outcome.NOT_RUN, Outcome.EXCLUDED)
"""Nothing was tried."""

SHOWN: Final = (Outcome.PASS, Outcome.UNDECLARED)
"""The store was asked in this run and answered right."""

NOT_REACHED: Final = "the run ended before this case"
"""How the detail of a case begins that was not begun."""

REFUTED: Final = (Outcome.FAIL, Outcome.KNOWN_FAIL, Outcome.UNSUPPORTED)
"""The store was asked and did not deliver. Every other outcome is missing evidence, which speaks neither for nor against it."""


class Stage(StrEnum):
    """The trial's stages, in their order: no speed without proof."""

    CORRECTNESS = "correctness"
    DURABILITY = "durability"
    PERFORMANCE = "performance"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome that stands for all of them; nothing at all is `not_run`, never a pass."""
    order = list(Outcome)
    return min(outcomes, key=order.index, default=Outcome.NOT_RUN)


def count(outcomes: Iterable[Outcome]) -> dict[Outcome, int]:
    """How many of each, zeros included, so that nothing can hide."""
    tally = dict.fromkeys(Outcome, 0)
    for outcome in outcomes:
        tally[outcome] += 1
    return tally
