"""Stores that answer requests wrongly: each must be caught by the case that is meant for it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.mutants.lying_queries import LIES
from tests.trial.running import leaves_nothing, lying_store, start

pytestmark = pytest.mark.slow

Outcomes = Mapping[str, str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By lie: what became of each check. One run for all: a lie is a variant of the lying store."""
    folder = tmp_path_factory.mktemp("lies")
    variants = "".join(
        f"  {lie}: {{settings: {{journal_mode: wal}}, options: {{lie: {lie}}}, guarantee: volatile{', default: true' if not number else ''}}}\n"
        for number, lie in enumerate(LIES)
    )
    store = lying_store(folder, "lying_queries")
    path = folder / "lying_queries.yaml"
    before, _, rest = path.read_text().partition("variants:\n")
    claims = rest[rest.index("claims:\n") :]
    path.write_text(f"{before}variants:\n{variants}{claims}")
    checks = " or ".join(sorted({lie.check for lie in LIES.values()}))
    done = start(folder, f"{store}:all", "--store=sqlite", "--no-verify-settings", "-q", "-k", checks, suites="correctness")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(folder)
    return {
        store["variant"]: {
            outcome["id"].removeprefix("capabilities."): outcome["outcome"]
            for outcome in store["outcomes"]
            if outcome["outcome"] != "excluded"
        }
        for store in done.result["stores"]
    }


@pytest.mark.parametrize("lie", LIES)
def test_the_lie_is_caught_by_the_case_that_is_meant_for_it(lie: str, outcomes: Mapping[str, Outcomes]) -> None:
    found = outcomes[lie]
    assert found[LIES[lie].check] == "fail", f"{lie}: {found}"
    assert "error" not in found.values(), "what a store does wrong is no error of ours"


def test_the_honest_store_raises_no_alarm(outcomes: Mapping[str, Outcomes]) -> None:
    (honest,) = (found for variant, found in outcomes.items() if variant not in LIES)
    assert set(honest.values()) == {"pass"}


def test_the_score(outcomes: Mapping[str, Outcomes], capsys: pytest.CaptureFixture[str]) -> None:
    score = sum(outcomes[lie][described.check] == "fail" for lie, described in LIES.items())
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(LIES)} wrong answers to requests were caught by the case that is meant for them")
    assert score == len(LIES)
