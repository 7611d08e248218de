"""Stores that lie: every one must be caught, by the check that is meant for it.

Each module beside this file is an adapter over the embedded store that breaks one promise. The trial runs on it as
on any vendor's store, from a store file of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.end_to_end.running import leaves_nothing, lying_store, start

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Mutant:
    """A lie, and the check that must see through it."""

    name: str
    check: str
    claims: tuple[str, ...] = ()
    """Capabilities that the liar claims beyond what SQLite has."""
    finding: str = ""
    """A counter of the durability record that must not be zero."""
    only: str = ""
    """The only model that the liar claims: on a busy machine a fault comes after few operations, and all should be of this one."""

    @property
    def changes(self) -> list[tuple[str, str]]:
        """What its store's file has in place of SQLite's."""
        found = [("    counters: true\n", f"    counters: true\n    {capability}: true\n") for capability in self.claims]
        return [*found, ("  models: [", f"  models: [{self.only}] # [")] if self.only else found


MUTANTS = (
    Mutant("lost_put", "stateful.single_key"),
    Mutant("stale_get", "capabilities.key_access.put-get/002"),
    Mutant("torn_hash", "concurrency.whole/hash10"),
    Mutant("refused_hash", "concurrency.whole/hash10"),
    Mutant("racing_increment", "concurrency.increment"),
    Mutant("resurrected_delete", "durability.clean_restart", finding="resurrected", only="single_key"),
    Mutant("unordered_multi_get", "capabilities.key_access.multi-get/001"),
    Mutant("ignored_expiry", "capabilities.expiry.put-expiring/001", claims=("expiry.put-expiring",)),
    Mutant("truncation_at_nul", "capabilities.key_access.put-get/004"),
    Mutant("normalised_keys", "capabilities.key_access.put-get/008"),
    Mutant("exists_always", "capabilities.key_access.exists/001"),
    Mutant("racing_swap", "concurrency.get-and-set"),
    Mutant("racing_append", "concurrency.append"),
    Mutant("racing_insert", "concurrency.insert-many"),
    Mutant("walk_by_offset", "walk.single_key"),
    Mutant("torn_update", "concurrency.set-fields"),
    Mutant("racing_update", "concurrency.set-paths"),
    Mutant("dropped_field", "durability.clean_restart", finding="torn", only="hash10"),
)
Stores = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """What the trial found: each liar under the check that is meant for it, and the honest store under all of them, in one run."""
    folder = tmp_path_factory.mktemp("mutants")
    mutants = [lying_store(folder, mutant.name, *mutant.changes) for mutant in MUTANTS]
    cases = {f"{mutant.name.replace('_', '-')}:wal-full": [mutant.check] for mutant in MUTANTS}
    cases["sqlite:wal-full"] = sorted({mutant.check for mutant in MUTANTS})
    done = start(folder, "--store=sqlite", *mutants, "--no-verify-settings", "-q", cases=cases)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(folder)
    return {store["store"].replace("-", "_"): store for store in done.result["stores"]}


def caught(mutant: Mutant, stores: Stores) -> bool:
    """Whether the check that is meant for it failed, and for the right reason."""
    store = stores[mutant.name]
    failed = {outcome["id"] for outcome in store["outcomes"] if outcome["outcome"] == "fail"}
    records = [each for each in store["durability"]["guarantees"] if f"durability.{each['guarantee']}" == mutant.check]
    return mutant.check in failed and all(record[mutant.finding] > 0 for record in records)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_lie_is_caught_by_the_check_that_is_meant_for_it(mutant: Mutant, stores: Stores) -> None:
    """Each liar fails its own check, for the right reason."""
    found = {outcome["id"]: outcome["outcome"] for outcome in stores[mutant.name]["outcomes"] if outcome["outcome"] != "excluded"}
    assert caught(mutant, stores), f"{mutant.name} was not caught by {mutant.check}: {found}"
    assert "error" not in found.values(), "what a store does wrong is no error of ours"


def test_the_honest_store_raises_no_alarm(stores: Stores) -> None:
    """SQLite as it is passes all of these checks."""
    found = {outcome["outcome"] for outcome in stores["sqlite"]["outcomes"]}
    assert found == {"pass", "unsupported", "excluded"}


def test_the_score(stores: Stores, capsys: pytest.CaptureFixture[str]) -> None:
    """All mutants are caught; the score is printed."""
    score = sum(caught(mutant, stores) for mutant in MUTANTS)
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(MUTANTS)} lying stores were caught by the check that is meant for them")
    assert score == len(MUTANTS) == 18
