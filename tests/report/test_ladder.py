"""The table of the ladder: the rungs, and beside them what a cluster promises of its nodes."""

from __future__ import annotations

import random

import pytest

from storeproof.outcome import Outcome
from storeproof.report import tables
from storeproof.result.model import Citation, Result, StoreResult
from tests.report.sample import sample_guarantee, sample_result


def cluster(store: StoreResult) -> StoreResult:
    """It kept all when one node was killed, and not when all were, which it did not claim."""
    rng = random.Random(1)
    beside = [sample_guarantee("one_node_crash", Outcome.PASS, 0, rng), sample_guarantee("all_nodes_crash", Outcome.UNSUPPORTED, 7, rng)]
    durability = store.durability.model_copy(update={"guarantees": [*store.durability.guarantees, *beside]})
    return store.model_copy(update={"topology": "cluster", "durability": durability})


def result() -> Result:
    sample = sample_result()
    return sample.model_copy(update={"stores": [cluster(sample.stores[0]), *sample.stores[1:]]})


def test_nodes_stand_beside_the_ladder_where_a_cluster_was_tried() -> None:
    """What was claimed, what was lost without a claim, and single servers, which have no nodes."""
    table = tables.ladder(result())
    assert table.header[-2:] == ("one_node_crash", "all_nodes_crash")
    first, second = ([cell.text for cell in row[-2:]] for row in table.rows[:2])
    assert first[0].startswith("✔ pass (none of 5 faults")
    assert first[1].startswith("not promised: 9 of 15,840 operations (< 1 %); records: 7 lost, 1 torn (1 of 5 faults lost anything")
    assert second == ["not claimed", "not claimed"]


def test_without_a_cluster_there_are_no_such_columns() -> None:
    """They would be empty."""
    assert "one_node_crash" not in tables.ladder(sample_result()).header


def test_it_is_said_that_the_nodes_of_a_cluster_share_the_machine() -> None:
    """Where they do: an endpoint's nodes are elsewhere, and a single server has none."""
    sample = sample_result()

    def said(**changes: object) -> bool:
        changed = sample.model_copy(update={"stores": [sample.stores[0].model_copy(update=changes)]})
        return any(row[0].text == "nodes of a cluster" for row in tables.machine(changed).rows)

    assert said(topology="cluster", launch="container")
    assert not said(topology="cluster", launch="endpoint")
    assert not said(topology="single", launch="container")


def test_what_nodes_lose_unclaimed_does_not_refute_the_rung_that_was_claimed() -> None:
    """The colour of the proven rung speaks of the ladder alone."""
    sample = sample_result().stores[0]
    assert tables.proven_cell(cluster(sample)) == tables.proven_cell(sample)


@pytest.mark.parametrize(("defect", "tone"), [("", "open"), ("power_loss is claimed and not kept: x", "bad")])
def test_a_cited_guarantee_is_shown_as_cited(defect: str, tone: str) -> None:
    """With the run that proved it; below the claim it is open, or refuted there."""
    sample = sample_result().stores[0]
    cited = Citation(run="r1", started="2026-11-24", scale="full", seed=3, sha256="", defect=defect)
    durability = {"claimed": "power_loss", "proven": "process_crash", "guarantees": [], "cited": cited}
    store = sample.model_copy(update={"durability": sample.durability.model_copy(update=durability)})
    cell = tables.proven_cell(store)
    assert (cell.text, cell.tone) == ("process_crash (cited)", tone)
    assert cell.hint == "by run r1 of 2026-11-24, scale full, seed 3"


def test_the_program_is_shown_beside_the_settings() -> None:
    """By the digest of its image or of its binary."""
    sample = sample_result()

    def shown(**changes: object) -> str:
        changed = sample.model_copy(update={"stores": [sample.stores[0].model_copy(update=changes)]})
        return tables.settings(changed).rows[0][-1].text

    assert shown() == "–"
    assert shown(binary_digest="sha256:ab") == "sha256:ab"
    assert shown(image_digest="sha256:cd") == "sha256:cd"


def test_a_cluster_has_its_failover_beside_the_verdict() -> None:
    """Of the loss of a primary and of a partition; a node that starts again takes over from no one."""
    sample = sample_result()
    rng = random.Random(1)
    beside = [sample_guarantee(name, Outcome.PASS, 0, rng) for name in ("one_node_crash", "partition")]
    beside = [each.model_copy(update={"recovery_seconds": [2.0, 6.0, 3.0]}) for each in beside]
    durability = sample.stores[0].durability.model_copy(update={"guarantees": beside})
    first = sample.stores[0].model_copy(update={"topology": "trio", "durability": durability})
    crash, partition = (cell.text for cell in tables.ladder(sample.model_copy(update={"stores": [first]})).rows[0][-2:])
    assert "failover" not in crash
    assert partition.endswith("; failover 3 s, at most 6 s")
    timed = sample.model_copy(update={"stores": [first.model_copy(update={"timeouts": {"wait": "2000"}})]})
    assert tables.ladder(timed).rows[0][-1].text.endswith("; failover 3 s, at most 6 s, by wait = 2000")
    assert "wait = 2000" in tables.settings(timed).rows[0][-3].text
