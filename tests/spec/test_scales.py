"""Scales: which fault strikes in which round."""

from __future__ import annotations

from storeproof.spec.scale import DurabilityScale
from tests.shipped import SHIPPED

SCALE = DurabilityScale(rounds=5, clients=1, load_seconds=(0.1, 0.2))


def test_faults_take_turns_and_further_ones_drop_out_when_they_had_theirs() -> None:
    """The first fault of a guarantee strikes in all rounds; without a number the others do too."""
    assert SCALE.turns(["a"]) == ["a"] * 5
    assert SCALE.turns(["a", "b"]) == ["a", "b"] * 5
    fewer = SCALE.model_copy(update={"further_rounds": 2})
    assert fewer.turns(["a", "b", "c"]) == ["a", "b", "c", "a", "b", "c", "a", "a", "a"]
    assert SCALE.model_copy(update={"further_rounds": 9}).turns(["a", "b"]) == ["a", "b"] * 5


def test_a_cluster_is_struck_at_smoke_scale_no_more_often_than_before_it_had_its_newest_faults() -> None:
    """35 rounds of both guarantees together; each fault strikes more than once, and five times at the scale for decisions."""
    struck = {
        scale: [SHIPPED.scales[scale].durability.turns([of.fault, *of.further_faults]) for of in guarantees]
        for scale in ("smoke", "standard")
        for guarantees in [[SHIPPED.guarantees["node_loss"], SHIPPED.guarantees["partition"]]]
    }
    assert sum(map(len, struck["smoke"])) <= 35
    assert {min(map(turns.count, turns)) for turns in struck["smoke"]} == {2}
    assert {turns.count(fault) for turns in struck["standard"] for fault in turns} == {5}
