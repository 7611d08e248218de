"""A result that was changed after its run does not agree with itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storeproof.outcome import Outcome, count
from storeproof.result.consistency import inconsistencies
from storeproof.result.json_file import read_result
from storeproof.result.measured.cluster_round import case_rounds
from storeproof.result.model import CapabilityResult, Harm, Result
from storeproof.result.needs.published import published_results
from tests.report.clusters import cluster_round, parts, span
from tests.result.claimed import around, number, result
from tests.result.needs.needed import case, known, struck

PUBLISHED = published_results()


def whole() -> Result:
    """A result as a run writes it."""
    cases = [case("capabilities.key.one/001"), case("capabilities.key.one/002")]
    faults = [struck("clean_restart"), struck("process_crash")]
    store = known("redis:aof-always", number("single-get", *around(1000)), cases=cases, faults=faults)
    sums = {name: sum(getattr(each, name) for each in faults) for name in Harm.model_fields}
    durability = store.durability.model_copy(update=sums | {"proven": "process_crash", "cited": None})
    rolled = CapabilityResult(capability="key.one", claimed=True, outcome=Outcome.PASS, cases=2, passed=2)
    update = {"durability": durability, "counts": count(each.outcome for each in cases), "capabilities": [rolled]}
    return result(store.model_copy(update=update))


def test_a_result_as_it_is_written_agrees_with_itself() -> None:
    """Or every change would be hidden in noise."""
    assert inconsistencies(whole()) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, None),
        ({"spans": [span("n1", "during", 10, 6, 5)], "course": []}, "of 10 acknowledged writes 6 were found and 5 lost"),
        ({"spans": [span("n1", "during", 1644, 0, 899)]}, "the course of a round does not have the lost writes of its spans"),
        ({"failover": parts()}, None),
        ({"failover": parts(elected_second=None, before_second=None)}, None),
        (
            {"failover": parts(detected_second=1.6)},
            "the parts of a failover of isolate_primary are out of order: -0.1 s, 1.6 s, 1.5 s, 2 s",
        ),
        ({"failover": parts(elected_second=2.1)}, "are out of order: -0.1 s, 1 s, 2.1 s, 2 s"),
        ({"failover": parts(before_second=1.6)}, "are out of order: -0.1 s, 1.6 s, 1.5 s, 2 s"),
        ({"failover": parts(promoted_by="storeproof")}, "a failover of isolate_primary was detected, and storeproof promoted"),
        ({"failover": parts(), "failover_second": None}, "a failover of isolate_primary has parts, and no other node took writes"),
        ({"spans": [span("n1", "during", 10_000_000)], "course": []}, "its rounds have 10000000 acknowledged writes of 15840"),
    ],
)
def test_a_round_on_a_cluster_that_was_changed_is_found(changed: dict[str, Any], words: str | None) -> None:
    """Its sums are at most those of the fault, and the picture's are those of the table."""
    record = cluster_round("isolate_primary", span("n1", "during", 900, 0, 900)).model_copy(update=changed)
    store = whole().stores[0]
    faults = [*store.durability.guarantees[:-1], store.durability.guarantees[-1].model_copy(update={"cluster_rounds": [record]})]
    durability = store.durability.model_copy(update={"guarantees": faults})
    found = inconsistencies(result(store.model_copy(update={"durability": durability})))
    assert found == [] if words is None else any(words in each for each in found), found


def test_a_round_of_reads_that_was_changed_is_found() -> None:
    """As one of writes."""
    store = whole().stores[0]
    changed = cluster_round("isolate_primary", span("n1", "during", 10, 6, 5), course=[])
    case = case_rounds("durability.sessions/partition", "reads", [changed]).model_copy(update={"lossy": {"isolate_primary": 2}})
    durability = store.durability.model_copy(update={"failovers": [case]})
    first, second = inconsistencies(result(store.model_copy(update={"durability": durability})))
    assert first.endswith("durability.sessions/partition: of 10 acknowledged reads 6 were found and 5 lost")
    assert second.endswith("isolate_primary has 2 rounds with losses of 1")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("measurements", 0, "throughput", "median"), 5000.0, "the median is 5000, and that of its rounds 1000"),
        (("measurements", 0, "rounds", 0, "throughput"), 9000.0, "the median is 1000, and that of its rounds 1010"),
        (("measurements", 0, "throughput", "low"), 1001.0, "is outside its interval"),
        (("outcomes", 0, "outcome"), "fail", "cases are counted as"),
        (("capabilities", 0, "passed"), 1, "key.one has 1 passed cases, and 2 are listed"),
        (("durability", "proven"), "power_loss", "power_loss is proven, and the faults show process_crash"),
        (("durability", "guarantees", 1, "lost"), 3, "durability has 0 lost, and its faults have 3"),
        (("durability", "guarantees", 1, "faults_with_loss"), 30, "lost writes in 30 of 20 faults"),
    ],
)
def test_a_value_that_was_changed_by_hand_is_found(path: tuple[Any, ...], value: Any, words: str) -> None:
    """One number is enough."""
    data = whole().model_dump(mode="json")
    place = data["stores"][0]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    found = inconsistencies(Result.model_validate(data))
    assert any(words in each for each in found), found


@pytest.mark.parametrize("path", PUBLISHED, ids=[each.parent.name for each in PUBLISHED])
def test_published_results_agree_with_themselves(path: Path) -> None:
    """Parts that were left out of them are left out whole."""
    assert inconsistencies(read_result(path)) == []
