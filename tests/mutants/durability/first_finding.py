"""A pytest plugin for a run inside a test: the rounds of a store end with the fault that shows what is meant for its lie."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from storeproof.experiments.durability.clusters.cluster_rounds import ClusterRounds
from storeproof.experiments.durability.rounds import Round, Rounds

MEANT: dict[str, list[str]] = json.loads(os.environ["MEANT_FOR_THE_LIES"])
"""By store: the findings, one of which is enough. Stores that are not named go through the faults of an ordinary run."""
_PATIENCE = 20
"""Rounds at most, instead of 5. What a torn page does to a store is a matter of luck, and of what else the machine does."""

_all_rounds = Rounds.rounds
_meant: list[str] = []
"""For the store that is being tried."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stores are tried one after another."""
    _meant[:] = MEANT.get(item.callspec.params["sut"].target.store.name, [])  # type: ignore[attr-defined]


def _patiently(rounds: Rounds) -> Iterator[Round]:
    if _meant:
        rounds._scale = rounds._scale.model_copy(update={"rounds": _PATIENCE})
    return _all_rounds(rounds)


def _until_found(every: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """The rounds of an experiment up to the one that found what is meant."""

    def rounds(experiment: Any) -> Iterator[Any]:
        for each in every(experiment):
            yield each
            if any(experiment.summary.anomalies[kind] for kind in _meant):
                return

    return rounds


Rounds.rounds = _until_found(_patiently)  # type: ignore[method-assign]
ClusterRounds.rounds = _until_found(ClusterRounds.rounds)  # type: ignore[method-assign]
