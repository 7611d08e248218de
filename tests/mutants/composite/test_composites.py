"""Composite stores that invalidate wrongly are caught by the check for stale reads; one with a lock for each key raises no alarm.

Both servers are the embedded store, so that the suites run as on any composite store, without a server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from storeproof.spec.cases import OF_COMPOSITES
from tests.end_to_end.running import Run, leaves_nothing, start
from tests.mutants.composite.files import composite_file

pytestmark = pytest.mark.slow

STALE = ("stale_reads.single_key", "stale_reads.hash10")
HONEST = (
    *STALE,
    "linearizable.register",
    "linearizable.compare-and-set",
    "linearizable.counter",
    "concurrency.compare-and-set",
    "concurrency.whole/hash10",
    "stateful.single_key",
    "stateful.hash10",
    "pushdown.get_field/hash10",
    "settings.readback",
    "durability.process_crash",
    "durability.front_kill",
    "durability.home_kill",
    "durability.front_link/reset",
    "durability.home_link/reset",
    "durability.both_links/reset",
)
DECLARED = ("settings.readback", "stale_reads.single_key", "linearizable.register", "linearizable.compare-and-set")
BEHIND = (
    "settings.readback",
    "stale_reads.hash10",
    "linearizable.register",
    "stateful.hash10",
    "durability.process_crash",
    "durability.front_kill",
    "durability.home_kill",
    "durability.home_link/reset",
)
PROVES = "stateful.single_key"
CACHE = ("cache.cold_start", "cache.dogpile")
Outcomes = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of all of them."""
    folder = tmp_path_factory.mktemp("composites")
    files = [
        composite_file(folder, "never-invalidates", "write-through", "never_invalidates"),
        composite_file(folder, "invalidates-first", "cache-aside", "invalidates_first"),
        composite_file(folder, "unlocked", "read-through", "unlocked", stale=True),
        composite_file(folder, "write-through", "write-through"),
        composite_file(folder, "declared", "cache-aside", stale=True),
        composite_file(folder, "behind", "write-behind", promises="process_crash"),
        composite_file(folder, "forgets", "write-behind", "forgets", promises="process_crash"),
    ]
    cases = {
        "sqlite:wal-full": ["settings.readback"],
        "never-invalidates:plain": [STALE[0]],
        "invalidates-first:plain": [STALE[1]],
        "unlocked:plain": [PROVES, "cache.dogpile"],
        "write-through:plain": [*HONEST, *CACHE],
        "declared:plain": list(DECLARED),
        "behind:plain": list(BEHIND),
        "forgets:plain": ["durability.home_kill"],
    }
    run = start(folder, "--store=sqlite", *(f"--store={path}" for path in files), "-q", cases=cases, rounds=1)
    assert run.code == pytest.ExitCode.TESTS_FAILED, run.said
    leaves_nothing(folder)
    return run


@pytest.fixture(scope="module")
def outcomes(done: Run) -> Mapping[str, Outcomes]:
    """By store and case, what was not excluded."""
    return {
        store["store"]: {each["id"]: each for each in store["outcomes"] if each["outcome"] != "excluded"} for store in done.result["stores"]
    }


@pytest.mark.parametrize(("mutant", "case"), [("never-invalidates", STALE[0]), ("invalidates-first", STALE[1])])
def test_a_wrong_order_is_caught(mutant: str, case: str, outcomes: Mapping[str, Outcomes]) -> None:
    """By stale reads, with their number and their age."""
    found = outcomes[mutant][case]
    assert found["outcome"] == "fail", found
    assert re.search(r"were stale, in [12] of 2 rounds; their age was", found["detail"]), found["detail"]


def test_one_lock_for_each_key_raises_no_alarm(outcomes: Mapping[str, Outcomes]) -> None:
    """Neither by stale reads nor by histories, nor when one of its servers is killed or cut off."""
    found = {name: each["outcome"] for name, each in outcomes["write-through"].items()}
    assert found == dict.fromkeys((*HONEST, *CACHE), "pass"), outcomes["write-through"]
    assert "2 rounds, " in outcomes["write-through"]["stale_reads.hash10"]["detail"]
    assert "none was stale" in outcomes["write-through"]["stale_reads.hash10"]["detail"]


