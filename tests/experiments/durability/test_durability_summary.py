"""What the rounds say of a store, and how it is told."""

from __future__ import annotations

import pytest

from storeproof.check import Anomaly, Finding, Losses, Shape
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.outcome import Outcome

NOTHING = Losses(Shape.NOTHING, 0, 0.0)


def summary(*anomalies: Anomaly, broken: str = "", idle: tuple[str, ...] = ()) -> DurabilitySummary:
    """Of one key per anomaly."""
    made = DurabilitySummary(streams=5, clients=8, acknowledged=100, unknown=3, broken=broken, idle=list(idle), recoveries=[0.5, 0.25])
    made.add([Finding("single_key", f"k{n}", anomaly, "absent") for n, anomaly in enumerate(anomalies)], NOTHING)
    return made


@pytest.mark.parametrize(
    ("found", "claimed", "unclaimed"),
    [
        (summary(Anomaly.OK), Outcome.PASS, Outcome.UNDECLARED),
        (summary(Anomaly.OK, Anomaly.LOST), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.RESURRECTED), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.REVERTED), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.TORN), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.MISCOUNTED), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.SPLIT), Outcome.FAIL, Outcome.UNSUPPORTED),
        (summary(Anomaly.INVENTED), Outcome.FAIL, Outcome.FAIL),
        (summary(Anomaly.OK, broken="it did not start"), Outcome.FAIL, Outcome.FAIL),
        (summary(Anomaly.OK, idle=("nothing was acknowledged",)), Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE),
        (summary(Anomaly.LOST, idle=("nothing was acknowledged",)), Outcome.FAIL, Outcome.UNSUPPORTED),
    ],
)
def test_the_outcome_follows_from_claim_and_findings(found: DurabilitySummary, claimed: Outcome, unclaimed: Outcome) -> None:
    """Loss is a failure of those who promised; invention and death are everybody's; missing evidence is never a pass."""
    assert (found.outcome(claimed=True), found.outcome(claimed=False)) == (claimed, unclaimed)


def test_on_the_disk_that_a_power_cut_has_left_only_a_claim_makes_a_failure() -> None:
    """Its maker may say that data can be damaged then; not so after kill -9."""
    found = summary(Anomaly.OK, broken="it did not start")
    found.damaging = True
    assert (found.outcome(claimed=True), found.outcome(claimed=False)) == (Outcome.FAIL, Outcome.UNSUPPORTED)


def test_the_record_counts_each_kind_of_harm() -> None:
    """One field each, none folded into another."""
    record = summary(*Anomaly).record("process_crash", Outcome.FAIL, "detail")
    assert (record.lost, record.resurrected, record.reverted, record.torn, record.invented, record.miscounted, record.split) == (1,) * 7
    assert (record.rounds, record.acknowledged, record.unknown, record.recovery_seconds) == (5, 100, 3, [0.5, 0.25])


def test_the_detail_names_at_risk_harm_window_and_first_keys() -> None:
    """What a vendor needs to begin with; three keys, not three thousand."""
    found = summary(Anomaly.OK, *[Anomaly.LOST] * 9)
    found.losses.append(Losses(Shape.SUFFIX, 9, 86.4))
    text = found.detail()
    assert "faults: 5 under a stream of 8 clients; 100 operations acknowledged, 3 unknown" in text
    assert "9 lost" in text
    assert "worst window 86 ms with 9 operations, suffix" in text
    assert text.count("found absent") == 3
    assert "recovery 0.25 to 0.50 s" in text


def test_a_clean_detail_says_of_how_many_keys_nothing_was_lost() -> None:
    """A pass has a denominator too."""
    assert "nothing lost of 2 keys" in summary(Anomaly.OK, Anomaly.OK).detail()


def test_tables_that_want_repair_break_a_promise_only_where_it_was_made() -> None:
    """An engine without crash recovery answers with errors after a kill: that is what it does not claim to survive."""
    damaged = summary(Anomaly.OK, broken="after the start it does not work: table is crashed")
    damaged.needs_repair = True
    assert damaged.outcome(claimed=True) is Outcome.FAIL
    assert damaged.outcome(claimed=False) is Outcome.UNSUPPORTED


def test_a_cut_names_what_it_was_cut_of() -> None:
    """The methods differ in what they are stricter about, so that a verdict is worth what its method is."""
    cut = summary(Anomaly.OK)
    cut.power_cut_method = "ext4 on a loop device"
    assert "a stream of 8 clients, by ext4 on a loop device; " in cut.detail()
    assert cut.record("power_loss", Outcome.PASS, "").power_cut_method == "ext4 on a loop device"
    assert summary(Anomaly.OK).record("process_crash", Outcome.PASS, "").power_cut_method is None


def test_each_fault_that_costs_something_is_a_finding_with_its_number_and_load() -> None:
    """A known failure names some of them: what another fault costs, or how, is then another finding."""
    found = DurabilitySummary()
    found.count("burst")
    found.add([Finding("row", 1, Anomaly.LOST, "absent"), Finding("hash10", "k", Anomaly.LOST, "absent")], Losses(Shape.SUFFIX, 2, 5.0))
    found.count("stream")
    found.add([Finding("row", 2, Anomaly.OK, "1:1")], NOTHING)
    found.count("stream")
    found.count("stream", -1)  # spoiled
    found.count("compaction")
    found.breaks("unstartable: it ended", "a\nthe log's last line")
    first = "fault 1, burst: 2 lost of hash10, row; 2 operations within 5 ms, suffix"
    last = "fault 3, compaction: unstartable: it ended"
    assert list(map(str, found.findings)) == [first, f"{last}; its log: a\nthe log's last line"]
    assert list(map(str, found.unexcused)) == [f"{last}; its log: a\nthe log's last line"], "loss breaks no promise that was not made"
    assert f"by fault: {first} | {last}; " in found.detail()
    lost, broken = found.findings
    assert (lost.kinds, lost.load, lost.models, lost.shape, lost.said) == (
        frozenset({"lost"}),
        "burst",
        frozenset({"hash10", "row"}),
        "suffix",
        "",
    )
    assert (broken.kinds, broken.load, broken.shape) == (frozenset({"unstartable"}), "compaction", None)
    assert broken.said == "unstartable: it ended; its log: a\nthe log's last line"
    assert found.lossy == 2


def test_a_table_that_wants_repair_is_a_finding_only_of_who_promised() -> None:
    """Without a claim, a table that needs repair after a fault is no finding."""
    found = DurabilitySummary(needs_repair=True)
    found.count("bulk")
    found.breaks("after the start it does not work: table is crashed", "")
    assert [(str(each), each.kinds) for each in found.findings] == [
        ("fault 1, bulk: after the start it does not work: table is crashed", frozenset({"unusable"}))
    ]
    assert found.unexcused == []
