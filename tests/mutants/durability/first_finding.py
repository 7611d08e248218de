"""A pytest plugin for a run inside a test: the rounds of a store end with the fault that shows what is meant for its lie."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.workloads.server_records import ServerRecords

MEANT: dict[str, list[str]] = json.loads(os.environ["MEANT_FOR_THE_LIES"])
"""By store: the findings, one of which is enough. Stores that are not named go through the faults of an ordinary run."""
_PATIENCE = 20
"""Rounds at most, instead of 5. What a torn page does to a store is a matter of luck, and of what else the machine does."""

_all_rounds = StrikeRounds.rounds
_meant: list[str] = []
"""For the store that is being tried."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stores are tried one after another."""
    _meant[:] = MEANT.get(item.callspec.params["sut"].target.store.name, [])  # type: ignore[attr-defined]


def _until_found(rounds: StrikeRounds[Any]) -> Iterator[Any]:
    """The rounds up to the one that found what is meant."""
    summary = rounds.workload.summary
    if _meant and isinstance(rounds.workload, ServerRecords):
        rounds.strikes = [rounds.strikes[0]] * _PATIENCE
    for each in _all_rounds(rounds):
        yield each
        if isinstance(summary, DurabilitySummary) and any(summary.anomalies[kind] for kind in _meant):
            return


StrikeRounds.rounds = _until_found  # type: ignore[method-assign]
