"""Stores that lie about answers, changes and measures: each must be caught by the case that is meant for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from tests.mutants import lying_changes, lying_measures, lying_queries
from tests.mutants.lies import Outcomes, outcomes_of
from tests.mutants.transactions import lying_transactions
from tests.mutants.updates import lying_updates

pytestmark = pytest.mark.slow

LIARS: Mapping[str, ModuleType] = {
    "wrong answers to requests": lying_queries,
    "lies about changes": lying_changes,
    "lies about measures": lying_measures,
    "lies about several parts or records": lying_updates,
    "lies about transactions": lying_transactions,
}
"""Each module has `LIES`, and is the adapter that tells them."""

_outcomes: dict[str, Mapping[str, Outcomes]] = {}


@pytest.fixture
def outcomes(liar: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By lie: what became of each check. One run for all lies of a module."""
    if liar not in _outcomes:
        module = LIARS[liar]
        checks = {name: lie.check for name, lie in module.LIES.items()}
        _outcomes[liar] = outcomes_of(checks, Path(str(module.__file__)), tmp_path_factory.mktemp("lies"))
    return _outcomes[liar]


@pytest.mark.parametrize(("liar", "lie"), [(liar, lie) for liar, module in LIARS.items() for lie in module.LIES])
def test_the_lie_is_caught_by_the_case_that_is_meant_for_it(liar: str, lie: str, outcomes: Mapping[str, Outcomes]) -> None:
    """Each liar fails its own case."""
    found = outcomes[lie]
    assert found[LIARS[liar].LIES[lie].check] == "fail", f"{lie}: {found}"
    assert "error" not in found.values(), "what a store does wrong is no error of ours"


@pytest.mark.parametrize("liar", LIARS)
def test_the_honest_store_raises_no_alarm(outcomes: Mapping[str, Outcomes]) -> None:
    """The same adapter without a lie passes all of these cases."""
    assert set(outcomes["truth"].values()) == {"pass", "excluded"}


@pytest.mark.parametrize("liar", LIARS)
def test_the_score(liar: str, outcomes: Mapping[str, Outcomes], capsys: pytest.CaptureFixture[str]) -> None:
    """All mutants are caught; the score is printed."""
    lies = LIARS[liar].LIES
    score = sum(outcomes[lie][described.check] == "fail" for lie, described in lies.items())
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(lies)} {liar} were caught by the case that is meant for them")
    assert score == len(lies)