def test_a_policy_that_lets_all_clients_fill_a_copy_is_caught(outcomes: Mapping[str, Outcomes]) -> None:
    """By the number of reads that reach the home when a hot key expires."""
    found = outcomes["unlocked"]["cache.dogpile"]
    assert found["outcome"] == "fail", found
    assert "read-through lets one client fill a copy, but 20 expiries of one key" in found["detail"]


def test_what_the_cache_does_is_in_the_result(done: Run) -> None:
    """Every number, of the store that was measured alone."""
    stores = {each["store"]: each["cache"] for each in done.result["stores"]}
    assert stores["declared"] == {"hit_rates": [], "cold_starts": [], "dogpiles": []}
    (cold,) = stores["write-through"]["cold_starts"]
    assert cold["hit_rate_before"] == 1
    assert sum(each["hits"] for each in cold["bins"]) > 0
    (dogpile,) = stores["write-through"]["dogpiles"]
    assert (dogpile["expiries"], dogpile["home_reads_median"]) == (20, 1)
    assert stores["unlocked"]["dogpiles"][0]["home_reads_median"] > 1


def test_what_is_declared_is_no_failure_and_is_measured(outcomes: Mapping[str, Outcomes]) -> None:
    """Without a lock reads may be stale: the variant says so, and the case says what was seen."""
    found = outcomes["declared"]
    assert found["settings.readback"]["outcome"] == "pass"
    stale = found["stale_reads.single_key"]
    assert stale["outcome"] == "unsupported"
    assert stale["detail"].endswith("\nstale reads are declared as possible")
    assert "were stale" in stale["detail"] or "not seen in " in stale["detail"]
    assert {found[name]["outcome"] for name in DECLARED if name.startswith("linearizable.")} <= {"pass", "unsupported"}


def test_write_behind_is_right_while_the_front_keeps_its_queue(outcomes: Mapping[str, Outcomes]) -> None:
    """Nothing is stale, and nothing is lost by a kill: this front has its files. What no promise covers is tried, and told."""
    found = {name: each["outcome"] for name, each in outcomes["behind"].items()}
    link = found.pop("durability.home_link/reset")
    assert found == dict.fromkeys(set(BEHIND) - {"durability.home_link/reset"}, "pass"), outcomes["behind"]
    assert link in ("undeclared", "unsupported")


def test_a_queue_that_forgets_what_the_home_did_not_get_is_caught(outcomes: Mapping[str, Outcomes]) -> None:
    """By a kill of the home, while the front has all that waits."""
    found = outcomes["forgets"]["durability.home_kill"]
    assert found["outcome"] == "fail", found
    assert " lost" in found["detail"]


def test_a_store_that_is_one_server_has_no_cases_of_composite_stores(done: Run) -> None:
    """Neither tried nor left out."""
    ids = {store["store"]: {each["id"] for each in store["outcomes"]} for store in done.result["stores"]}
    of_composites = {name for name in ids["write-through"] if name in OF_COMPOSITES}
    assert of_composites == OF_COMPOSITES
    assert not of_composites & ids["sqlite"]
    assert "durability.process_crash" in ids["sqlite"]


def test_settings_of_both_servers_are_in_the_result(done: Run) -> None:
    """Each under its role, and the options of the layer; the version names both."""
    (store,) = [each for each in done.result["stores"] if each["store"] == "write-through"]
    assert store["settings"]["home.synchronous"] == "FULL"
    assert store["settings"]["front.synchronous"] == "OFF"
    assert (store["settings"]["policy"], store["settings"]["invalidate"]) == ("write-through", "delete")
    assert store["version"].startswith("SQLite over SQLite 3.")
    assert store["launch"] == "process"
