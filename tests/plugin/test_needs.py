"""A run for a needs file tries the candidates that the file, the command line and the published results leave, and what they must show."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import yaml

from storeproof.errors import SpecError, UsageError
from storeproof.outcome import Outcome, Stage
from storeproof.plugin.case import SuiteCase
from storeproof.plugin.demands import of_profile
from storeproof.plugin.needs import NeedsRun
from storeproof.plugin.resources import granted
from storeproof.result.json_file import write_result
from storeproof.result.model import Durability, Harm, OutcomeRecord, StoreResult
from storeproof.spec import LADDER, Profile
from tests.result.claimed import result
from tests.result.needs.needed import SHAPE, capability, known
from tests.shipped import SHIPPED

ROLES: dict[str, Any] = {
    "cache": {"model": "single_key", "must": ["expiry.put-expiring"], "load": {"workload": "single-get", "rate": 100}},
    "home": {
        "model": "document10",
        "must": ["sort"],
        "should": [{"any_of": ["paging", "counters"]}],
        "guarantee": "process_crash",
        "lost_at_most": {"power_loss": "1s"},
        "back_within": "10s",
        "load": {"workload": "document10-insert-1", "rate": 100},
    },
}
NAMED = {
    "two": {"cache": "redis:volatile", "home": "mongodb:journaled"},
    "one": {"cache": "mongodb:journaled", "home": "mongodb:journaled"},
}


def needs(tmp_path: Path, *stores: str, candidates: Any = NAMED, roles: dict[str, Any] = ROLES, **more: Any) -> NeedsRun:
    """A run with these stores on the command line."""
    file = tmp_path / "needs.yaml"
    file.write_text(
        yaml.safe_dump(
            {"format": "1.0", "decision": "d", "question": "Which?", "roles": roles, "candidates": candidates, **more}, sort_keys=False
        )
    )
    return NeedsRun(str(file), stores, SHIPPED)


def test_the_stores_are_those_of_the_candidates(tmp_path: Path) -> None:
    """Each once."""
    found = needs(tmp_path)
    assert set(found.stores) == {"redis:volatile", "mongodb:journaled"}
    assert dict(found.candidates) == NAMED


def test_the_command_line_leaves_candidates_of_its_stores_alone(tmp_path: Path) -> None:
    """A store without its variant is the default one, as everywhere."""
    found = needs(tmp_path, "mongodb:journaled")
    assert list(found.candidates) == ["one"]
    assert found.stores == ["mongodb:journaled"]
    assert set(needs(tmp_path, "redis:all", "mongodb:all").stores) == {"redis:volatile", "mongodb:journaled"}


def test_stores_that_no_candidate_has_are_refused(tmp_path: Path) -> None:
    """With the candidates that there are."""
    with pytest.raises(
        UsageError, match="no candidate has its stores among sqlite:off; its candidates have two: redis:volatile, mongodb:j"
    ):
        needs(tmp_path, "sqlite:off")


def test_all_are_those_of_the_command_line(tmp_path: Path) -> None:
    """Each in all roles."""
    found = needs(tmp_path, "redis:volatile", "sqlite:off", candidates="all")
    assert dict(found.candidates) == {name: {"cache": name, "home": name} for name in ("redis:volatile", "sqlite:off")}


@pytest.mark.slow
def test_all_without_a_command_line_are_those_that_the_published_results_do_not_refute(tmp_path: Path) -> None:
    """What is known to miss a need is not tried again unless it is named."""
    roles = {"cache": {"model": "single_key", "must": ["expiry.put-expiring"], "guarantee": "power_loss"}}
    found = needs(tmp_path, candidates="all", roles=roles)
    assert "redis:aof-always" in found.candidates
    assert "redis:volatile" not in found.candidates
    assert "sqlite:wal-full" not in found.candidates


def test_without_published_results_the_stores_are_to_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installation without a checkout."""
    monkeypatch.setattr("storeproof.result.needs.published.REPORTS", tmp_path / "reports")
    with pytest.raises(UsageError, match="names no candidates; give --store for each store that may be one"):
        needs(tmp_path, candidates="all")


def agreeing(target: str, cases: list[OutcomeRecord]) -> StoreResult:
    """A store whose sums are those of its passed cases, as a run writes it: what disagrees is no evidence."""
    none = Durability(claimed="volatile", proven="volatile", guarantees=[], **dict.fromkeys(Harm.model_fields, 0))
    return known(target, cases=cases, capabilities=[], counts={Outcome.PASS: len(cases)}).model_copy(update={"durability": none})


def test_the_answer_rests_on_the_run_and_on_what_it_cites(tmp_path: Path) -> None:
    """A citation is a file, or the folder that holds it; only a candidate that meets everything lets the run pass."""
    roles = {"cache": {"model": "single_key", "must": ["key_access.put-get"]}}
    asked = needs(tmp_path, candidates={"a": {"cache": "redis:volatile"}}, roles=roles)
    shape, keys = known("redis:volatile", cases=[SHAPE]), agreeing("redis:volatile", capability("key_access.put-get"))
    asked.answer(result(shape, run="here"), tmp_path, [])
    assert not asked.met
    assert asked.decision is not None
    assert asked.decision.possible
    write_result(result(keys, run="cited"), tmp_path / "cited" / "result.json")
    for cited in ("cited", "cited/result.json"):
        asked.answer(result(shape, run="here"), tmp_path, [str(tmp_path / cited)])
        assert asked.met, cited


