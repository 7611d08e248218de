"""A case whose answers depend on the time is not judged where the machine's clock was set, or the machine stood still."""

from __future__ import annotations

import time

import pytest

from storeproof.experiments.correctness.clock_jump import Clock


class Machine:
    """Its clocks, without their passing by themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed = 0.0
        self.set_by = 0.0
        self.plan: list[tuple[float, float]] = []
        """When, in seconds that have passed, the wall clock is set to how far off."""
        monkeypatch.setattr(time, "monotonic", lambda: 100 + self.passed)
        monkeypatch.setattr(time, "time", lambda: 1_800_000_000 + self.passed + self.set_by)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        while self.plan and self.passed >= self.plan[0][0]:
            self.set_by = self.plan.pop(0)[1]


def test_a_quiet_machine_disturbs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a stall or a clock change nothing is reported."""
    Machine(monkeypatch)
    clock = Clock()
    clock.wait(2.1)
    assert clock.disturbed() == ""


def test_a_clock_that_is_set_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the wall clock is reported, also where it is set back later."""
    machine = Machine(monkeypatch)
    clock = Clock()
    machine.set_by = 3600
    assert clock.disturbed() == "the machine's clock was set by +3600.0 s"


def test_a_clock_that_is_set_forth_and_back_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends where it began, and has ended what was to live for a minute."""
    machine = Machine(monkeypatch)
    machine.plan = [(0.5, 3600), (1.5, 0)]
    clock = Clock()
    clock.wait(2.1)
    assert machine.set_by == 0
    assert clock.disturbed() == "the machine's clock was set by +3600.0 s"


def test_a_machine_that_stood_still_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stall beyond the waits of the case is reported."""
    machine = Machine(monkeypatch)
    clock = Clock()
    clock.wait(2.1)
    machine.passed += 0.5
    assert clock.disturbed() == "the machine stalled: the case took 0.5 s longer than its waits"


def test_attempts_go_on_until_the_time_is_over_and_their_time_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first at once, the last when the time is over; slow answers are part of what was to be waited."""
    machine = Machine(monkeypatch)
    clock = Clock()
    seen = []
    for seconds in clock.attempts(1.0):
        seen.append(seconds)
        machine.passed += 0.25  # what the request takes
    assert seen == [0.0, 0.5, 1.0]
    assert clock.disturbed() == ""


def test_attempts_that_end_early_leave_the_rest_of_the_case_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes early ends them; a stall after it is seen."""
    machine = Machine(monkeypatch)
    clock = Clock()
    for seconds in clock.attempts(120):
        if seconds:
            break
    assert machine.passed == 0.25
    machine.passed += 60
    assert "60.0 s longer" in clock.disturbed()


def test_a_machine_that_stands_still_takes_no_time_from_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two minutes in which nothing ran are a second of the store's time: the attempts go on."""
    machine = Machine(monkeypatch)
    clock = Clock()
    after = 0
    for seconds in clock.attempts(10):
        if seconds == 0:
            machine.passed += 120
        after += 1
    assert after == 38  # at 0 and, after a second that counts, every quarter of a second until ten have passed
    assert clock.disturbed() == ""
