"""Stale reads: a read that is sent after a write was acknowledged returns that write, or a newer one.

A store that is a single copy has none. One with a cache or a replica may: its variant then says `stale_reads: possible`, and the case says
how often they were seen, and how old.
"""

from __future__ import annotations

import pytest

from storeproof.contract import OPERATIONS, supports, why_not
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.correctness.stale_reads import read_contended_keys
from storeproof.outcome import Outcome
from storeproof.result.measured.case_records import StaleReadCounts
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest

_OPERATIONS = ("get", "put")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=pytest.mark.case(id=f"stale_reads.{name}", model=name, operations=_OPERATIONS))
        for name in ("single_key", "hash10", "document10")
    ],
)
def test_no_read_is_stale(model: str, sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """Clients read and write the same few keys; each read is held against the writes that were acknowledged before it was sent."""
    if not case_result.claimed:
        case_result.settle(Outcome.UNSUPPORTED, f"the store does not claim the model {model}")
    collection, layout = fresh(model)
    for operation in (*_OPERATIONS, "delete"):
        if not supports(collection, operation):
            family = OPERATIONS[operation].family.__name__
            case_result.settle(Outcome.UNSUPPORTED, f"{operation} on {model}: {why_not(collection, family)}")
    found = read_contended_keys(sut, layout)
    seen = found.all
    case_result.stale_reads = StaleReadCounts.of(seen.reads, seen.ages_ms)
    assert not seen.unexplained, f"a read returned the record of no write: {seen.unexplained[0].with_answer()}"
    if not seen.reads or not found.writes:
        case_result.settle(Outcome.INCONCLUSIVE, f"{seen.reads} reads and {found.writes} writes were answered: too few to tell")
    if sut.target.stale_reads:
        declared = "stale reads are declared as possible"
        case_result.settle(Outcome.UNSUPPORTED, "\n".join([found.sentence(), *found.examples(), declared]))
    assert not seen.stale, "\n".join([found.sentence(), *found.examples()])
    case_result.add(found.sentence())
