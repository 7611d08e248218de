"""What a fault cost: counts as a share, and whether the variant had promised to keep the writes."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.report.parts.losses import Loss, losses_of, nodes_in_words
from storeproof.result.model import WorstLoss
from tests.site.made import fault, struck

FAIL, UNSUPPORTED, PASS = Outcome.FAIL, Outcome.UNSUPPORTED, Outcome.PASS


def only(*faults: Any, claimed: str = "power_loss") -> Loss:
    """Of one fault."""
    (found,) = losses_of(struck("redis:x", *faults, claimed=claimed)).values()
    return found


@pytest.mark.parametrize(
    ("counts", "claimed", "text", "tone"),
    [
        ({}, "power_loss", "0 of 1k", "good"),
        ({"lost": 460, "outcome": UNSUPPORTED}, "volatile", "46 % lost", "near"),
        ({"lost": 460, "outcome": FAIL}, "power_loss", "46 % lost", "bad"),
        ({"lost": 1, "outcome": FAIL}, "power_loss", "< 1 % lost", "bad"),
        ({"torn": 44, "outcome": FAIL}, "power_loss", "44 torn", "bad"),
        ({"faults_with_loss": 1, "outcome": FAIL}, "power_loss", "did not start", "bad"),
        ({"outcome": Outcome.INCONCLUSIVE}, "power_loss", "no verdict", ""),
        ({"outcome": Outcome.ERROR}, "power_loss", "no verdict", ""),
        ({"outcome": FAIL}, "power_loss", "no verdict", ""),
        ({"acknowledged": 0}, "power_loss", "no verdict", ""),
        ({"outcome": Outcome.UNDECLARED}, "volatile", "0 of 1k", "good"),
    ],
)
def test_a_loss_in_words(counts: dict[str, Any], claimed: str, text: str, tone: str) -> None:
    """Red where it was promised, amber where it was not, and good only where something was kept."""
    loss = only(fault("process_crash", counts.pop("outcome", PASS), **counts), claimed=claimed)
    assert (loss.text, loss.tone) == (text, tone)


def test_a_fault_that_never_struck_is_no_evidence() -> None:
    """Without a round there is nothing to show."""
    assert losses_of(struck("redis:x", fault("power_loss", rounds=0))) == {}


def test_a_store_that_did_not_start_is_said_beside_its_loss() -> None:
    """Both happened."""
    worst = WorstLoss(shape="unstartable", records=9, window_ms=1.0)
    assert only(fault("power_loss", FAIL, lost=500, worst_loss=worst)).text == "50 % lost, no start"


def test_what_was_promised_goes_by_the_ladder() -> None:
    """A claim includes all below it; a guarantee of a cluster is promised unless the outcome says that it was not claimed."""
    found = losses_of(struck("redis:x", fault("process_crash"), fault("power_loss"), fault("one_node_crash"), claimed="process_crash"))
    assert {name: loss.promise for name, loss in found.items()} == {
        "process_crash": "promised",
        "power_loss": "not promised",
        "one_node_crash": "promised",
    }
    assert not losses_of(struck("redis:x", fault("one_node_crash", UNSUPPORTED)))["one_node_crash"].promised


def test_other_findings_are_counted() -> None:
    """With their names."""
    loss = only(fault("process_crash", FAIL, lost=3, torn=1200, split=6))
    assert loss.changed == "1,200 torn, 6 split"


def test_what_a_cluster_survived_is_said_though_no_rung_was_tried() -> None:
    """Its faults are beside the ladder."""
    faults = [fault("node_loss", rounds=15), fault("partition", rounds=30), fault("one_node_crash", rounds=0)]
    durability = struck("redis:x", *faults).durability.model_copy(update={"proven": None})
    assert (durability.shown, nodes_in_words(durability)) == ("not tried", "survived node_loss and partition in 45 faults")
    durability = struck("redis:x", faults[0], fault("partition", UNSUPPORTED, rounds=30, lost=3)).durability
    assert nodes_in_words(durability) == "survived node_loss in 15 faults; did not survive partition in 30 faults"
