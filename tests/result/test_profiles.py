"""The truth table of profiles: conforms only where everything was shown; refuted beats missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.measurement import Measurement
from storeproof.result.model import OutcomeRecord, ProfileVerdict
from storeproof.result.profiles import judge
from storeproof.result.recorder import StoreRecord
from storeproof.spec import LADDER, Profile
from storeproof.spec.cases import metadata_case
from tests.report.sample import DRIFTING
from tests.result.records import BASIC, SMALL, add_case, add_proof, good_record, measured, profile, store_record, struck

VERDICT = {
    Outcome.PASS: "conforms",
    Outcome.UNDECLARED: "conforms",
    Outcome.FAIL: "does_not_conform",
    Outcome.UNSUPPORTED: "does_not_conform",
    Outcome.ERROR: "incomplete",
    Outcome.INCONCLUSIVE: "incomplete",
    Outcome.NOT_RUN: "incomplete",
    Outcome.KNOWN_FAIL: "does_not_conform",
    Outcome.EXCLUDED: "incomplete",
}


def verdict(record: StoreRecord, demands: Profile | None = None) -> ProfileVerdict:
    return judge(demands or profile(), record, SMALL)


def test_all_shown_conforms() -> None:
    """Nothing is missing."""
    assert verdict(good_record()) == ProfileVerdict(profile="small_profile", verdict="conforms", missing=[])


def test_nothing_run_is_incomplete_and_names_every_demand() -> None:
    """Missing evidence is never a pass."""
    found = verdict(store_record())
    assert found.verdict == "incomplete"
    assert [line.partition(":")[0] for line in found.missing] == [
        "model single_key",
        "capability key.one/001",
        "capability key.one/002",
        "capability key.two/001",
        "guarantee process_crash",
        "guarantee process_crash",
        "speed single-get at 50 clients",
    ]


def test_a_store_that_was_never_reached_is_incomplete_whatever_it_claims() -> None:
    """Its file is a declaration, and no verdict rests on one."""
    found = verdict(store_record(), profile(model="hash10"))
    assert found.verdict == "incomplete"
    assert found.missing[0] == "model hash10: not claimed"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_of_a_case_has_its_verdict(outcome: Outcome) -> None:
    """And the line names the case, the outcome and the detail."""
    record = good_record()
    add_case(record, "key.one/002", outcome, "found 1, right is 2\nmore")
    found = verdict(record)
    assert found.verdict == VERDICT[outcome]
    assert found.missing == ([] if VERDICT[outcome] == "conforms" else [f"capability key.one/002: {outcome}: found 1, right is 2"])


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_of_an_operation_on_the_model_has_its_verdict(outcome: Outcome) -> None:
    """A model is kept only where its whole records were written and read right."""
    record = good_record()
    add_proof(record, "single_key", "get", outcome)
    assert verdict(record).verdict == VERDICT[outcome]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_of_the_fault_has_its_verdict(outcome: Outcome) -> None:
    """For a guarantee that the variant claims."""
    record = good_record()
    record.guarantees[1] = struck("process_crash", outcome)
    assert verdict(record).verdict == VERDICT[outcome]


def test_what_is_refuted_beats_what_is_missing_and_comes_first() -> None:
    """One failure decides, whatever else was not run."""
    record = good_record()
    add_case(record, "key.one/001", Outcome.NOT_RUN)
    add_case(record, "key.two/001", Outcome.FAIL)
    found = verdict(record)
    assert found.verdict == "does_not_conform"
    assert found.missing == ["capability key.two/001: fail", "capability key.one/001: not_run"]


def test_a_case_of_the_spec_that_left_no_outcome_is_missing() -> None:
    """The denominator is the whole spec, not what happened to be collected."""
    record = good_record()
    record.outcomes = [each for each in record.outcomes if not each.id.endswith("key.one/002")]
    found = verdict(record)
    assert found.verdict == "incomplete"
    assert found.missing == ["capability key.one/002: not_run: left no outcome in this run"]


def test_a_model_that_is_not_claimed_is_refuted() -> None:
    """The vendor does not stand for it."""
    assert verdict(good_record(), profile(model="nested")).missing == ["model nested: not claimed"]


def test_a_model_of_which_one_operation_was_never_tried_is_incomplete() -> None:
    """Three of four are not the whole."""
    record = good_record()
    del record.proofs["single_key", "delete"]
    assert verdict(record).missing == ["model single_key: not verified in this run: delete"]


def test_counters_are_kept_by_their_own_operation() -> None:
    """A store that offers increments and no whole counter records keeps counters."""
    record = good_record()
    add_proof(record, "counter", "increment", Outcome.PASS)
    assert verdict(record, profile(model="counter")).verdict == "conforms"
    for operation in BASIC:
        add_proof(record, "counter", operation, Outcome.FAIL)
    assert verdict(record, profile(model="counter")).verdict == "does_not_conform"


@pytest.mark.parametrize(
    ("claimed", "demanded", "expected"),
    [
        ("process_crash", "volatile", "conforms"),
        ("process_crash", "clean_restart", "conforms"),
        ("process_crash", "process_crash", "conforms"),
        ("process_crash", "power_loss", "does_not_conform"),  # not claimed, and not proven
        ("clean_restart", "process_crash", "conforms"),  # proven beyond the claim
        ("power_loss", "power_loss", "incomplete"),  # claimed, no power cut on this machine
    ],
)
def test_the_guarantee_must_be_proven_on_the_ladder(claimed: str, demanded: str, expected: str) -> None:
    """At least as high as demanded; the claim alone counts only against the store."""
    record = good_record(claimed)
    assert verdict(record, profile(guarantee=demanded)).verdict == expected


def _with_metadata(outcomes: dict[str, Outcome], **demands: Any) -> ProfileVerdict:
    """Of a record with these outcomes of `durability.metadata`, by an edition that has the case of each guarantee."""
    record = good_record()
    for rung, outcome in outcomes.items():
        found = OutcomeRecord(id=metadata_case(rung), revision=1, stage=Stage.DURABILITY, outcome=outcome, detail="gone", seconds=0.1)
        record.add(found)
    return judge(profile(**demands), record, replace(SMALL, suite_cases=frozenset(map(metadata_case, LADDER[1:]))))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_belongs_to_records_must_survive_with_them(outcome: Outcome) -> None:
    """Times to live that are gone after each restart are no guarantee, whatever the records themselves survive."""
    found = _with_metadata({"clean_restart": outcome, "process_crash": Outcome.PASS})
    assert found.verdict == VERDICT[outcome]
    assert found.missing == ([] if VERDICT[outcome] == "conforms" else [f"durability.metadata/clean_restart: {outcome}: gone"])


def test_metadata_that_was_not_tried_is_missing_where_the_edition_has_its_case() -> None:
    """Of each guarantee up to the demanded one, and of none above it."""
    assert _with_metadata({}, guarantee="clean_restart").missing == ["durability.metadata/clean_restart: left no outcome in this run"]
    assert _with_metadata({}, guarantee="volatile").verdict == verdict(good_record()).verdict == "conforms"


def test_a_higher_rung_does_not_stand_for_a_lower_one_that_failed() -> None:
    """Lucky rounds on the harder fault prove nothing."""
    record = good_record("power_loss")
    record.guarantees = [struck("clean_restart", Outcome.FAIL), struck("process_crash", Outcome.PASS)]
    found = verdict(record)
    assert found.verdict == "does_not_conform"
    assert found.missing == ["guarantee process_crash: clean_restart: fail"]


def _speed_verdict(demanded: float, **changed: Any) -> ProfileVerdict:
    """Of a number that is 1000 [900, 1100]."""
    record = good_record()
    rate = {**measured().throughput.model_dump(), "median": 1000.0, "low": 900.0, "high": 1100.0}
    record.measurements = [Measurement.model_validate(measured().model_dump() | {"throughput": rate, **changed})]
    return verdict(record, profile(at_least=demanded))


@pytest.mark.parametrize(
    ("demanded", "changed", "expected"),
    [
        (900, {}, "conforms"),
        (901, {}, "incomplete"),  # the interval leaves it open
        (1100, {}, "incomplete"),
        (1101, {}, "does_not_conform"),
        (1000, {"at_least": True}, "conforms"),  # it reached that much
        (1001, {"at_least": True}, "incomplete"),
        (5000, {"at_least": True}, "incomplete"),  # the load generator was the limit, not the store
        (100, {"invalid": ["errors"]}, "incomplete"),
        (5000, {"invalid": ["errors"]}, "incomplete"),
        (100, {"trend": DRIFTING.model_dump()}, "incomplete"),
        (900, {"gates": {"spread": {"ok": False, "value": 0.2, "limit": 0.1}}}, "conforms"),  # of an older result
    ],
)
def test_a_demanded_speed_is_met_by_the_low_end_of_a_valid_number(demanded: float, changed: dict[str, Any], expected: str) -> None:
    """A whole interval below the demand refutes it; what is a lower bound, has no rate, or is not decided leaves it open."""
    assert _speed_verdict(demanded, **changed).verdict == expected


def test_why_a_speed_leaves_the_question_open_is_said() -> None:
    """With the number, and what it lacks."""
    assert _speed_verdict(100, invalid=["errors", "audit"]).missing == [
        "speed single-get at 50 clients: 1000 [900, 1100] operations/s with 0 indexes, but the number is not valid: errors, audit"
    ]
    assert "at least 1000 [900, 1100]" in _speed_verdict(2000, at_least=True).missing[0]
    assert verdict(good_record(), profile(clients=64)).missing == ["speed single-get at 64 clients: not measured"]
