"""In each block every store has one round, whatever became of the others."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.experiments.performance import store_rounds

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

    def __init__(self, _way: Any, sut: Any, _engines: Any, _ceilings: Any) -> None:
        self.sut = sut
        self.beside: tuple[str, ...] = ()
        self.sound = sut.target.id != "broken"

    def prepare(self) -> None:
        LOG.append(f"prepare {self.sut.target.id}")

    def run_round(self) -> None:
        LOG.append(self.sut.target.id)

    def close(self) -> None:
        LOG.append(f"close {self.sut.target.id}")


def test_rounds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are prepared before the first round; the order within the blocks changes; who was sound knows beside whom."""
    LOG.clear()
    monkeypatch.setattr(store_rounds, "Turns", Logged)
    suts: list[Any] = [Store(name) for name in STORES]
    way: Any = SimpleNamespace(name="w", case="performance.w")
    ceilings: Any = None
    measuring = store_rounds.Interleaved(ceilings, lambda _case: suts[1:])

    found = {sut.target.id: measuring.turns(way, sut) for sut in suts}

    assert LOG[: len(STORES)] == [f"prepare {name}" for name in STORES]
    rounds = LOG[len(STORES) :]
    blocks = [tuple(rounds[first : first + len(STORES)]) for first in range(0, len(rounds), len(STORES))]
    assert len(blocks) == ROUNDS
    assert all(Counter(block) == Counter(STORES) for block in blocks)
    assert len(set(blocks)) > 1
    assert {name: turns.beside for name, turns in found.items()} == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b"), "broken": ()}
    measuring.close()
    assert LOG[-1] in STORES, "what its case took over, its case closes"
