"""Warm-up ends when the rate stands still, and says so when it does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from storeproof.stats import steady_state
from storeproof.stats.steady_state import WINDOWS, unsteadiness, warm_up


@pytest.fixture
def time_stands(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only windows move."""
    now = [0.0]
    monkeypatch.setattr(steady_state, "monotonic", lambda: now[0])
    return now


def _windows(now: list[float], rates: Iterator[float]):
    def window(seconds: float) -> float:
        now[0] += seconds
        return next(rates)

    return window


def test_a_steady_rate_needs_no_more_than_the_least(time_stands: list[float]) -> None:
    """Four equal windows are enough."""
    done = warm_up(_windows(time_stands, repeat(100.0)), 0.4, 2.0)
    assert done.steady
    assert len(done.rates) == WINDOWS
    assert done.seconds == pytest.approx(0.4)


def test_a_rate_that_rises_is_waited_for(time_stands: list[float]) -> None:
    """The cold start is in no window that the decision looks at."""
    done = warm_up(_windows(time_stands, chain([10, 20, 40, 60, 80], repeat(100.0))), 0.4, 2.0)
    assert done.steady
    assert done.rates[-WINDOWS:] == (100, 100, 100, 100)


def test_a_rate_that_never_settles_is_marked(time_stands: list[float]) -> None:
    """At the cap the answer is `not steady`, with the rates."""
    done = warm_up(_windows(time_stands, chain.from_iterable(repeat((100.0, 200.0)))), 0.4, 2.0)
    assert not done.steady
    assert done.seconds <= 2.0
    assert len(done.rates) > WINDOWS


def test_a_slow_trend_is_not_steady() -> None:
    """Each window is within 5 % of the mean, and still the rate falls by 6 % over them."""
    assert unsteadiness([103, 101, 99, 97]) == pytest.approx(0.06)


def test_scatter_without_trend() -> None:
    """The coefficient of variation is what counts then."""
    assert unsteadiness([110, 90, 90, 110]) == pytest.approx(0.1)
    assert unsteadiness([]) == float("inf")
    assert unsteadiness([0, 0]) == float("inf")
