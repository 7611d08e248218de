"""Random histories on hostile data, store against oracle. Hypothesis shrinks a failure to the minimal history."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from storeproof.blame import Ending, ending_of
from storeproof.contract import OPERATIONS, Collection, Layout, Refused, Unknown, Unsupported, call, supports, why_not
from storeproof.contract.notation import shown
from storeproof.experiments.correctness.random_examples import Finding, NotCleared, try_examples
from storeproof.experiments.workspace import OpenCollection
from storeproof.oracle import REFUSAL, UNDEFINED, State, same_lenient, step
from storeproof.oracle.strategies import Call, drawable, histories, is_plain, tours
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.case_result import CaseResult
from storeproof.store_under_test import StoreUnderTest

_APART = frozenset(
    {
        *("put_expiring", "put_swept", "expire", "expires_in", "persist", "walk"),
        *("follow", "changes", "leave_feed", "resume_feed", "save_search", "searches_for"),
    }
)
"""What the clock decides is tried by fixed cases, and walks and feeds by checks of their own: their cursors are the store's."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    models = suite_run(metafunc.config).spec.models
    metafunc.parametrize("model", [pytest.param(name, marks=pytest.mark.case(id=f"stateful.{name}", model=name)) for name in models])


def test_random_histories(model: str, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Random sequences of operations get the oracle's answers."""
    collection, layout = fresh(model)
    if not supports(collection, "get"):
        case_result.settle(Outcome.UNSUPPORTED, f"no record is read back at the end of a history: {why_not(collection, 'KeyValue')}")
    operations = frozenset(name for name in OPERATIONS if supports(collection, name)) - _APART
    case_result.about(model, operations)
    scale = sut.scale.correctness
    limits: Counter[str] = Counter()
    answered: set[str] = set()

    def play(history: list[Call]) -> None:
        _play(collection, layout, history, limits, answered)

    try_examples(histories(layout.model, operations, scale.steps), play, f"stateful and {model}", sut, case_result)
    # Speed is measured for what was answered here: that must not hang on what happened to be drawn.
    if left_out := (operations & drawable(layout.model)) - answered:
        try_examples(tours(layout.model, left_out), play, f"stateful and {model}", sut, case_result)
    case_result.about(model, answered)  # what was only refused, or never drawn, is not shown by this
    case_result.add(f"{scale.examples} histories of up to {scale.steps} operations: {', '.join(sorted(answered))}")
    case_result.add("\n".join(f"limit: {text} ({count} times)" for text, count in sorted(limits.items())))


def _play(collection: Collection, layout: Layout, history: list[Call], limits: Counter[str], answered: set[str]) -> None:
    """Run one history on the collection, which is empty before, and leave it empty; note the limits and what was answered right."""
    state: State = {}
    told: list[str] = []
    try:
        for operation, args in history:
            wanted, after = step(state, operation, args)
            if wanted is UNDEFINED:
                continue
            told.append(shown(operation, args))
            found = _ask(collection, layout, operation, args)
            told[-1] += f" -> {found!r}"
            if isinstance(found, Refused):
                if wanted is REFUSAL or not is_plain(args):
                    limits[_limit(operation, found)] += wanted is not REFUSAL
                    continue
                raise Finding("\n".join([*told, f"refused, although every store must accept it: expected {wanted!r}"]))
            if isinstance(found, Unsupported):
                limits[_limit(operation, found)] += 1
                continue
            if wanted is REFUSAL or not same_lenient(found, wanted):
                raise Finding("\n".join([*told, f"expected: {wanted!r}"]))
            state = after
            answered.add(operation)
        _close(collection, layout, state, told, answered)
    except Unknown:
        raise
    except Exception as found:
        try:
            collection.clear()  # whatever is left must not reach the next history
            collection.prepare()
        except Exception as reason:  # noqa: BLE001 - told with what was found, which it must not hide
            raise NotCleared(found, reason) from None
        raise


def _close(collection: Collection, layout: Layout, state: State, told: list[str], answered: set[str]) -> None:
    """At the end every record is there and as it should be, and is removed."""
    for key, record in state.items():
        found = _ask(collection, layout, "get", (key,))
        told.append(f"{shown('get', (key,))} -> {found!r}")
        if not same_lenient(found, record):
            raise Finding("\n".join([*told, f"expected at the end: {record!r}"]))
        answered.add("get")
        for closing in ("exists", "delete"):
            found = _ask(collection, layout, closing, (key,))
            if isinstance(found, Unsupported):
                continue
            if found is not True:
                raise Finding("\n".join([*told, f"{shown(closing, (key,))} -> {found!r}", "expected: True"]))
            answered.add(closing)


def _ask(collection: Collection, layout: Layout, operation: str, args: tuple[Any, ...]) -> Any:
    try:
        return call(collection, layout, operation, *args)
    except (Refused, Unsupported) as answer:
        if ending_of(answer) is Ending.SPOILED:
            raise
        return answer


def _limit(operation: str, reason: Exception) -> str:
    return f"{operation}: {str(reason)[:100]}"
