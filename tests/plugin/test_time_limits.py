"""The time of a stage: every case of a store counts towards it, and after it none sends anything."""

from __future__ import annotations

import time

import pytest

from storeproof.halt import halt
from storeproof.outcome import Stage
from storeproof.plugin.case import SuiteCase
from storeproof.plugin.limits.time_limits import TimeLimits
from storeproof.result.recorder import StoreRecord
from storeproof.result.running_case import CaseResult

STAGE = 3600
"""Seconds of performance at smoke."""
WORKLOAD = SuiteCase(id="performance.x", stage=Stage.PERFORMANCE, workload="x")
OUTAGE = SuiteCase(id="performance.outage/x", stage=Stage.PERFORMANCE)


class Run:
    """A run at one store, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self._limits = TimeLimits("smoke")

    def case(self, case: SuiteCase, seconds: float = 0, others: float = 0) -> str | None:
        """Run a case that takes some seconds, of which some are those of other stores.

        Returns why it sends nothing more when they are over; empty, where it may go on for ever; None, where it may for some time.
        """
        result = CaseResult(StoreRecord(target=None), case.stage, case.id, 1, "", ())  # type: ignore[arg-type]
        with self._limits.case("a:b", case, result):
            result.elsewhere = -others
            self.now += seconds
            return halt.limit.reason if halt.limit.over or not halt.limit.reason else None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """One that has just begun."""
    made = Run()
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    return made


def test_workloads_count_towards_their_stage(run: Run) -> None:
    """After it nothing is sent, by a workload or by another case of the stage."""
    over = "the performance stage of this store has taken 1 h 0 min, the most at this scale"
    assert run.case(WORKLOAD, STAGE - 60) == ""
    assert run.case(OUTAGE, 30) is None
    assert run.case(OUTAGE, 30) == over
    assert run.case(WORKLOAD) == over
    assert run.case(OUTAGE) == over


def test_what_other_stores_took_does_not_count(run: Run) -> None:
    """The first case of a comparison runs the rounds of all of its stores."""
    assert run.case(WORKLOAD, 20 * STAGE, others=20 * STAGE - 1) == ""
    assert run.case(WORKLOAD, STAGE) == ""
    assert run.case(WORKLOAD) != ""


def test_a_case_has_its_own_time_and_a_workload_has_its_rounds(run: Run) -> None:
    """Those are of several stores."""
    assert run.case(OUTAGE, 899) is None
    assert run.case(OUTAGE, 901) == "the case has taken 15 min 0 s, the most of one of performance at this scale"
    assert run.case(WORKLOAD, 901) == ""
