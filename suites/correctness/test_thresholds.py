"""Records over the sizes at which stores change how they keep them, up and down, read back in every way."""

from __future__ import annotations

from collections import Counter

import pytest

from storeproof.contract import OPERATIONS, Collection, Layout, Refused, supports, why_not
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.play_history import play_history
from storeproof.experiments.correctness.random_examples import FailingExample
from storeproof.oracle.thresholds import ENTRIES, FIELDS, crossings
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult, EndCase
from storeproof.spec.variation import Variation
from storeproof.store_under_test import StoreUnderTest

_MODELS = ("single_key", "hash10", "nested", "queue", "members", "ranking")
_MANY_FIELDS = (FIELDS, ENTRIES[0] + 2)
"""Of a hash: as many as are wanted, and fewer where a store's table cannot have these."""


@pytest.mark.parametrize("model", [pytest.param(name, marks=pytest.mark.case(id=f"thresholds.{name}", model=name)) for name in _MODELS])
def test_thresholds(model: str, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Each crossing gets the oracle's answers."""
    answered = _cross(model, fresh(model), sut, case_result)
    if model == "hash10" and (wide := _with_many_fields(fresh, case_result)):
        _cross(model, wide, sut, case_result)
    case_result.about(model, answered)


def _with_many_fields(fresh: OpenCollection, case_result: CaseResult) -> tuple[Collection, Layout] | None:
    """A collection of hashes with more fields than the thresholds, or than the first of them; None if the store can have neither."""
    for fields in _MANY_FIELDS:
        try:
            return fresh("hash10", 0, Variation(fields=fields))
        except (EndCase, Refused) as refusal:
            if isinstance(refusal, EndCase) and refusal.outcome is not Outcome.UNSUPPORTED:
                raise
            case_result.add(f"limit: a hash of {fields} fields: {str(refusal)[:100]}")
    return None


def _cross(model: str, opened: tuple[Collection, Layout], sut: StoreUnderTest, case_result: CaseResult) -> set[str]:
    """Play all crossings on an empty collection; returns the operations that were answered."""
    collection, layout = opened
    if not supports(collection, "get"):
        case_result.settle(Outcome.UNSUPPORTED, f"no record is read back: {why_not(collection, 'KeyValue')}")
    operations = frozenset(name for name in OPERATIONS if supports(collection, name))
    case_result.about(model, operations)
    limits: Counter[str] = Counter()
    answered: set[str] = set()
    for history in crossings(layout.model):
        try:
            play_history(collection, layout, [call for call in history if call[0] in operations], limits, answered)
        except FailingExample as finding:
            case_result.again = sut.command(f"thresholds and {model}")
            case_result.settle(Outcome.FAIL, str(finding), [finding.finding])
    case_result.add("\n".join(f"limit: {text} ({count} times)" for text, count in sorted(limits.items())))
    return answered
