"""Random examples: the first wrong answer is shrunk, but not for long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from storeproof.errors import Halted
from storeproof.experiments.correctness import random_examples
from storeproof.experiments.correctness.random_examples import FailingExample, try_examples
from storeproof.outcome import Outcome, Stage
from storeproof.result.running_case import CaseResult, EndCase

SUT: Any = SimpleNamespace(
    seed=1, scale=SimpleNamespace(correctness=SimpleNamespace(examples=50)), command=lambda selection: f"pytest -k {selection}"
)


def result() -> CaseResult:
    return CaseResult(SimpleNamespace(add=lambda *_: None), Stage.CORRECTNESS, "stateful.x", 1, "x", ())  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_finding_is_shrunk_for_a_while(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing more is asked, and the smallest by then is told."""
    monkeypatch.setattr(random_examples, "_SHRINK_SECONDS", seconds)
    found: list[int] = []

    def play(number: int) -> None:
        if number > 1000 or found:
            found.append(number)
        if number > 1000:
            raise FailingExample(f"wrong at {number}")

    told = result()
    with pytest.raises(EndCase) as ended:
        try_examples(st.integers(0, 10**9), play, "x", SUT, told)
    assert ended.value.outcome is Outcome.FAIL
    if seconds:
        assert "wrong at 1001" in told.detail
    else:
        assert len(found) == 1, "nothing was asked after it"
        assert f"wrong at {found[0]}" in told.detail


def test_a_case_that_is_halted_asks_nothing_more() -> None:
    """It is not shrunk, and is no finding; no further example is even drawn, which takes Hypothesis minutes where they are large."""
    drawn: list[int] = []

    def play(_: None) -> None:
        raise Halted("the case has taken 5 min 0 s; next would have been get")

    with pytest.raises(Halted):
        try_examples(st.integers().map(drawn.append), play, "x", SUT, result())
    assert len(drawn) == 1


def test_no_constant_of_the_code_is_drawn() -> None:
    """So an example depends on its seed alone, in a checkout and installed. storeproof is loaded, and its source has many."""
    assert len(providers.HypothesisProvider(None)._local_constants) == 0
