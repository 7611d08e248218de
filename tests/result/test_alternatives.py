"""A demand with alternatives is met by any of them; the way is told, and what is extended never decides."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.missing import Way
from storeproof.result.model import ProfileVerdict
from storeproof.result.profiles import judge_profile
from storeproof.spec import Profile
from storeproof.support import Support, telling
from tests.result.records import SMALL, add_case, capability, good_record, profile, small

EITHER = "key.two or key.one"
PASS, FAIL, KNOWN, NO, NOT_RUN, ERROR = (
    Outcome.PASS,
    Outcome.FAIL,
    Outcome.KNOWN_FAIL,
    Outcome.UNSUPPORTED,
    Outcome.NOT_RUN,
    Outcome.ERROR,
)


def demanding(**changed: Any) -> Profile:
    """The small profile with one demand, of `key.two` or `key.one`."""
    demands = {"capabilities": [{"any_of": ["key.two", "key.one"]}], **changed}
    return Profile.model_validate(profile().model_dump(mode="json") | demands)


def verdict(two: Outcome, one: Outcome, demands: Profile | None = None) -> ProfileVerdict:
    """Where the cases of the two capabilities ended so, and all else was shown."""
    record = good_record()
    for case, outcome in (("key.two/001", two), ("key.one/002", one)):
        add_case(record, case, outcome, "the reason")
    return judge_profile(demands or demanding(), record, SMALL)


@pytest.mark.parametrize(
    ("two", "one", "expected", "missing"),
    [
        (PASS, PASS, "conforms", []),
        (NO, PASS, "conforms", []),
        (FAIL, PASS, "conforms", []),
        (Outcome.UNDECLARED, NO, "conforms", []),
        (NO, NO, "does_not_conform", ["unsupported: key.two/001: the reason", "unsupported: key.one/002: the reason"]),
        (FAIL, NO, "does_not_conform", ["fail: key.two/001: the reason"]),
        (NO, KNOWN, "does_not_conform", ["known_fail: key.one/002: the reason"]),
        (NOT_RUN, FAIL, "does_not_conform", ["fail: key.one/002: the reason"]),
        (NOT_RUN, NO, "incomplete", ["not_run: key.two/001: the reason"]),
        (NO, ERROR, "incomplete", ["error: key.one/002: the reason"]),
        (NOT_RUN, NOT_RUN, "incomplete", ["not_run: key.two/001: the reason", "not_run: key.one/002: the reason"]),
    ],
)
def test_one_alternative_is_enough(two: Outcome, one: Outcome, expected: str, missing: list[str]) -> None:
    """Lacking only where all are; failed where one was claimed and failed and none is shown; not shown otherwise."""
    found = verdict(two, one)
    assert found.verdict == expected
    assert [f"{each.outcome}: {each.case}: {each.reason}" for each in found.missing] == missing


def test_all_alternatives_are_one_thing() -> None:
    """Reports count the demand once; it failed, is lacking or open as the verdict says."""
    lacking, failed, open_ = verdict(NO, NO), verdict(FAIL, NO), verdict(NO, NOT_RUN)
    assert {each.thing for each in lacking.missing} == {EITHER}
    told = [[(each.broken, each.open) for each in one.missing] for one in (lacking, failed, open_)]
    assert told == [[(False, False)] * 2, [(True, False)], [(False, True)]]


def test_the_first_that_is_shown_is_told() -> None:
    """They are named from the strictest on."""
    first, second = verdict(PASS, PASS).ways, verdict(NO, PASS).ways
    assert first == [Way(demand=EITHER, capability="key.two", title="two")]
    assert second == [Way(demand=EITHER, capability="key.one", title="one")]
    assert [first[0].is_strictest, second[0].is_strictest] == [True, False]
    assert second[0].words == "key.one (one)"
    assert verdict(NO, NO).ways == []


@pytest.mark.parametrize(
    ("outcome", "support"),
    [
        (PASS, Support.SUPPORTED),
        (FAIL, Support.FAILED),
        (KNOWN, Support.FAILED),
        (NO, Support.UNSUPPORTED),
        (NOT_RUN, Support.NOT_SHOWN),
        (Outcome.EXCLUDED, Support.NOT_SHOWN),
    ],
)
def test_what_is_extended_is_listed_and_never_decides(outcome: Outcome, support: Support) -> None:
    """Whatever became of it; in the core the same outcome would decide."""
    found = verdict(outcome, PASS, demanding(capabilities=["key.one"], extended=["key.two"]))
    assert (found.verdict, found.missing, found.extended) == ("conforms", [], {"key.two": support})
    core = verdict(outcome, PASS, demanding(capabilities=["key.one", "key.two"]))
    assert (core.verdict == "conforms") is (outcome is PASS)


def test_an_alternative_that_no_case_decides_is_none() -> None:
    """Neither is the demand met by it, nor missed; where that is all that is demanded, nothing is."""
    record = good_record()
    provisional = small(one=capability("one", 2), two=capability("two", 1, provisional=1))
    assert judge_profile(demanding(), record, provisional).ways[0].capability == "key.one"
    add_case(record, "key.one/001", NO)
    assert judge_profile(demanding(), record, provisional).verdict == "does_not_conform"
    none = small(one=capability("one", 2, provisional=2), two=capability("two", 1, provisional=1))
    found = judge_profile(demanding(extended=[]), record, none)
    assert (found.verdict, found.ways, found.missing) == ("conforms", [], [])


def test_what_is_said_of_alternatives_is_of_the_first_that_says_it() -> None:
    """Shown before failed, failed before not shown, and unsupported only where all are."""
    shown, failed, open_, no = Support.SUPPORTED, Support.FAILED, Support.NOT_SHOWN, Support.UNSUPPORTED
    assert [telling(each) for each in ([no, open_, failed, shown, shown], [no, open_, failed], [no, open_], [no, no])] == [3, 2, 1, 0]
