"""A pytest plugin for a run inside a test: the rounds of a store end with the fault that shows what is meant for its lie."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from storeproof.experiments.durability.rounds import Rounds

MEANT: dict[str, list[str]] = json.loads(os.environ["MEANT_FOR_THE_LIES"])
"""By store: the findings, one of which is enough. Stores that are not named go through all faults."""

_strike = Rounds._strike
_meant: list[str] = []
"""For the store that is being tried."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stores are tried one after another."""
    _meant[:] = MEANT.get(item.callspec.params["sut"].target.store.store, [])  # type: ignore[attr-defined]


def _until_found(rounds: Rounds, *arguments: Any, **more: Any) -> bool:
    goes_on = _strike(rounds, *arguments, **more)
    return goes_on and not any(rounds._tally.anomalies[each] for each in _meant)


Rounds._strike = _until_found  # type: ignore[method-assign]
