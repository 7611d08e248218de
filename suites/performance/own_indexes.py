"""Stores that index all they keep by themselves."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.plugin.verdict import Settlement
from storeproof.trial import Trial


def refuse_without_indexes(trial: Trial, indexes: int) -> None:
    """What has indexes of its own from the beginning has no figures without them. Raises `Settlement`."""
    if not indexes and trial.target.variant.own_indexes:
        raise Settlement(Outcome.UNSUPPORTED, "the variant indexes every collection by itself: there is nothing to measure without indexes")
