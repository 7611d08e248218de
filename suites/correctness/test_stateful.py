"""Random histories on hostile data, store against oracle. Hypothesis shrinks a failure to the minimal history."""

from __future__ import annotations

from collections import Counter

import pytest

from storeproof.contract import OPERATIONS, supports, why_not
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.play_history import play_history
from storeproof.experiments.correctness.random_examples import try_examples
from storeproof.oracle.strategies import drawable, histories, tours
from storeproof.oracle.thresholds import Call
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.result.running_case import CaseResult
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
        play_history(collection, layout, history, limits, answered)

    try_examples(histories(layout.model, operations, scale.steps), play, f"stateful.{model}/", sut, case_result)
    # Speed is measured for what was answered here: that must not hang on what happened to be drawn.
    if left_out := (operations & drawable(layout.model)) - answered:
        try_examples(tours(layout.model, left_out), play, f"stateful.{model}/", sut, case_result)
    case_result.about(model, answered)  # what was only refused, or never drawn, is not shown by this
    case_result.add(f"{scale.examples} histories of up to {scale.steps} operations: {', '.join(sorted(answered))}")
    case_result.add("\n".join(f"limit: {text} ({count} times)" for text, count in sorted(limits.items())))
