"""In each block every store has one round, whatever became of the others."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.suites.performance import interleaved

ROUNDS = 6
STORES = ["a", "b", "broken", "c"]
LOG: list[str] = []


class Store:
    """In place of a trial."""

    def __init__(self, name: str) -> None:
        self.target = SimpleNamespace(id=name)
        self.scale = SimpleNamespace(performance=SimpleNamespace(rounds=ROUNDS))
        self.seed = 1


class Logged:
    """In place of `Turns`: notes what is asked of it."""

    def __init__(self, _way: Any, trial: Any, _engines: Any, _ceilings: Any) -> None:
        self.trial = trial
        self.beside: tuple[str, ...] = ()
        self.sound = trial.target.id != "broken"

    def prepare(self) -> None:
        LOG.append(f"prepare {self.trial.target.id}")

    def run_round(self) -> None:
        LOG.append(self.trial.target.id)

    def close(self) -> None:
        LOG.append(f"close {self.trial.target.id}")


def test_rounds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are prepared before the first round; the order within the blocks changes; who was sound knows beside whom."""
    LOG.clear()
    monkeypatch.setattr(interleaved, "Turns", Logged)
    trials: list[Any] = [Store(name) for name in STORES]
    way: Any = SimpleNamespace(name="w", case="performance.w")
    ceilings: Any = None
    measuring = interleaved.Interleaved(ceilings, lambda _case: trials[1:])

    found = {trial.target.id: measuring.turns(way, trial) for trial in trials}

    assert LOG[: len(STORES)] == [f"prepare {name}" for name in STORES]
    rounds = LOG[len(STORES) :]
    blocks = [tuple(rounds[first : first + len(STORES)]) for first in range(0, len(rounds), len(STORES))]
    assert len(blocks) == ROUNDS
    assert all(Counter(block) == Counter(STORES) for block in blocks)
    assert len(set(blocks)) > 1
    assert {name: turns.beside for name, turns in found.items()} == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b"), "broken": ()}
    measuring.close()
    assert LOG[-1] in STORES, "what its case took over, its case closes"
