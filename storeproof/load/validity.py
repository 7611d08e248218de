"""The gates: conditions under which a number can be believed. One that fails is shown as failing, with its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from storeproof.load.engine import RunResult
from storeproof.load.statistics import Estimate
from storeproof.load.steady import LIMIT, WarmUp

ERRORS: Final = 0.001
"""Share of requests that may fail."""
CLIENT_CPU: Final = 0.9
"""Share of the cores it can use beyond which the load generator, and not the store, may be what is measured."""
LITTLE: Final = 0.05
"""How far rate times mean time may be from the number of clients."""
SPREAD: Final = 0.1
"""Half the 95 % interval, as a share of the median."""
_NEVER: Final = 1e9
"""Stands for "no value": JSON has no infinity."""


@dataclass(frozen=True)
class Judgement:
    """One gate. `value` must not exceed `limit`."""

    value: float
    limit: float

    @property
    def ok(self) -> bool:
        """Whether the gate is passed."""
        return self.value <= self.limit


def judge(rounds: Sequence[RunResult], warm: WarmUp, rate: Estimate) -> dict[str, Judgement]:
    """All gates of one measurement; each takes its worst round."""
    return {
        "errors": Judgement(max(_errors(each) for each in rounds), ERRORS),
        "client_cpu": Judgement(max(each.cpu_seconds / each.elapsed_seconds / each.cores for each in rounds), CLIENT_CPU),
        "little": Judgement(max(_little(each) for each in rounds), LITTLE),
        "steady": Judgement(_finite(warm.variation), LIMIT),
        "spread": Judgement(_finite(rate.spread) if len(rounds) > 1 else _NEVER, SPREAD),
    }


def _errors(result: RunResult) -> float:
    requests = sum(each.requests for each in result.operations.values()) + result.errors
    return result.errors / requests if requests else 1.0


def _little(result: RunResult) -> float:
    """Little's law for a closed loop with pauses: clients = rate × (mean time of a request + mean pause).

    A generator that loses requests, or stops its clock while it waits, cannot keep this.
    """
    return abs(result.request_rate * (result.busy_seconds + result.pause_seconds) / result.clients - 1)


def _finite(value: float) -> float:
    return value if isfinite(value) else _NEVER
