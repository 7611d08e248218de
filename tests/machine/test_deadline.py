"""A server that is late: for itself, or for all that runs beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from storeproof.machine import deadline
from storeproof.machine.deadline import Deadline, busy, machine_is_busy, progress_of


@pytest.mark.parametrize(
    ("some", "load", "found"),
    [
        ({}, 0.0, ""),
        ({"cpu": 39.9, "io": 39.9, "memory": 9.9}, 6.0, ""),
        ({"cpu": 40.0}, 0.0, "tasks waited for cpu 40 % of the time"),
        ({"memory": 12.3, "io": 80.0}, 1.0, "tasks waited for io 80 % of the time, tasks waited for memory 12 % of the time"),
        ({"cpu": 1.0}, 6.1, "load 6.1 on 4 cores"),
    ],
)
def test_what_is_busy(some: dict[str, float], load: float, found: str) -> None:
    """The thresholds of pressure and load, and the words for each."""
    assert busy(some, load, cores=4) == found


def test_this_machine_tells() -> None:
    """The real files of this kernel can be read."""
    assert isinstance(machine_is_busy(), str)


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Clock]:
    made = _Clock()
    monkeypatch.setattr(deadline, "time", made)
    return made


def lasted(wait: Deadline, clock: _Clock) -> float:
    began = clock.now
    while not wait.has_passed():
        clock.now += 0.25
    return clock.now - began


def test_on_a_quiet_machine_the_limit_is_the_limit(clock: _Clock) -> None:
    """Without load the limit is not extended, whatever the server does."""
    wait = Deadline(10, lambda: int(clock.now * 1000), lambda: "")
    assert lasted(wait, clock) == 10.25
    assert wait.busy == ""


def test_on_a_busy_machine_one_that_works_has_three_times_as_long(clock: _Clock) -> None:
    """With load and progress the limit is extended to three times its length."""
    wait = Deadline(10, lambda: int(clock.now * 1000), lambda: "busy")
    assert 30 < lasted(wait, clock) < 32
    assert wait.busy == "busy"


def test_one_that_does_nothing_has_not(clock: _Clock) -> None:
    """With load but without progress the limit is not extended."""
    wait = Deadline(10, lambda: 7, lambda: "busy")
    assert lasted(wait, clock) < 12
    assert wait.busy == "busy"


def test_one_that_cannot_be_looked_at_has(clock: _Clock) -> None:
    """With load and unknown progress the limit is extended."""
    assert lasted(Deadline(10, lambda: None, lambda: "busy"), clock) > 30


def test_the_machine_becomes_quiet_meanwhile(clock: _Clock) -> None:
    """The extension ends when the load does."""
    wait = Deadline(10, lambda: int(clock.now * 1000), lambda: "busy" if clock.now < 115 else "")
    assert 15 < lasted(wait, clock) < 17
    assert wait.busy == ""


def test_work_shows_in_the_number_and_sleep_does_not() -> None:
    """Work raises the number; an ended process counts 0."""
    code = "import sys, time\nfor line in sys.stdin:\n    sum(range(10**6)); print('done', flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def work() -> int:
            process.stdin.write("go\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            process.stdout.readline()  # type: ignore[union-attr]
            return progress_of([process.pid])

        assert work() < work()
    assert progress_of([process.pid]) == 0, "it has ended"
    assert progress_of([os.getpid()]) > 0
