"""A sign of the matrix opens what was asked, what is correct, and what each store answered."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.report.html import render_html
from storeproof.report.parts.case_answers import CaseAnswers, case_answers
from storeproof.result.model import Result
from tests.report.test_html import Page
from tests.result.needs.needed import case
from tests.shipped import SHIPPED
from tests.site.made import result, tried

EXPIRY = "expiry.put-expiring"
FIRST = SHIPPED.capabilities[EXPIRY].cases[0]


def made(*answers: tuple[str, Outcome, int, str]) -> Result:
    """A run in which each of the stores answered the first case so, at a revision, with a detail."""
    stores = [
        tried(name, (EXPIRY, outcome), outcomes=[case(f"capabilities.{EXPIRY}/{FIRST.id}", outcome, revision, detail)])
        for name, outcome, revision, detail in answers
    ]
    return result(*stores)


def only(found: Result) -> CaseAnswers:
    """Its one case."""
    (answers,) = case_answers(found, SHIPPED)[EXPIRY]
    return answers


def test_stores_that_answered_alike_are_told_once_and_the_worst_comes_first() -> None:
    """With the request, and the answer that is correct."""
    revision = FIRST.revision
    answers = only(
        made(
            ("redis:a", Outcome.PASS, revision, ""),
            ("redis:b", Outcome.PASS, revision, ""),
            ("mysql:a", Outcome.UNSUPPORTED, revision, "nothing deletes by the clock"),
            ("odd:a", Outcome.FAIL, revision, "it is still there"),
        )
    )
    assert answers.about == FIRST.title
    assert answers.asked[0].request.startswith("put expiring ")
    assert [[cell.text for cell in row] for row in answers.answers.rows] == [
        ["✘ fail", "odd:a", "it is still there"],
        ["– unsupported", "mysql:a", "nothing deletes by the clock"],
        ["✔ pass", "redis:a, redis:b", "as is correct"],
    ]


def test_a_case_whose_demands_have_changed_shows_none() -> None:
    """The run tried something else; the answers stay."""
    answers = only(made(("redis:a", Outcome.PASS, FIRST.revision + 1, "")))
    assert answers.about == f"{FIRST.title}; its demands have changed since this run"
    assert answers.asked == ()
    assert len(answers.answers.rows) == 1


def test_the_page_of_a_run_has_them_behind_the_sign() -> None:
    """The sign has its words for those who cannot see it."""
    text = render_html(made(("redis:a", Outcome.PASS, FIRST.revision, "")))
    assert f'<a href="#capability-{EXPIRY}" aria-label="yes: 1 of 1 cases passed">✔</a>' in text
    page = Page(text)
    assert f"Case {FIRST.id}: {FIRST.title}" in page.text
    assert "correct:" in page.text
