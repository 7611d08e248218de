"""A case that does not decide is tried and shown, and no verdict rests on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.assemble import assemble
from storeproof.result.capabilities import roll_up
from storeproof.result.consistency import inconsistencies
from storeproof.result.model import OutcomeRecord
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.result.profiles import judge_profile
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Spec
from storeproof.spec.standing import Standing
from tests.report.sample import TARGETS, sample_result
from tests.result.needs import needed
from tests.result.needs.needed import SHAPE, decided, judgement, known, needs
from tests.result.records import SMALL, add_case, capability, good_record, profile, small
from tests.shipped import SHIPPED

SOME = small(one=capability("one", 2, provisional=1), two=capability("two", 1))
"""The second case of `key.one` decides nothing."""
NONE = small(one=capability("one", 2, provisional=2), two=capability("two", 1))
"""None of `key.one` does."""


def failed(*cases: str) -> StoreRecord:
    """All is shown but these cases of `key.one`."""
    record = good_record()
    for case in cases:
        add_case(record, f"key.one/{case}", Outcome.FAIL)
    return record


def test_a_capability_is_rolled_up_without_it() -> None:
    """It passes; with the case that decides it would not. One of which no case decides is shown with those that it has."""
    outcomes = failed("002").outcomes
    one = roll_up("key.one", outcomes, SOME, claimed=True)
    assert (one.outcome, one.cases, one.passed) == (Outcome.PASS, 1, 1)
    assert roll_up("key.one", outcomes, SMALL, claimed=True).outcome is Outcome.FAIL
    none = roll_up("key.one", outcomes, NONE, claimed=True)
    assert (none.outcome, none.cases, none.passed) == (Outcome.FAIL, 2, 1)


@pytest.mark.parametrize(
    ("spec", "cases", "verdict"),
    [
        (SMALL, ["002"], "does_not_conform"),
        (SOME, ["002"], "conforms"),
        (SOME, ["001"], "does_not_conform"),
        (NONE, ["001", "002"], "conforms"),  # nothing is demanded of it yet
    ],
)
def test_no_profile_is_judged_by_it(spec: Spec, cases: list[str], verdict: str) -> None:
    """Neither by its failure, nor where it left no outcome."""
    assert judge_profile(profile(), failed(*cases), spec).verdict == verdict


def test_one_that_was_not_run_is_not_missing() -> None:
    """The denominator are the cases that decide."""
    record = good_record()
    record.outcomes = [each for each in record.outcomes if not each.id.endswith("one/002")]
    assert judge_profile(profile(), record, SMALL).verdict == "incomplete"
    assert judge_profile(profile(), record, SOME).missing == []


def test_no_operation_is_refuted_by_it() -> None:
    """So it leaves no number without proof, and no model unshown."""
    record = good_record()
    provisional = OutcomeRecord(
        id="capabilities.key.one/002",
        revision=1,
        stage=Stage.CORRECTNESS,
        outcome=Outcome.FAIL,
        detail="",
        seconds=0.1,
        standing=Standing.PROVISIONAL,
    )
    record.add(provisional, "single_key", ["get"])
    assert record.unproven("single_key", "get") is None
    record.add(provisional.model_copy(update={"standing": None}), "single_key", ["get"])
    assert record.unproven("single_key", "get") is not None


def test_a_result_with_it_agrees_with_itself() -> None:
    """The roll-up leaves out what the outcomes call provisional; one that counts it does not agree."""
    record = failed()
    record.outcomes = [
        each.model_copy(update={"standing": Standing.PROVISIONAL}) if each.id.endswith("one/002") else each for each in record.outcomes
    ]
    found = sample_result(TARGETS[:1])
    store = assemble(record, [], SOME).model_copy(update={"measurements": []})
    assert inconsistencies(found.model_copy(update={"stores": [store]})) == []
    counted = [each.model_copy(update={"passed": 2, "cases": 2}) for each in store.capabilities[:1]]
    changed = store.model_copy(update={"capabilities": counted})
    assert inconsistencies(found.model_copy(update={"stores": [changed]})) == ["small:only: key.one has 2 passed cases, and 1 are listed"]


def test_no_need_is_judged_by_it() -> None:
    """By the edition of today, whatever the result says; one of which nothing decides is not shown."""
    name = "expiry.put-expiring"
    case = f"capabilities.{name}/002"
    told = [each.model_copy(update={"outcome": Outcome.FAIL}) if each.id == case else each for each in needed.capability(name)]
    store, asked = known("redis:volatile", cases=[SHAPE, *told]), needs(must=[name])

    def judged(*provisional: str) -> JudgedNeed:
        expiry = SHIPPED.capabilities[name]
        cases = tuple(each.model_copy(update={"provisional": each.id in provisional}) for each in expiry.cases)
        spec = replace(SHIPPED, capabilities=SHIPPED.capabilities | {name: expiry.model_copy(update={"cases": cases})})
        return judgement(decided(asked, store, spec=spec), "capability")

    assert judged().verdict is NeedVerdict.NOT_MET
    assert judged("002").verdict is NeedVerdict.MET
    none = judged(*(each.id for each in SHIPPED.capabilities[name].cases))
    assert (none.verdict, none.reason) == (NeedVerdict.NOT_SHOWN, "has no case that decides in this edition")
