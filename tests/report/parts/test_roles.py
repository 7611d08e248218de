"""A role from a verdict: meets, lacks n, or failed what it claims; and what is missing by reason."""

from __future__ import annotations

import pytest

from storeproof.report.parts.first_screen import role_summary
from storeproof.report.parts.roles import label_of, lacks, profiles_in, role_of
from storeproof.result.measured.first_screen import RoleSummary
from storeproof.support import Support
from tests.site.made import judged, way

NO_TTL = "unsupported: put_expiring on single_key: nothing deletes by the clock"


def test_who_conforms_meets_the_role() -> None:
    """With nothing that is missing."""
    role = role_of(judged("cache", "conforms"))
    assert (role.text, role.tone, role.label) == ("✔ meets", "good", "cache")
    assert role_summary(role) == RoleSummary(verdict="meets")


def test_a_looser_way_is_told_with_the_verdict() -> None:
    """Where the strictest alternative was shown there is nothing to tell; what is extended decides nothing, and is not told here."""
    strict, loose = (role_of(judged("cache", "conforms", ways=[way(name)])) for name in ("expiry.put-expiring", "expiry.swept"))
    assert (strict.text, loose.text) == ("✔ meets", "✔ meets by expiry.swept")
    assert role_summary(loose).looser == ["expiry.swept"]
    extended = role_of(judged("cache", "conforms", ways=[way("expiry.swept")], extended={way("expiry.swept").demand: "supported"}))
    assert (extended.text, extended.by_support()) == ("✔ meets", {Support.SUPPORTED: [way("expiry.swept").demand]})


def test_several_cases_of_one_capability_are_one_thing() -> None:
    """Three cases of one capability: the store lacks one thing, a near miss."""
    role = role_of(judged("cache", "does_not_conform", [f"capability expiry.put-expiring/00{n}: {NO_TTL}" for n in (1, 2, 3)]))
    assert (role.verdict, role.text, role.tone) == ("lacks", "lacks 1", "near")
    assert role.lacks == ["expiry.put-expiring"]
    assert role.by_reason() == [("put_expiring on single_key: nothing deletes by the clock", ["expiry.put-expiring"])]


@pytest.mark.parametrize("outcome", ["fail", "known_fail"])
@pytest.mark.parametrize(
    "line", ["capability text.word/001: {}: wrong", "model nested: get: {}", "guarantee power_loss: process_crash: {}: lost"]
)
def test_what_failed_is_not_merely_lacking(line: str, outcome: str) -> None:
    """A wrong answer, a wrong record, a broken promise: red, beside what is lacking."""
    role = role_of(judged("search_store", "does_not_conform", [line.format(outcome), "model corpus: not claimed"]))
    assert (role.verdict, role.text, role.tone) == ("failed", "fails 1, lacks 1", "bad")
    assert role.lacks == ["model corpus"]


def test_what_failed_is_told_before_what_is_lacking() -> None:
    """Although more failed; of what is lacking, the reason that has least comes first."""
    failed = [f"capability text.{name}/001: fail: wrong" for name in ("word", "phrase", "prefix")]
    lacking = [*(f"capability expiry.{name}/001: {NO_TTL}" for name in ("touch", "swept")), "model corpus: not claimed"]
    told = role_of(judged("search_store", "does_not_conform", [*lacking, *failed])).by_reason()
    assert [(reason.partition(":")[0], len(things)) for reason, things in told] == [
        ("fail", 3),
        ("not claimed", 1),
        ("put_expiring on single_key", 2),
    ]


def test_an_unpromised_guarantee_is_lacking() -> None:
    """The variant never said that it survives it."""
    lines = ["guarantee power_loss: the variant claims only volatile", "guarantee power_loss: clean_restart: unsupported: 5 faults: 3 lost"]
    role = role_of(judged("system_of_record", "does_not_conform", lines))
    assert (role.text, role.lacks) == ("lacks 1", ["guarantee power_loss"])


def test_what_was_not_run_is_not_shown_and_never_lacking() -> None:
    """Missing evidence is no verdict."""
    role = role_of(judged("cache", "incomplete", ["guarantee process_crash: not_run"]))
    assert (role.verdict, role.text, role.tone) == ("open", "not shown", "")


@pytest.mark.parametrize(
    "line",
    [
        "capability text.word: no case was run",
        "capability text.word/001: not_run: the machine",
        "capability text.word/001: error: ours",
        "model nested: not verified in this run: get, put",
        "speed single-get at 50 clients: not measured",
    ],
)
def test_in_a_run_of_a_part_what_was_not_run_is_counted_apart(line: str) -> None:
    """One thing is lacking; the other was not shown, and is not called lacking. With many of these it is no near miss either."""
    lines = [f"capability expiry.put-expiring/001: {NO_TTL}", line]
    role = role_of(judged("cache", "does_not_conform", lines))
    assert (role.text, role.lacks, len(role.open), role.tone) == ("lacks 1, 1 not shown", ["expiry.put-expiring"], 1, "near")
    assert lacks(judged("cache", "does_not_conform", lines)) == {"expiry.put-expiring"}
    untried = [f"capability filter.x{n}: no case was run" for n in range(9)]
    assert role_of(judged("cache", "does_not_conform", [*lines, *untried])).tone == ""


def test_a_store_of_another_kind_is_no_near_miss() -> None:
    """Ten things that are missing are counted, without colour."""
    role = role_of(
        judged("document_store", "does_not_conform", [f"capability filter.x{n}/001: unsupported: no documents" for n in range(12)])
    )
    assert (role.text, role.tone) == ("lacks 12", "")
    assert role_summary(role) == RoleSummary(verdict="lacks", lacking=[f"filter.x{n}" for n in range(12)])


def test_columns_keep_their_order_and_unknown_profiles_come_last() -> None:
    """A profile of one's own has its name as heading."""
    verdicts = [judged(name, "conforms") for name in ("own_need", "system_of_record", "cache")]
    assert profiles_in(verdicts) == ["cache", "system_of_record", "own_need"]
    assert label_of("own_need") == "own need"
