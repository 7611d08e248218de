"""What came while a case was cleared up is told, and does not hide what had come before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

from storeproof.contract import Refused, Unknown
from storeproof.outcome import Outcome, Stage
from storeproof.plugin import _judge
from storeproof.plugin.verdict import Verdict

NOTHING: Any = None


class _Trial:
    def explain(self, silence: Unknown) -> Unknown:
        return silence


class _Item:
    """A case of a store that runs."""

    class callspec:  # noqa: N801 - as pytest has it
        params: ClassVar = {"trial": _Trial()}


ITEM: Any = _Item()


def judged(error: BaseException) -> Verdict:
    verdict = Verdict(NOTHING, Stage.PERFORMANCE, "performance.x", 1, "single_key", ())
    _judge(ITEM, verdict, error, clean_up=False)
    return verdict


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
    verdict = judged(caught(Unknown("no answer in five seconds")))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.detail == "the store refused: the connection is closed\nbefore that: no answer in five seconds"


def test_it_is_not_told_twice() -> None:
    verdict = judged(caught(Refused("the connection is closed")))
    assert verdict.detail == "the store refused: the connection is closed"


def test_what_says_nothing_of_the_store_is_left_out() -> None:
    assert judged(caught(KeyError("x"))).detail == "the store refused: the connection is closed"
