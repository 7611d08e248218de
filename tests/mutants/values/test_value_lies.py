"""Stores that lie about one kind of value: each must be caught by the case that is meant for it. Nothing is started, and no time passes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.contract import Layout
from storeproof.outcome import Outcome, Stage
from storeproof.result.recorder import StoreRecord
from storeproof.result.running_case import CaseResult, EndCase
from storeproof.spec import Spec
from storeproof.spec.editions.frozen import load_edition
from storeproof.spec.variation import AS_IT_IS, Variation
from storeproof.suites.correctness import test_capabilities, test_thresholds
from tests.mutants.values.value_lies import LIES, Timed
from tests.shipped import SHIPPED

FROZEN = load_edition("2026.12")
CHECKS = sorted({lie.check for lie in LIES.values()})


def capability_of(check: str) -> str:
    """The name of the capability."""
    return check.removeprefix("capabilities.").partition("/")[0]


class OwnClock:
    """Waits by moving the clock of the store."""

    def __init__(self, store: Timed) -> None:
        self._store = store

    def wait(self, seconds: float) -> None:
        self._store.now += seconds

    def look(self) -> None: ...

    def disturbed(self) -> str:
        return ""


def outcome(spec: Spec, check: str, store: Timed, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What becomes of a case, tried as the suites try it."""
    monkeypatch.setattr(test_capabilities, "Clock", lambda: OwnClock(store))
    result = CaseResult(StoreRecord(target=None), Stage.CORRECTNESS, check, 1, "", ())  # type: ignore[arg-type]
    sut: Any = SimpleNamespace(spec=spec, command=lambda selection: selection)

    def fresh(model: str, indexes: int = 0, record: Variation = AS_IT_IS) -> tuple[Timed, Layout]:
        store.clear()
        return store, Layout("c", record.applied(spec.models[model]), indexes)

    kind, _, name = check.partition(".")
    try:
        if kind == "thresholds":
            test_thresholds.test_thresholds(name, sut, fresh, result)
        else:
            (case,) = [each for each in spec.capabilities[capability_of(check)].cases if check.endswith(f"/{each.id}")]
            test_capabilities.test_capability(capability_of(check), case, sut, fresh, result)
    except EndCase as end:
        return end.outcome
    except AssertionError:
        return Outcome.FAIL
    result.finished()
    return result.outcome


@pytest.mark.parametrize("lie", LIES)
def test_the_lie_is_caught_by_the_case_that_is_meant_for_it(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mutant fails its own case."""
    assert outcome(SHIPPED, LIES[lie].check, LIES[lie].liar(), monkeypatch) is Outcome.FAIL


@pytest.mark.parametrize("check", CHECKS)
def test_the_honest_store_raises_no_alarm(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same store without a lie passes."""
    assert outcome(SHIPPED, check, Timed(), monkeypatch) is Outcome.PASS


@pytest.mark.parametrize("lie", [name for name, lie in LIES.items() if capability_of(lie.check) in FROZEN.capabilities])
def test_the_frozen_edition_lets_it_pass(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edition 2026.12 has no case of the same capability that catches it: that is why there is a new one."""
    name = capability_of(LIES[lie].check)
    for case in FROZEN.capabilities[name].cases:
        assert outcome(FROZEN, f"capabilities.{name}/{case.id}", LIES[lie].liar(), monkeypatch) is Outcome.PASS, case.id


def test_the_score(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All mutants are caught; the score is printed."""
    score = sum(outcome(SHIPPED, lie.check, lie.liar(), monkeypatch) is Outcome.FAIL for lie in LIES.values())
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(LIES)} lies about values were caught by the case that is meant for them")
    assert score == len(LIES) == 25
