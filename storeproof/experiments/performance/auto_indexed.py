"""Stores that index all they keep by themselves."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.result.case_result import EndCase
from storeproof.store_under_test import StoreUnderTest


def refuse_without_indexes(sut: StoreUnderTest, indexes: int) -> None:
    """What has indexes of its own from the beginning has no figures without them. Raises `EndCase`."""
    if not indexes and sut.target.configuration.auto_indexed:
        raise EndCase(Outcome.UNSUPPORTED, "the variant indexes every collection by itself: there is nothing to measure without indexes")
