"""Runs random examples until the store answers one of them wrongly, and shrinks that example."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from storeproof.contract import Refused, Unknown, WrongReply
from storeproof.errors import Halted, MachineFailed
from storeproof.experiments.correctness.drawn_constants import leave_out_constants_of_code
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.spec.known_failure import CaseFinding
from storeproof.store_under_test import StoreUnderTest

leave_out_constants_of_code()

_SHRINK_SECONDS: Final = 60.0
"""After the first wrong answer; what is the smallest by then is told. Hypothesis itself goes on for five minutes."""


class FailingExample(Exception):
    """The store answered wrongly: what was done, and what was expected. No AssertionError, which Hypothesis raises for its own errors."""

    def __init__(self, told: str, finding: CaseFinding | None = None) -> None:
        super().__init__(told)
        self.finding = finding or CaseFinding(told, frozenset({"wrong_answer"}))


class _Enough(BaseException):
    """Ends the examples at once: Hypothesis lets it through, as it does an interrupt, where it would try hundreds after an `Exception`."""


class NotCleared(Exception):
    """The data of an example cannot be removed, so no other example can run, and nothing is shrunk. `found`: the result of the example."""

    def __init__(self, found: Exception, reason: Exception) -> None:
        super().__init__(f"{found}\nduring clean-up: {reason}")
        self.found = found


def try_examples(
    strategy: st.SearchStrategy[Any], play: Callable[[Any], None], selection: str, sut: StoreUnderTest, case_result: CaseResult
) -> None:
    """Play the scale's number of examples; the first `FailingExample` is shrunk and ends the case.

    Args:
        strategy: of the examples.
        play: plays one, and raises `FailingExample` if the store answers wrongly.
        selection: the argument of `-k` that runs the case again.
    """
    findings: list[FailingExample] = []
    given_up: list[Exception] = []
    """Why a store gets no more examples: it does not answer, or its data cannot be removed."""
    shrunk_until = math.inf

    @seed(sut.seed)
    @settings(
        max_examples=sut.scale.correctness.examples,
        deadline=None,
        derandomize=False,  # Hypothesis sets it where it sees a CI, and the seed would be without effect
        database=None,  # a run depends on its seed only
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,  # one finding, the first, is shrunk and told
    )
    @given(strategy)
    def example(drawn: Any) -> None:
        nonlocal shrunk_until
        if time.monotonic() > shrunk_until:
            raise _Enough
        try:
            play(drawn)
        except (Unknown, Refused, WrongReply, MachineFailed, Halted) as reason:
            given_up.append(reason)
            raise _Enough from None
        except NotCleared as stop:
            given_up.append(stop.found)
            if isinstance(stop.found, FailingExample):
                findings.append(FailingExample(str(stop), stop.found.finding))
            raise _Enough from None
        except FailingExample as finding:
            findings.append(finding)
            shrunk_until = min(shrunk_until, time.monotonic() + _SHRINK_SECONDS)
            raise

    try:
        example()
    except (_Enough, Flaky, FailingExample) as ending:
        if given_up and not findings:
            raise given_up[0] from None
        if not findings:
            case_result.settle(Outcome.INCONCLUSIVE, f"{ending}")
        found = ending if isinstance(ending, FailingExample) else findings[-1]
        more = ""
        if isinstance(ending, Flaky):  # one wrong answer is a failure; report what was seen, which could not be shrunk
            found = min(findings, key=lambda each: len(str(each)))
            more = "\nnot reproducible: a repetition got the correct answer"
        case_result.again = sut.command(selection)
        case_result.settle(Outcome.FAIL, f"{found}{more}", [found.finding])
