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
    """In place of a store under test."""

    def __init__(self, name: str) -> None:
        self.target = SimpleNamespace(id=name)
        self.scale = SimpleNamespace(performance=SimpleNamespace(rounds=ROUNDS))
        self.seed = 1


class Logged:
    """In place of `StoreRounds`: notes what is asked of it."""

    def __init__(self, _way: Any, sut: Any, _engines: Any, _ceilings: Any) -> None:
        self.sut = sut
        self.interleaved_with: tuple[str, ...] = ()
        self.sound = sut.target.id != "broken"

    def prepare(self) -> None:
        LOG.append(f"prepare {self.sut.target.id}")

    def run_round(self) -> None:
        LOG.append(self.sut.target.id)

    def close(self) -> None:
        LOG.append(f"close {self.sut.target.id}")


def test_rounds_of_all_stores_are_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are prepared before the first round; the order within the blocks changes; who was sound knows interleaved_with whom."""
    LOG.clear()
    monkeypatch.setattr(store_rounds, "StoreRounds", Logged)
    suts: list[Any] = [Store(name) for name in STORES]
    config: Any = SimpleNamespace(name="w", case="performance.w")
    ceilings: Any = None
    rounds_of_all = store_rounds.InterleavedRounds(ceilings, lambda _case: suts[1:])

    found = {sut.target.id: rounds_of_all.rounds_of(config, sut) for sut in suts}

    assert LOG[: len(STORES)] == [f"prepare {name}" for name in STORES]
    rounds = LOG[len(STORES) :]
    blocks = [tuple(rounds[first : first + len(STORES)]) for first in range(0, len(rounds), len(STORES))]
    assert len(blocks) == ROUNDS
    assert all(Counter(block) == Counter(STORES) for block in blocks)
    assert len(set(blocks)) > 1
    assert {name: each.interleaved_with for name, each in found.items()} == {
        "a": ("b", "c"),
        "b": ("a", "c"),
        "c": ("a", "b"),
        "broken": (),
    }
    rounds_of_all.close()
    assert LOG[-1] in STORES, "what its case took over, its case closes"
