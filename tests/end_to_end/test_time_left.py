"""How long a run still takes: of each kind of case by what those before it took."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from storeproof.plugin.progress import Progress


class _Run:
    """A run whose clock the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *cases: str) -> None:
        self._now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self._now)
        self._lines: list[str] = []
        reporter = SimpleNamespace(isatty=False, write_line=self._lines.append)
        manager = SimpleNamespace(get_plugin={"terminalreporter": reporter, "capturemanager": None}.get)
        config = SimpleNamespace(pluginmanager=manager, get_verbosity=lambda: 0)
        self._progress = Progress(cast(Any, config))
        self._progress.begin(_item(each) for each in cases)

    def done(self, *cases: str, seconds: float) -> None:
        for each in cases:
            self._now += seconds
            self._progress.case_done(_item(each))

    def begins(self, case: str) -> None:
        self._progress.case_begins(_item(case))

    def measured(self, cases: float, *, seconds: float) -> None:
        self._now += seconds
        self._progress.measured(cases)

    def line(self) -> str:
        self._now += 10.0  # a log has no more than this
        self._progress("step")
        self._now -= 10.0
        return self._lines[-1]


def _item(name: str) -> pytest.Item:
    return cast(pytest.Item, SimpleNamespace(nodeid=f"suites/test_some.py::test_{name}[case]"))


def test_a_kind_that_was_not_tried_yet_makes_it_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kind of case still untimed, the estimate says `over`."""
    run = _Run(monkeypatch, *["quick"] * 20, *["slow"] * 10)
    run.done(*["quick"] * 10, seconds=2)
    assert run.line() == "11/30 · over 20 s left · step"


def test_each_kind_takes_as_long_as_its_cases_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of case counts with its own mean."""
    run = _Run(monkeypatch, *["quick"] * 20, *["slow"] * 10)
    run.done(*["quick"] * 20, seconds=0.1)
    run.done("slow", seconds=60)
    assert run.line() == "22/30 · about 9 min left · step"


def test_nothing_is_said_without_anything_to_go_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few timed cases give no estimate."""
    run = _Run(monkeypatch, *["quick"] * 20)
    run.done(*["quick"] * 4, seconds=1)
    assert run.line() == "5/20 · step"


def test_nothing_is_said_where_all_that_is_known_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only untimed kinds remain, there is no estimate."""
    run = _Run(monkeypatch, *["quick"] * 5, *["slow"] * 10)
    run.done(*["quick"] * 5, seconds=1)
    assert run.line() == "6/15 · step"


def test_a_case_in_which_others_are_measured_is_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two laps over ten cases the first one runs in the first case, which is half of the work, and not a tenth."""
    run = _Run(monkeypatch, *["speed"] * 10)
    run.begins("speed")
    for _ in range(5):
        run.measured(2 / 2, seconds=60)
    assert run.line() == "1/10 · about 5 min left · step", "the lap is over, and its case is not"
    run.measured(2 / 2, seconds=60)
    run.done("speed", seconds=0)
    assert run.line() == "2/10 · about 4 min left · step"
    run.done("speed", seconds=10)
    assert run.line() == "3/10 · about 4 min left · step", "this one found its rounds measured"
