"""An error during clean-up is reported, and does not hide the one before it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import pytest

from storeproof.blame import Party
from storeproof.contract import Refused, Unknown, Unsupported
from storeproof.outcome import Outcome, Stage
from storeproof.plugin import _judge
from storeproof.plugin.limits.other_timeouts import OtherTimeouts
from storeproof.result.running_case import CaseResult

NOTHING: Any = None


class _Trial:
    def explain(self, silence: Unknown) -> Unknown:
        return silence


class _Item:
    """A case of a store that runs."""

    class callspec:  # noqa: N801 - as pytest has it
        params: ClassVar = {"sut": _Trial()}


ITEM: Any = _Item()


def judged(error: BaseException) -> CaseResult:
    case_result = CaseResult(NOTHING, Stage.PERFORMANCE, "performance.x", 1, "single_key", ())
    _judge(ITEM, case_result, error, clean_up=False)
    return case_result


@contextlib.contextmanager
def clearing_up() -> Iterator[None]:
    try:
        yield
    finally:
        try:
            raise OSError("a driver's own error")
        except OSError as reason:
            raise Refused("the connection is closed") from reason


def caught(first: Exception) -> Exception:
    try:
        with clearing_up():
            raise first
    except Refused as reason:
        return reason


def test_what_came_first_is_told_too() -> None:
    """An error during clean-up does not hide the one before it."""
    case_result = judged(caught(Unknown("no answer in five seconds")))
    assert case_result.outcome is Outcome.FAIL
    assert case_result.detail == "the store refused: the connection is closed\nbefore that: no answer in five seconds"


def test_it_is_not_told_twice() -> None:
    """The same error is named once."""
    case_result = judged(caught(Refused("the connection is closed")))
    assert case_result.detail == "the store refused: the connection is closed"


def test_what_says_nothing_of_the_store_is_left_out() -> None:
    """An earlier error that is not the store's is not in the detail."""
    assert judged(caught(KeyError("x"))).detail == "the store refused: the connection is closed"


def test_a_time_limit_of_another_plugin_is_the_users() -> None:
    """pytest-timeout ends a case by `pytest.fail`, at any place; the clean-up keeps the outcome of its case."""
    limit = pytest.fail.Exception("Timeout (>1.0s) from pytest-timeout.")
    case_result = judged(limit)
    assert (case_result.outcome, case_result.party) == (Outcome.INCONCLUSIVE, Party.USER)
    assert case_result.detail == "ended by another plugin: Timeout (>1.0s) from pytest-timeout."
    passed = CaseResult(NOTHING, Stage.CORRECTNESS, "capabilities.x/001", 1, "single_key", ())
    passed.finished()
    _judge(ITEM, passed, limit, clean_up=True)
    assert (passed.outcome, passed.detail) == (Outcome.PASS, "during clean-up: Timeout (>1.0s) from pytest-timeout.")


def test_a_time_limit_does_not_hide_a_wrong_answer() -> None:
    """It may strike while a case that has failed clears up."""
    with pytest.raises(pytest.fail.Exception) as ended:
        try:
            raise AssertionError("expected: 2")
        finally:
            pytest.fail("Timeout (>1.0s) from pytest-timeout.")
    assert judged(ended.value).outcome is Outcome.FAIL


def test_a_time_limit_does_not_end_the_run() -> None:
    """The method `thread` of pytest-timeout ends the process; what is no case of ours is left to it."""

    class Settings(NamedTuple):
        method: str

    def limited(method: str, *, ours: bool) -> list[Settings]:
        given: list[Settings] = []
        theirs = SimpleNamespace(pytest_timeout_set_timer=lambda item, settings: given.append(settings) or True)
        config = SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin={"timeout": theirs}.get))
        item: Any = SimpleNamespace(config=config, get_closest_marker=lambda name: ours or None)
        OtherTimeouts().pytest_timeout_set_timer(item, Settings(method))
        return given

    assert limited("thread", ours=True) == [Settings("signal")]
    assert limited("thread", ours=False) == limited("signal", ours=True) == []


def test_a_refusal_tells_its_reason_first_and_a_wrong_answer_its_steps() -> None:
    """Tables show the first line: many cases are refused for one reason, and a wrong answer is understood from what led to it."""
    steps = ["put('a', b'x') -> None", "get('a') -> b'y'"]
    refused = CaseResult(NOTHING, Stage.CORRECTNESS, "capabilities.x/001", 1, "single_key", (), claimed=False)
    refused.note_error(Unsupported("SQLite has no expiry of rows"), steps)
    assert (refused.outcome, refused.detail.splitlines()) == (Outcome.UNSUPPORTED, ["SQLite has no expiry of rows", *steps])
    wrong = CaseResult(NOTHING, Stage.CORRECTNESS, "capabilities.x/001", 1, "single_key", ())
    wrong.note_error(AssertionError("expected: b'x'"), steps)
    assert wrong.detail.splitlines() == [*steps, "expected: b'x'"]
