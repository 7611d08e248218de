"""Stores that tear a transaction apart which is one request are caught by random ones, and the honest one raises no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.blame import CaseEnding
from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from tests.mutants.transactions import whole_requests
from tests.mutants.transactions.test_weak_isolation import MIX, store_file, tried
from tests.mutants.transactions.whole_requests import LIES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has a variant for each lie, and one for the truth."""
    return store_file(tmp_path_factory.mktemp("whole"), whole_requests.__file__, LIES)


@pytest.mark.parametrize("lie", LIES)
def test_a_transaction_that_is_torn_apart_is_caught(mutants: Path, lie: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Another one comes in between, and its update is lost."""
    summary = tried(mutants, lie)
    seen = {each.kind: each.after for each in summary.anomalies if each.forbidden}
    with capsys.disabled():
        print(f"\n{lie}: {', '.join(f'{kind} after {after} commits' for kind, after in seen.items())}")
    assert summary.ending is CaseEnding.WRONG_ANSWER, summary.detail()
    assert "lost-update" in seen, summary.detail()


def test_one_that_is_whole_raises_no_alarm(mutants: Path) -> None:
    """Enough are contended to say so. None is rolled back, although the mix asks for it: a request is done or refused."""
    assert MIX.rolled_back > 0
    summary: IsolationSummary = tried(mutants, "truth")
    assert summary.ending is CaseEnding.RIGHT, summary.detail()
    assert (summary.anomalies, summary.outcomes["refused"]) == ([], 0)
