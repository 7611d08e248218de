"""Stores that lie about the order of things: who reads what when several write at once, and what belongs together.

Each is an adapter over the embedded store; the true one passes beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from storeproof import native_support
from tests.end_to_end.running import Run, leaves_nothing, lying_store, start

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")]

MEANT = {
    "stale_under_load": "linearizable.register",
    "racing_comparison": "linearizable.compare-and-set",
    "racing_increment": "linearizable.counter",
}
"""The check that must see through each lie."""


def failed(store: Mapping[str, Any]) -> set[str]:
    """The cases that failed."""
    return {outcome["id"] for outcome in store["outcomes"] if outcome["outcome"] == "fail"}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The true store and the mutants, in one run."""
    folder = tmp_path_factory.mktemp("orders")
    mutants = [lying_store(folder, mutant) for mutant in MEANT]
    cases = {f"{mutant.replace('_', '-')}:wal-full": [check] for mutant, check in MEANT.items()}
    cases["sqlite:wal-full"] = list(MEANT.values())
    arguments = ("--store=sqlite", *mutants, "--no-verify-settings", "-q")
    done = start(folder, *arguments, suites="correctness/test_linearizability.py", cases=cases, pages=True)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(folder)
    return done


def store(done: Run, name: str) -> Mapping[str, Any]:
    """The result of one of them."""
    found: Mapping[str, Any] = next(each for each in done.result["stores"] if each["store"] == name.replace("_", "-"))
    return found


@pytest.mark.parametrize("mutant", MEANT)
def test_the_lie_is_caught_by_the_check_that_is_meant_for_it_and_drawn(mutant: str, tried: Run) -> None:
    """The smallest part of its history is in the result, with the answer that contradicts the others, and in the page."""
    found = store(tried, mutant)
    assert MEANT[mutant] in failed(found), found["outcomes"]
    history = next(each for each in found["histories"] if each["case"] == MEANT[mutant])
    assert sum(access["contradicts"] for access in history["accesses"]) == 1
    assert 2 <= len(history["accesses"]) <= 12 < history["operations"]
    assert '<figure class="history">' in (tried.folder / "report" / "report.html").read_text()


def test_the_true_store_raises_no_alarm(tried: Run) -> None:
    """Three checks, three passes, and nothing to draw."""
    found = store(tried, "sqlite")
    assert {outcome["outcome"] for outcome in found["outcomes"] if outcome["id"].startswith("linearizable.")} == {"pass"}
    assert found["histories"] == []


def test_a_batch_that_is_written_record_by_record_is_split_by_a_kill(tmp_path: Path) -> None:
    """Nothing that was acknowledged is lost: only that a part of a batch is there shows the lie."""
    done = start(tmp_path, lying_store(tmp_path, "split_batch"), "-q", "-k", "test_guarantee and process_crash", suites="durability")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(tmp_path)
    (guarantee,) = store(done, "split_batch")["durability"]["guarantees"]
    harm = {name: guarantee[name] for name in ("lost", "resurrected", "reverted", "torn", "invented", "miscounted") if guarantee[name]}
    assert guarantee["split"] > 0
    assert harm == {}