def test_a_run_that_reached_no_store_has_no_answer(tmp_path: Path) -> None:
    """And says so."""
    asked = needs(tmp_path)
    asked.answer(result(known("redis:volatile", version=None), run="here"), tmp_path, [])
    assert not asked.met
    assert "no store that was reached" in asked.undecided


def test_errors_of_the_file_are_told_with_their_lines(tmp_path: Path) -> None:
    """An unknown store of a candidate is one."""
    with pytest.raises(SpecError, match=r"needs\.yaml:\d+: candidates\.a\.cache: .*`reddis`"):
        needs(tmp_path, candidates={"a": {"cache": "reddis:volatile", "home": "mongodb:journaled"}})


def case(name: str, stage: Stage = Stage.CORRECTNESS, **about: Any) -> SuiteCase:
    return SuiteCase(id=name, stage=stage, **about)


WANTED_OF_HOME = [
    case("stateful.document10", model="document10"),
    case("settings.readback"),
    case("durability.process_crash", Stage.DURABILITY, guarantee="process_crash"),
    case("durability.power_loss", Stage.DURABILITY, guarantee="power_loss"),
    case("performance.outage/crash", Stage.PERFORMANCE, fault="crash", beyond_scale=True),
    case("performance.roles/two", Stage.PERFORMANCE, candidate="two"),
]
UNWANTED_OF_HOME = [
    case("capabilities.expiry.put-expiring/001", capability="expiry.put-expiring"),
    case("stateful.hash10", model="hash10"),
    case("durability.full_disk", Stage.DURABILITY),
    case("performance.outage/pause", Stage.PERFORMANCE, fault="pause"),
    case("performance.single-get/0i/4c", Stage.PERFORMANCE, workload="single-get", clients=4),
    case("performance.roles/other", Stage.PERFORMANCE, candidate="other"),
]


def test_a_store_shows_what_its_roles_need(tmp_path: Path) -> None:
    """Capabilities, wished ones too, its model, the faults of its guarantee and losses, an outage, and the loads of its candidates."""
    demands = needs(tmp_path, candidates={"two": NAMED["two"]}).demands("mongodb:journaled")
    names = {each for each in SHIPPED.capabilities if each.partition(".")[0] in ("sort", "paging", "counters")}
    assert demands.capabilities == names
    sort = next(name for name in sorted(names) if name.startswith("sort."))
    assert demands.include(case("capabilities.sort.x/001", capability=sort))
    assert [each.id for each in WANTED_OF_HOME if not demands.include(each)] == []
    assert [each.id for each in UNWANTED_OF_HOME if demands.include(each)] == []
    assert demands.names(WANTED_OF_HOME[4]), "an outage that the scale leaves out is named"
    assert demands.models == {"document10", "single_key"}, "the outage puts and gets single keys"


def test_a_need_of_isolation_has_the_levels_tried(tmp_path: Path) -> None:
    """By all mixes, whatever models they use; without the need no level is tried by records that no role has."""
    tries = case("transactions.isolation/serializable/predicates", model="nested")
    asking = {"cache": ROLES["cache"] | {"isolation": "serializable"}, "home": ROLES["home"]}
    assert needs(tmp_path, roles=asking).demands("redis:volatile").include(tries)
    assert not needs(tmp_path, roles=asking, candidates={"two": NAMED["two"]}).demands("mongodb:journaled").include(tries)
    assert not needs(tmp_path).demands("redis:volatile").include(tries)


def test_a_store_of_several_roles_shows_what_all_of_them_need(tmp_path: Path) -> None:
    """In one candidate or in several."""
    demands = needs(tmp_path).demands("mongodb:journaled")
    assert "expiry.put-expiring" in demands.capabilities
    assert demands.candidates == {"one", "two"}


def test_a_profile_demands_all_that_it_is_judged_by() -> None:
    """Every alternative, what is extended, and its guarantee with all below; no speed and no outage."""
    profile = SHIPPED.profiles["search_store"]
    wanted = {"capabilities": [{"any_of": ["expiry.hidden", "expiry.swept"]}], "extended": ["expiry.set"]}
    demands = of_profile(Profile.model_validate(profile.model_dump(mode="json") | wanted))
    assert demands.capabilities == {"expiry.hidden", "expiry.swept", "expiry.set"}
    assert demands.guarantees == set(LADDER[: LADDER.index(profile.guarantee) + 1])
    for other in (
        case("performance.outage/crash", Stage.PERFORMANCE, fault="crash"),
        case("x", Stage.PERFORMANCE, workload="single-get", clients=50),
    ):
        assert not demands.include(other)
        assert not demands.names(other)


def test_the_machine_of_the_file_is_what_every_store_has(tmp_path: Path) -> None:
    """As if the command line said it; both are one too many."""
    run = needs(tmp_path, machine={"cores": 1, "memory": "64MiB"})
    nothing = Namespace(cores=None, memory=None)
    found = granted(nothing, run, ())
    assert (found.cores, found.memory) == (1, 64 << 20)
    with pytest.raises(UsageError, match=r"needs\.yaml says what its `machine` has; leave out --cores and --memory"):
        granted(Namespace(cores=1, memory=None), run, ())
    large = needs(tmp_path, machine={"cores": 4096, "memory": "64MiB"})
    with pytest.raises(UsageError, match=r"needs\.yaml: machine: --cores 4096: a store can be given 1 to"):
        granted(nothing, large, ())
    assert granted(Namespace(cores=1, memory=None), needs(tmp_path), ()).cores == 1
