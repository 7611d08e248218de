"""A round has a lead-in, of which nothing is kept and nothing demanded; of the round itself something must have been found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.suites.performance.measurement import Measuring

LEAD_IN, ROUND, RATE = 0.05, 0.2, 100.0


def measuring(monkeypatch: pytest.MonkeyPatch, found: dict[float, int]) -> tuple[Measuring, list[tuple[float, float]]]:
    """One that finds so many records in so many seconds, and what it was asked to run."""
    asked: list[tuple[float, float]] = []

    def run(_self: Measuring, seconds: float, rate: float = 0.0) -> Any:
        asked.append((seconds, rate))
        return SimpleNamespace(ok=found[seconds], misses=7)

    monkeypatch.setattr(Measuring, "_run", run)
    nothing: Any = None
    way: Any = SimpleNamespace(rate=RATE)
    scale: Any = SimpleNamespace(lead_in_seconds=LEAD_IN, round_seconds=ROUND)
    return Measuring(way, nothing, scale, 1, nothing, nothing), asked


def test_a_lead_in_comes_first_and_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the rate of the round, in which nothing may be due in so short a time."""
    one, asked = measuring(monkeypatch, {LEAD_IN: 0, ROUND: 3})
    one.run_round()
    assert asked == [(LEAD_IN, RATE), (ROUND, RATE)]
    assert [each.ok for each in one.rounds] == [3]


def test_a_round_that_found_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = measuring(monkeypatch, {LEAD_IN: 3, ROUND: 0})
    with pytest.raises(AssertionError, match="of 7 loaded records"):
        one.run_round()
    assert one.rounds == []
