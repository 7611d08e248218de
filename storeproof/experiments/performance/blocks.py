"""The blocks of one load: in each of them every store has one round with each number of indexes, in random order."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from storeproof.experiments.performance.store_rounds import StoreRounds
from storeproof.experiments.performance.surroundings import Surroundings


class Blocks:
    """The blocks of one lap. There are as many as it takes until all numbers are precise enough, or as there may be."""

    def __init__(self, compared: Sequence[StoreRounds], laps: int) -> None:
        self._compared = list(compared)
        self._repeated = 0
        self._laps = laps
        self._number = 0
        self._scale = compared[0].sut.scale.performance.rounds

    @property
    def seed(self) -> str:
        first = self._compared[0]
        return f"{first.sut.seed}:{first.config.name}:{self._number}:{self._repeated}"

    @property
    def adaptive(self) -> bool:
        """Whether there may be more of them."""
        return self._scale.adaptive

    @property
    def ended(self) -> bool:
        """Whether there need be no more, or may not be."""
        scale, number = self._scale, self._number
        if number >= scale.at_most // self._laps:
            return True
        looks = number >= scale.at_least and (number - scale.at_least) % scale.every == 0
        return looks and all(rounds.enough(self._laps) for rounds in self._compared)

    @property
    def seconds(self) -> float:
        return sum(rounds.in_round for rounds in self._compared)

    def run(self) -> None:
        """One; `keep` or `forget` it."""
        block = list(self._compared)
        Random(self.seed).shuffle(block)
        for rounds in block:
            rounds.run_round()

    def keep(self, beside: Surroundings) -> None:
        """The last one counts."""
        self._number += 1
        for rounds in self._compared:
            rounds.keep_round(beside)

    def forget(self, beside: Surroundings) -> None:
        """The last one does not count, for what there was beside it."""
        self._repeated += 1
        for rounds in self._compared:
            rounds.forget_round(beside)
