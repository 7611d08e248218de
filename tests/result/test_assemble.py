"""What was collected becomes a part of the result without loss."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.result.assemble import assemble
from tests.report.sample import sample_outage
from tests.result.records import SMALL, add_case, good_record, profile, store_record, struck


def test_everything_that_was_collected_is_in_the_result() -> None:
    """Outcomes, faults and measurements as they are; counts over every outcome, zeros included."""
    record = good_record()
    add_case(record, "key.two/001", Outcome.ERROR)
    record.outages.append(sample_outage("crash"))
    found = assemble(record, [profile()], SMALL)
    assert found.outcomes == record.outcomes
    assert found.durability.guarantees == record.guarantees
    assert found.measurements == record.measurements
    assert found.outages == record.outages
    assert found.counts == dict.fromkeys(Outcome, 0) | {Outcome.PASS: 3, Outcome.ERROR: 1}
    assert [each.profile for each in found.profiles] == ["small_profile"]
    assert (found.store, found.variant, found.version, found.launch) == ("small", "only", "Small 1.0", None)


def test_capabilities_are_rolled_up_to_their_worst_case() -> None:
    """With the claim beside it; a case that left no outcome is not_run."""
    record = good_record()
    add_case(record, "key.two/001", Outcome.UNDECLARED)
    record.outcomes = [each for each in record.outcomes if not each.id.endswith("one/002")]
    one, two = assemble(record, [], SMALL).capabilities
    assert (one.capability, one.claimed, one.outcome, one.cases, one.passed) == ("key.one", True, Outcome.NOT_RUN, 2, 1)
    assert (two.capability, two.claimed, two.outcome, two.cases, two.passed) == ("key.two", False, Outcome.UNDECLARED, 1, 1)


def test_durability_is_what_held_and_never_more() -> None:
    """Nothing struck proves nothing; a fault that took all proves `volatile`; a missing rung ends the climb."""
    record = store_record("power_loss")
    assert record.durability().proven is None
    record.guarantees = [struck("clean_restart", Outcome.NOT_RUN, rounds=0)]
    assert record.durability().proven is None
    record.guarantees = [struck("clean_restart", Outcome.FAIL)]
    assert record.durability().proven == "volatile"
    record.guarantees = [
        struck("clean_restart", Outcome.PASS),
        struck("process_crash", Outcome.INCONCLUSIVE),
        struck("power_loss", Outcome.PASS),
    ]
    assert record.durability().proven == "clean_restart"
    assert record.durability().rounds == 15


def test_no_password_leaves_the_run() -> None:
    """Neither in a detail, nor in a verdict, nor in a setting that was read back; what a log holds cannot break the report."""
    record = good_record()
    add_case(record, "key.one/001", Outcome.FAIL, "cannot reach redis://:hunter2@host:1 with s3cret \x1b[31m")
    record.guarantees[1] = record.guarantees[1].model_copy(update={"detail": "log: s3cret"})
    record.outages.append(sample_outage("crash", detail="the store died of s3cret"))
    record.settings = {"requirepass": "hunter2", "appendonly": "yes", "save": ""}
    found = assemble(record, [profile()], SMALL, secrets=["s3cret", None])
    text = found.model_dump_json()
    assert "hunter2" not in text
    assert "s3cret" not in text
    assert found.settings == {"requirepass": "***", "appendonly": "yes", "save": ""}
    assert found.outcomes[-1].detail == "cannot reach redis://:***@host:1 with *** \\x1b[31m"


def test_a_rung_that_was_not_tried_carries_none_above_it() -> None:
    """`-k process_crash` alone shows nothing of the clean restart below it: only the two together prove the crash."""
    record = store_record()
    record.guarantees = [struck("process_crash", Outcome.PASS)]
    assert (record.durability().proven, record.durability().shown) == (None, "not tried")
    record.guarantees = [struck("process_crash", Outcome.FAIL)]
    assert (record.durability().proven, record.durability().shown) == (None, "not tried")
    record.guarantees = [struck("clean_restart", Outcome.EXCLUDED, rounds=0), struck("process_crash", Outcome.PASS)]
    assert (record.durability().proven, record.durability().shown) == (None, "not tried")
    record.guarantees = [struck("clean_restart", Outcome.INCONCLUSIVE), struck("process_crash", Outcome.PASS)]
    assert (record.durability().proven, record.durability().shown) == (None, "not proven")
    record.guarantees = [struck("clean_restart", Outcome.PASS), struck("process_crash", Outcome.PASS)]
    assert record.durability().proven == "process_crash"
