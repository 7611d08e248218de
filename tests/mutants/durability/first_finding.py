"""A pytest plugin for a run inside a test: the rounds of a store end with the fault that shows what is meant for its lie."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from storeproof.experiments.durability.clusters.cluster_experiment import ClusterRound
from storeproof.experiments.durability.clusters.cluster_rounds import ClusterRounds
from storeproof.experiments.durability.rounds import Round, Rounds

MEANT: dict[str, list[str]] = json.loads(os.environ["MEANT_FOR_THE_LIES"])
"""By store: the findings, one of which is enough. Stores that are not named go through the faults of an ordinary run."""
_PATIENCE = 20
"""Rounds at most, instead of 5. What a torn page does to a store is a matter of luck, and of what else the machine does."""

_all_rounds, _all_of_cluster = Rounds.rounds, ClusterRounds.rounds
_meant: list[str] = []
"""For the store that is being tried."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stores are tried one after another."""
    _meant[:] = MEANT.get(item.callspec.params["sut"].target.store.name, [])  # type: ignore[attr-defined]


def _until_found(rounds: Rounds) -> Iterator[Round]:
    if _meant:
        rounds._scale = rounds._scale.model_copy(update={"rounds": _PATIENCE})
    for each in _all_rounds(rounds):
        yield each
        if _found(rounds):
            return


def _until_found_in_cluster(rounds: ClusterRounds) -> Iterator[ClusterRound]:
    for each in _all_of_cluster(rounds):
        yield each
        if _found(rounds):
            return


def _found(rounds: Rounds | ClusterRounds) -> bool:
    return any(rounds.summary.anomalies[kind] for kind in _meant)  # type: ignore[index]


Rounds.rounds = _until_found  # type: ignore[method-assign]
ClusterRounds.rounds = _until_found_in_cluster  # type: ignore[method-assign]
