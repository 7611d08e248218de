"""A pytest plugin for a run inside a test: the rounds of a store end with the fault that shows what is meant for its lie."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from storeproof.check import Anomaly
from storeproof.experiments.durability.clusters.cluster_rounds import ClusterRounds
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.workloads.server_records import ServerRecords

MEANT: dict[str, list[str]] = json.loads(os.environ["MEANT_FOR_THE_LIES"])
"""By store: the findings, one of which is enough. Stores that are not named go through the faults of an ordinary run."""
_PATIENCE = 20
"""Rounds at most, instead of 5. What a torn page does to a store is a matter of luck, and of what else the machine does."""

_meant: list[str] = []
"""For the store that is being tried."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stores are tried one after another."""
    _meant[:] = MEANT.get(item.callspec.params["sut"].target.store.name, [])  # type: ignore[attr-defined]


def _until_found(every: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """The rounds of an experiment up to the one that found what is meant."""

    def rounds(experiment: Any) -> Iterator[Any]:
        summary = experiment.workload.summary if isinstance(experiment, StrikeRounds) else experiment.summary
        anomalies = summary.anomalies if isinstance(summary, DurabilitySummary) else Counter[Anomaly]()
        if _meant and isinstance(experiment, StrikeRounds) and isinstance(experiment.workload, ServerRecords):
            experiment.strikes = [experiment.strikes[0]] * _PATIENCE
        for each in every(experiment):
            yield each
            if any(anomalies[kind] for kind in _meant):
                return

    return rounds


StrikeRounds.rounds = _until_found(StrikeRounds.rounds)  # type: ignore[method-assign]
ClusterRounds.rounds = _until_found(ClusterRounds.rounds)  # type: ignore[method-assign]
