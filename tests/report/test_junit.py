"""JUnit: `fail` and `error` keep their names, what was not tried or not claimed is skipped, and a loss is not."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.report.junit import render_junit
from storeproof.result.measured.damage import DamageCounts
from storeproof.result.model import GuaranteeRecord, OutcomeRecord
from storeproof.spec.standing import Standing
from tests.report.sample import TARGETS, sample_outage, sample_result
from tests.site.made import fault, result, struck


def test_every_outcome_has_its_element() -> None:
    """The document is well-formed whatever the details hold, and no outcome but `pass` looks like one."""
    made = sample_result(TARGETS[:2])
    root = ET.fromstring(render_junit(made))
    assert [suite.get("name") for suite in root] == ["sqlite:wal-full", "redis:aof-always"]
    for suite, store in zip(root, made.stores, strict=True):
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases] == [each.id for each in store.outcomes]
        for case, each in zip(cases, store.outcomes, strict=True):
            endings = list(case)
            if each.outcome is Outcome.PASS:
                assert endings == []
                continue
            (ending,) = endings
            assert ending.tag == {Outcome.FAIL: "failure", Outcome.ERROR: "error"}.get(each.outcome, "skipped")
            assert ending.get("type") == each.outcome
            assert (ending.get("message") or "").startswith(f"{each.outcome}: <script>")
            assert "get('k') -> b'0'" in (ending.text or "")


def only(case: OutcomeRecord, guarantee: GuaranteeRecord | None = None, **changed: object) -> tuple[ET.Element, ET.Element]:
    """The suite and its one case; `guarantee`: what its fault did."""
    store = struck("redis:volatile", *([guarantee] if guarantee else []), outcomes=[case], **changed)
    (suite,) = ET.fromstring(render_junit(result(store)))
    (found,) = suite.findall("testcase")
    return suite, found


def lost(outcome: Outcome, case: str = "durability.power_loss", detail: str = "20 faults: 460 lost") -> OutcomeRecord:
    """The case of a fault."""
    return OutcomeRecord(id=case, revision=1, stage=Stage.DURABILITY, outcome=outcome, detail=detail, seconds=12.5)


def test_a_loss_that_was_not_promised_was_not_skipped() -> None:
    """It is no failure either: the loss is a property, and the findings are output."""
    suite, case = only(lost(Outcome.UNSUPPORTED), fault("power_loss", Outcome.UNSUPPORTED, lost=460))
    assert [each.tag for each in case] == ["properties", "system-out"]
    assert {each.get("name"): each.get("value") for each in case[0]} == {
        "outcome": "unsupported",
        "loss": "460 of 1,000 operations (46 %); records: 460 lost",
    }
    assert case[1].text == "20 faults: 460 lost"
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["1", "0", "0", "0"]


def test_a_wrong_answer_to_a_case_that_decides_nothing_is_no_failure() -> None:
    """Its outcome and why it decides nothing are properties, and the findings are output."""
    wrong = lost(Outcome.FAIL, "capabilities.filter.in/001", "found 1, right is 2").model_copy(update={"standing": Standing.PROVISIONAL})
    suite, case = only(wrong)
    assert {each.get("name"): each.get("value") for each in case[0]} == {"outcome": "fail", "standing": "provisional"}
    assert case[1].text == "found 1, right is 2"
    assert [suite.get(name) for name in ("failures", "errors", "skipped")] == ["0", "0", "0"]


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.KNOWN_FAIL])
def test_a_broken_promise_is_a_failure_also_where_it_is_known(outcome: Outcome) -> None:
    """With the outcome as its type."""
    suite, case = only(lost(outcome), fault("power_loss", outcome, lost=460))
    ending = case.find("failure")
    assert ending is not None
    assert ending.get("type") == outcome
    assert suite.get("failures") == "1"


@pytest.mark.parametrize("outcome", [Outcome.UNSUPPORTED, Outcome.KNOWN_FAIL, Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.INCONCLUSIVE])
def test_what_lost_nothing_or_has_no_verdict_is_skipped(outcome: Outcome) -> None:
    """A refusal, a case that was not tried, and one that ended without a verdict, whatever was counted until then."""
    guarantee = fault("power_loss", outcome, lost=460 if outcome is Outcome.INCONCLUSIVE else 0)
    _, case = only(lost(outcome), guarantee)
    assert case.find("skipped") is not None


def test_wrong_data_and_losses_under_load_are_losses_too() -> None:
    """Of damaged files, and of a store that failed while clients wrote."""
    damaged = lost(Outcome.UNSUPPORTED, "durability.corruption/flip", "5 rounds")
    _, case = only(damaged.model_copy(update={"damage": DamageCounts(rounds=5, made_up=5, silent=0)}))
    assert [each.get("value") for each in case.iter("property")] == ["unsupported", "✘ wrong data in 5 of 5"]
    _, case = only(lost(Outcome.UNSUPPORTED, "performance.outage/crash"), outages=[sample_outage("crash", lost=7, claimed=False)])
    assert [each.get("value") for each in case.iter("property")] == ["unsupported", "7 records lost; 600 writes acknowledged"]


def test_the_sums_agree_with_the_cases() -> None:
    """Tools read the attributes, people the cases."""
    root = ET.fromstring(render_junit(sample_result()))
    for element in (root, *root):
        cases = element.findall(".//testcase")
        assert int(element.get("tests") or 0) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name) or 0) == sum(case.find(tag) is not None for case in cases)
        assert float(element.get("time") or 0) == pytest.approx(sum(float(case.get("time") or 0) for case in cases), abs=0.001)


def test_a_run_without_stores_is_a_document_too() -> None:
    """With no case in it."""
    assert ET.fromstring(render_junit(sample_result([]))).get("tests") == "0"
