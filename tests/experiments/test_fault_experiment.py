"""The skeleton of all experiments with faults, and how a summary becomes the outcome of a case."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from storeproof.blame import CaseEnding
from storeproof.contract import Refused, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, without_replies
from storeproof.experiments.summary import Summary
from storeproof.outcome import Outcome, Stage
from storeproof.result.running_case import CaseResult, EndCase
from tests.check.histories import history


class Handle:
    """A store that ends when it is told to."""

    died: Exception | None = None

    def check_alive(self) -> None:
        if self.died is not None:
            raise self.died


class Experiment(FaultExperiment[int]):
    """Notes its steps; `wrong` is raised by the audit."""

    def __init__(self, wrong: Exception | None = None, died: Exception | None = None) -> None:
        handle: Any = Handle()
        handle.died = died
        connect: Any = None
        super().__init__(Subject(handle, connect, random.Random(1)))
        self.steps: list[str] = []
        self.wrong = wrong

    def setup(self) -> None:
        self.steps.append("setup")

    def rounds(self) -> Iterator[int]:
        yield from (1, 2)

    @contextmanager
    def load(self) -> Iterator[None]:
        self.steps.append(f"load {self.round}")
        yield
        self.steps.append("load ends")

    def fault(self) -> None:
        self.steps.append("fault")

    def recover(self) -> None:
        self.steps.append("recover")

    def audit(self) -> None:
        self.steps.append("audit")
        if self.wrong is not None:
            raise self.wrong

    def finish(self) -> None:
        self.steps.append("finish")


class UnderLoad(Experiment):
    """Its clients go on until the store is back."""

    recovers_under_load = True


def test_the_load_ends_before_the_store_is_started_again() -> None:
    """What clients did is known before the audit."""
    one = Experiment()
    one.run()
    steps = ["fault", "load ends", "recover", "audit"]
    assert one.steps == ["setup", "load 1", *steps, "load 2", *steps, "finish"]
    assert 0 < one.struck <= one.load_ended


def test_the_load_of_an_outage_outlasts_the_recovery() -> None:
    """Clients see how long the store is away."""
    one = UnderLoad()
    one.run()
    assert one.steps[1:6] == ["load 1", "fault", "recover", "load ends", "audit"]


@pytest.mark.parametrize(
    ("wrong", "died", "raised"),
    [
        (Unknown("timed out"), None, Unknown),
        (Unknown("connection lost"), StoreDied("it ended"), StoreDied),
        (Unknown("connection lost"), MachineFailed("killed from outside"), MachineFailed),
        (Refused("repair me"), StoreDied("it ended"), Refused),
    ],
)
def test_a_store_that_does_not_answer_is_looked_at(wrong: Exception, died: Exception | None, raised: type[Exception]) -> None:
    """Whether it ended by itself, was killed from outside, or runs; and `finish` is called in any case."""
    one = Experiment(wrong, died)
    with pytest.raises(raised):
        one.run()
    assert one.steps[-1] == "finish"


def test_what_is_answered_without_a_disk_is_unknown() -> None:
    """Only within the interval, both ends included."""
    early, late = history("put a |-ok|", "             put b |-ok|")
    assert early.completed is not None
    assert late.completed is not None
    found = without_replies([early, late], [(late.completed, late.completed)])
    assert found[0] is early
    assert (found[1].outcome, found[1].completed, found[1].write_id) == ("unknown", None, "b")
    between = [
        (early.completed - 1, early.completed - 1),
        (early.completed + 1, late.completed - 1),
        (late.completed + 1, late.completed + 9),
    ]
    assert without_replies([early, late], between) == [early, late]
    assert [each.outcome for each in without_replies([early, late], [(0, early.completed), (late.completed, late.completed)])] == [
        "unknown"
    ] * 2


@dataclass(kw_only=True)
class Plain(Summary):
    """Ends as it is told to."""

    how: CaseEnding

    @property
    def ending(self) -> CaseEnding:
        return self.how

    def parts(self) -> Iterable[str]:
        return ["three faults", "", "one lost"]

    @property
    def findings(self) -> list[str]:
        return ["one lost"]


def case() -> CaseResult:
    """Of no store."""
    record: Any = None
    return CaseResult(record, Stage.DURABILITY, "durability.x", 1, "", ())


def test_a_summary_is_one_sentence_and_the_log() -> None:
    """Empty parts are left out."""
    assert Plain(how=CaseEnding.RIGHT).detail() == "three faults; one lost"
    assert Plain(how=CaseEnding.RIGHT, log="bye").detail() == "three faults; one lost\n--- last lines of its log ---\nbye"


@pytest.mark.parametrize(
    ("ending", "claimed", "outcome"),
    [
        (CaseEnding.BROKEN_PROMISE, True, Outcome.FAIL),
        (CaseEnding.BROKEN_PROMISE, False, Outcome.UNSUPPORTED),
        (CaseEnding.NOTHING_SHOWN, True, Outcome.INCONCLUSIVE),
        (CaseEnding.NOTHING_SHOWN, False, Outcome.UNSUPPORTED),
        (CaseEnding.RIGHT, False, Outcome.UNDECLARED),
    ],
)
def test_a_summary_settles_a_case_by_the_table_of_blame(ending: CaseEnding, claimed: bool, outcome: Outcome) -> None:
    """It names an ending, and the claim decides."""
    result = case()
    with pytest.raises(EndCase) as ended:
        Plain(how=ending, spoiled=["the disk was full"]).report(result, claimed=claimed)
    assert ended.value.outcome is result.outcome is outcome
    assert result.spoiled == ["the disk was full"]


def test_a_summary_that_is_right_goes_on() -> None:
    """A pass does not end the test: what follows may still fail."""
    result = case()
    Plain(how=CaseEnding.RIGHT).report(result, claimed=True)
    assert result.detail == "three faults; one lost"
    assert not result.settled
