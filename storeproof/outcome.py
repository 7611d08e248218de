"""The outcomes of cases, and how they are summarized."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """The outcome of one case. Ordered from worst to best: a summary shows the worst, and counts all of them."""

    ERROR = "error"  # a harness error
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # flaky or timed out
    NOT_RUN = "not_run"  # the environment lacks something; the detail says what, and the remedy
    KNOWN_FAIL = "known_fail"
    UNSUPPORTED = "unsupported"  # declared, and refused clearly
    EXCLUDED = "excluded"  # the user's choice on the command line
    UNDECLARED = "undeclared"  # works though not claimed
    PASS = "pass"  # noqa: S105


_RANK: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}

IDLE: Final = (Outcome.NOT_RUN, Outcome.EXCLUDED)
"""No test ran."""

SHOWN: Final = (Outcome.PASS, Outcome.UNDECLARED)
"""The store answered correctly in this run."""

REFUTED: Final = (Outcome.FAIL, Outcome.KNOWN_FAIL, Outcome.UNSUPPORTED)
"""The store answered wrongly or refused in this run. Every other outcome is missing evidence, neither for nor against it."""

TELLING: Final = (*SHOWN, *REFUTED)
"""Outcomes that say something about the store."""


class Lack(StrEnum):
    """What a case was not run for want of, where a claim may leave it out for that; and that it was not begun."""

    NODES = "nodes"  # by the store's file
    CLUSTER = "cluster"  # as it was launched
    TRANSACTIONS = "transactions"
    ACCOUNTS = "accounts"
    OWN_SERVER = "own_server"  # one that storeproof started
    DISK = "disk"  # whose power can be cut, or a data directory within reach
    MODELS = "models"
    COMPILED_PART = "compiled_part"
    VERIFIED_OPERATION = "verified_operation"
    VERIFIED_QUESTIONS = "verified_questions"
    ENGINE = "engine"  # of load, with what it could ask for
    PLAIN_CONNECTION = "plain_connection"
    FRONT = "front"  # of a composite store, whose memory can be limited and whose reads are counted
    PARTS = "parts"  # of a composite store, that can be struck
    BEGUN = "begun"  # the run ended before


class Stage(StrEnum):
    """The stages of a run, in order: performance is measured only after correctness and durability were tested."""

    CORRECTNESS = "correctness"
    DURABILITY = "durability"
    PERFORMANCE = "performance"


def is_failure(outcome: Outcome, *, decides: bool = True) -> bool:
    """Whether a case fails its run: by an error of ours, or by a wrong answer of the store to a case that decides."""
    return outcome is Outcome.ERROR or (outcome is Outcome.FAIL and decides)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of the outcomes; without any it is `not_run`, never a pass."""
    return min(outcomes, key=_RANK.__getitem__, default=Outcome.NOT_RUN)


def count(outcomes: Iterable[Outcome]) -> dict[Outcome, int]:
    tally = dict.fromkeys(Outcome, 0)
    for outcome in outcomes:
        tally[outcome] += 1
    return tally
