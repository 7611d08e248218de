"""No speed without proof: what was not correct, in this run or in the one that is cited, is not measured."""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.outcome import Lack, Outcome
from storeproof.result.case_result import EndCase
from storeproof.result.measured.lacked import Lacked
from storeproof.store_under_test import StoreUnderTest


def require_proof(sut: StoreUnderTest, model: str, operations: Iterable[str]) -> None:
    """Raises `EndCase` unless the store claims the model, and every answer of these operations on it was correct."""
    if model not in sut.target.store.claims.models:  # random histories try what is claimed
        raise EndCase(Outcome.UNSUPPORTED, f"the store does not claim {model}, and it is not measured")
    for operation in operations:
        if reason := sut.record.unproven(model, operation):
            lacked = Lacked(what=Lack.VERIFIED_OPERATION, model=model, operation=operation)
            raise EndCase(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it, or cite a run that did (--proof)", lacked)
