"""A history that no order explains is drawn beside its case, from the data in the result."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from storeproof.outcome import Outcome, Stage
from storeproof.report.html import render_html
from storeproof.report.pictures.histories import label, lanes
from storeproof.result.measured.case_records import AccessRecord, HistoryRecord
from storeproof.result.model import OutcomeRecord, Result
from tests.report.sample import TARGETS, sample_result

CASE = "linearizable.register"


def access(client: int, action: str, invoked: float, completed: float | None, **more: Any) -> AccessRecord:
    """One operation; without an end it is unknown."""
    outcome: Any = "ok" if completed is not None else "unknown"
    return AccessRecord(
        client=client,
        action=action,
        invoked_us=invoked,
        completed_us=completed,
        outcome=outcome,
        answer_known=more.pop("answer_known", outcome == "ok"),
        **more,
    )


STALE = HistoryRecord(
    case=CASE,
    key="register 'hot1'",
    operations=320,
    fault_us=30.0,
    accesses=[
        access(0, "put", 0, 10, value="0:1"),
        access(1, "put", 5, None, value="1:1"),
        access(2, "get", 20, 25, answer="1:1"),
        access(8, "get", 40, 50, answer="0:1", contradicts=True),
    ],
)

SVG = "{http://www.w3.org/2000/svg}"


def parts(history: HistoryRecord, name: str) -> list[ElementTree.Element]:
    """The elements of a name in the picture, which is well-formed."""
    return ElementTree.fromstring(lanes(history).svg).findall(f"{SVG}{name}")


def shown(history: HistoryRecord) -> list[str]:
    """What is written in the picture."""
    return [each.text or "" for each in parts(history, "text")]


def test_each_client_has_a_lane_and_each_operation_a_bar_from_request_to_reply() -> None:
    """In the order of time, at equal distances; what had no reply goes on to the end."""
    titled = [each for each in parts(STALE, "rect") if each.find(f"{SVG}title") is not None]
    assert shown(STALE)[:4] == ["client 0", "client 1", "client 2", "client 8"]
    assert [each.findtext(f"{SVG}title") for each in titled] == ["put 0:1", "put 1:1 ?", "get → 1:1", "get → 0:1"]
    begins = [float(each.attrib["x"]) for each in titled]
    ends = [float(each.attrib["x"]) + float(each.attrib["width"]) for each in titled]
    assert begins == sorted(begins)
    assert begins[1] < ends[0] < begins[2] < ends[2] < begins[3] < ends[3] < ends[1]
    assert len({each.attrib["y"] for each in titled}) == 4


def test_the_one_that_contradicts_the_others_is_red_and_no_other() -> None:
    """It is what one looks for."""
    titled = [each for each in parts(STALE, "rect") if each.find(f"{SVG}title") is not None]
    assert [each.attrib["stroke"] for each in titled] == ["var(--line-1)"] * 3 + ["var(--bad)"]
    assert "which contradicts the others" in lanes(STALE).label.split("; ")[-1]


def test_the_fault_stands_between_what_was_before_and_after_it() -> None:
    """A line from top to bottom; none where no fault struck."""
    line = next(each for each in parts(STALE, "line") if each.attrib["x1"] == each.attrib["x2"])
    titled = [each for each in parts(STALE, "rect") if each.find(f"{SVG}title") is not None]
    assert float(titled[2].attrib["x"]) < float(line.attrib["x1"]) < float(titled[3].attrib["x"])
    assert "fault" in shown(STALE)
    assert "fault" not in shown(STALE.model_copy(update={"fault_us": None}))


def test_labels_say_what_was_asked_and_answered() -> None:
    """As short as can be; an answer that does not count is not there."""
    assert label(access(0, "compare_and_set", 0, 1, value="0:2", expected="0:1", answer=False)) == "0:1 ⇒ 0:2 → no"
    assert label(access(0, "put_if_absent", 0, 1, value="0:2", answer=True)) == "put 0:2 if absent → yes"
    assert label(access(0, "delete", 0, 1, answer=True, answer_known=False)) == "delete"
    assert label(access(0, "increment", 0, 1, amount=3, answer=7)) == "add 3 → 7"
    assert label(access(0, "get", 0, 1)) == "get → nothing"
    assert label(access(0, "increment", 0, None, amount=1)) == "add 1 ?"


def test_what_was_done_before_is_a_lane_of_its_own() -> None:
    """The increments that were added up have no client."""
    history = STALE.model_copy(update={"accesses": [access(-1, "increment", 0, 5, amount=37, answer_known=False)], "fault_us": None})
    assert shown(history) == ["before that", "add 37"]


def page(history: HistoryRecord) -> str:
    """A report with one case that failed."""
    result = sample_result(TARGETS[:1])
    failed = OutcomeRecord(id=CASE, revision=1, stage=Stage.CORRECTNESS, outcome=Outcome.FAIL, detail="not linearizable", seconds=1.0)
    store = result.stores[0].model_copy(update={"outcomes": [*result.stores[0].outcomes, failed], "histories": [history]})
    return render_html(result.model_copy(update={"stores": [store]}))


def test_the_picture_stands_in_the_page_beside_its_case() -> None:
    """Once, in the list of cases, under what was found."""
    text = page(STALE)
    assert text.count('<figure class="history">') == 1
    assert text.index("not linearizable") < text.index('<figure class="history">') < text.index('<footer id="totals">')
    assert "of 320 operations" in text


def test_what_a_store_answers_cannot_break_the_page() -> None:
    """A record that no client wrote may hold anything."""
    hostile = STALE.model_copy(update={"accesses": [access(0, "get", 0, 1, answer="<script>alert(1)</script>", contradicts=True)]})
    assert "<script>alert" not in page(hostile).replace("&lt;", "")


def test_answers_survive_the_file() -> None:
    """Yes is not 1, and nothing is not "nothing"."""
    answers: list[Any] = [True, False, 1, 0, "1", None]
    history = STALE.model_copy(update={"accesses": [access(0, "get", 0, 1, answer=answer) for answer in answers]})
    result = sample_result(TARGETS[:1])
    written = result.model_copy(update={"stores": [result.stores[0].model_copy(update={"histories": [history]})]}).model_dump_json()
    found = [each.answer for each in Result.model_validate(json.loads(written)).stores[0].histories[0].accesses]
    assert [(type(each), each) for each in found] == [(type(each), each) for each in answers]
