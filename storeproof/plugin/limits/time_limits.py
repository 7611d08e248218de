"""How long a case may take, and all cases of a stage of one store: docs/METHOD.md, "Everything has an end"."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from storeproof.halt import Limit, halt
from storeproof.outcome import Stage
from storeproof.plugin.case import SuiteCase
from storeproof.result.running_case import CaseResult
from storeproof.units import seconds

_CASE: Final[Mapping[Stage, float]] = MappingProxyType({Stage.CORRECTNESS: 300, Stage.DURABILITY: 2400, Stage.PERFORMANCE: 900})
"""Seconds of a case at smoke. The longest of all published results took less than half of it, at any scale."""
_STAGE: Final[Mapping[Stage, float]] = MappingProxyType({Stage.CORRECTNESS: 1800, Stage.DURABILITY: 6000, Stage.PERFORMANCE: 3600})
_TIMES: Final[Mapping[str, int]] = MappingProxyType({"smoke": 1, "standard": 4, "full": 12})
"""As many times as long, by scale."""


class TimeLimits:
    def __init__(self, scale: str) -> None:
        self._times = _TIMES[scale]
        self._taken: defaultdict[tuple[str, Stage], float] = defaultdict(float)
        """Seconds of all cases so far, by target and stage."""

    @contextmanager
    def case(self, target: str, case: SuiteCase, case_result: CaseResult) -> Iterator[None]:
        """A case of this store runs in the block, with all of its attempts."""
        began = time.monotonic()
        try:
            with halt.case(self._limit(target, case)):
                yield
        finally:
            self._taken[target, case.stage] += max(0.0, time.monotonic() - began + case_result.elsewhere)

    def _limit(self, target: str, case: SuiteCase) -> Limit:
        stage = case.stage
        one, whole = _CASE[stage] * self._times, _STAGE[stage] * self._times
        left = whole - self._taken[target, stage]
        if case.interleaved and left > 0:  # it measures other stores too, and ends by its rounds
            return Limit()
        if left < one:
            return Limit(max(left, 0.0), f"the {stage} stage of this store has taken {seconds(whole)}, the most at this scale")
        return Limit(one, f"the case has taken {seconds(one)}, the most of one of {stage} at this scale")
