"""The records that the transactions of all clients read and replace: few at a time, and new ones in the course of a run."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterable

from storeproof.spec.isolation import TransactionMix


class ContendedRecords:
    """Their keys. May be used by several threads."""

    def __init__(self, mix: TransactionMix, first: int = 0) -> None:
        """`first`: the number of the first one."""
        self._first = first
        self._writes = mix.writes
        self._keys = [f"k{first + number}" for number in range(mix.keys)]
        self._in_use = list(self._keys)
        self._written = Counter[str]()
        self._changing = threading.Lock()

    @property
    def keys(self) -> tuple[str, ...]:
        """All that have been in use."""
        return tuple(self._keys)

    def draw(self, rng: random.Random, number: int) -> list[str]:
        """That many different ones of those in use."""
        with self._changing:
            return rng.sample(self._in_use, number)

    def count(self, written: Iterable[str]) -> None:
        """Count what a transaction is about to write; a record that was written often enough is replaced by a new one."""
        with self._changing:
            for key in written:
                self._written[key] += 1
                if self._written[key] == self._writes:
                    self._keys.append(f"k{self._first + len(self._keys)}")
                    self._in_use[self._in_use.index(key)] = self._keys[-1]
