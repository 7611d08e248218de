"""The truth table of profiles: conforms only where everything was shown; refuted beats missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.model import OutcomeRecord, ProfileVerdict
from storeproof.result.profiles import judge_profile
from storeproof.result.recorder import StoreRecord
from storeproof.spec import LADDER, Profile
from storeproof.spec.cases import metadata_case
from tests.result.records import BASIC, SMALL, add_case, add_proof, good_record, profile, store_record, struck

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
    return judge_profile(demands or profile(), record, SMALL)


def lines(found: ProfileVerdict) -> list[str]:
    """What is missing, as the terminal shows it."""
    return list(map(str, found.missing))


def test_all_shown_conforms() -> None:
    """Nothing is missing."""
    assert verdict(good_record()) == ProfileVerdict(profile="small_profile", verdict="conforms", missing=[])


def test_nothing_run_is_incomplete_and_names_every_demand() -> None:
    """Missing evidence is never a pass."""
    found = verdict(store_record())
    assert found.verdict == "incomplete"
    assert [(each.kind, each.name, each.case, each.outcome) for each in found.missing] == [
        ("model", "single_key", "", "not_run"),
        ("capability", "key.one", "001", "not_run"),
        ("capability", "key.one", "002", "not_run"),
        ("capability", "key.two", "001", "not_run"),
        ("guarantee", "process_crash", "clean_restart", "not_run"),
        ("guarantee", "process_crash", "", "not_run"),
    ]


def test_a_store_that_was_never_reached_is_incomplete_whatever_it_claims() -> None:
    """Its file is a declaration, and no verdict rests on one."""
    found = verdict(store_record(), profile(model="hash10"))
    assert found.verdict == "incomplete"
    assert str(found.missing[0]) == "model hash10: unsupported: not claimed"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_of_a_case_has_its_verdict(outcome: Outcome) -> None:
    """And the line names the case, the outcome and the detail."""
    record = good_record()
    add_case(record, "key.one/002", outcome, "found 1, right is 2\nmore")
    found = verdict(record)
    assert found.verdict == VERDICT[outcome]
    assert lines(found) == ([] if VERDICT[outcome] == "conforms" else [f"capability key.one/002: {outcome}: found 1, right is 2"])


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
    assert lines(found) == ["capability key.two/001: fail", "capability key.one/001: not_run"]


def test_a_case_of_the_spec_that_left_no_outcome_is_missing() -> None:
    """The denominator is the whole spec, not what happened to be collected."""
    record = good_record()
    record.outcomes = [each for each in record.outcomes if not each.id.endswith("key.one/002")]
    found = verdict(record)
    assert found.verdict == "incomplete"
    assert lines(found) == ["capability key.one/002: not_run: left no outcome in this run"]


def test_a_model_that_is_not_claimed_is_refuted() -> None:
    """The vendor does not stand for it."""
    assert lines(verdict(good_record(), profile(model="nested"))) == ["model nested: unsupported: not claimed"]


def test_a_model_of_which_one_operation_was_never_tried_is_incomplete() -> None:
    """Three of four are not the whole."""
    record = good_record()
    del record.proofs["single_key", "delete"]
    assert lines(verdict(record)) == ["model single_key: not_run: not verified in this run: delete"]


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
    return judge_profile(profile(**demands), record, replace(SMALL, suite_cases=frozenset(map(metadata_case, LADDER[1:]))))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_belongs_to_records_must_survive_with_them(outcome: Outcome) -> None:
    """Times to live that are gone after each restart are no guarantee, whatever the records themselves survive."""
    found = _with_metadata({"clean_restart": outcome, "process_crash": Outcome.PASS})
    assert found.verdict == VERDICT[outcome]
    assert lines(found) == ([] if VERDICT[outcome] == "conforms" else [f"durability.metadata/clean_restart: {outcome}: gone"])


def test_metadata_that_was_not_tried_is_missing_where_the_edition_has_its_case() -> None:
    """Of each guarantee up to the demanded one, and of none above it."""
    assert lines(_with_metadata({}, guarantee="clean_restart")) == [
        "durability.metadata/clean_restart: not_run: left no outcome in this run"
    ]
    assert _with_metadata({}, guarantee="volatile").verdict == verdict(good_record()).verdict == "conforms"


def test_a_higher_rung_does_not_stand_for_a_lower_one_that_failed() -> None:
    """Lucky rounds on the harder fault prove nothing."""
    record = good_record("power_loss")
    record.guarantees = [struck("clean_restart", Outcome.FAIL), struck("process_crash", Outcome.PASS)]
    found = verdict(record)
    assert found.verdict == "does_not_conform"
    assert lines(found) == ["guarantee process_crash: clean_restart: fail"]
