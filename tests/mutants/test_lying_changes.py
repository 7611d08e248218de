"""Stores that lie about what changes: each must be caught by the case that is meant for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.mutants import lying_changes
from tests.mutants.lies import Outcomes, outcomes_of
from tests.mutants.lying_changes import LIES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By lie: what became of each check."""
    checks = {name: lie.check for name, lie in LIES.items()}
    return outcomes_of(checks, Path(lying_changes.__file__), tmp_path_factory.mktemp("lies"))


@pytest.mark.parametrize("lie", LIES)
def test_the_lie_is_caught_by_the_case_that_is_meant_for_it(lie: str, outcomes: Mapping[str, Outcomes]) -> None:
    found = outcomes[lie]
    assert found[LIES[lie].check] == "fail", f"{lie}: {found}"
    assert "error" not in found.values(), "what a store does wrong is no error of ours"


def test_the_honest_store_raises_no_alarm(outcomes: Mapping[str, Outcomes]) -> None:
    assert set(outcomes["truth"].values()) == {"pass", "excluded"}


def test_the_score(outcomes: Mapping[str, Outcomes], capsys: pytest.CaptureFixture[str]) -> None:
    score = sum(outcomes[lie][described.check] == "fail" for lie, described in LIES.items())
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(LIES)} lies about changes were caught by the case that is meant for them")
    assert score == len(LIES)
