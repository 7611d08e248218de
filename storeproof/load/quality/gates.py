"""The gates: conditions under which a figure is valid. A gate that fails is shown with its value and its limit.

A gate that cannot be measured is left out, and does not count as passed: the ceiling, where the store's client makes the requests; the
client's processor time in an open loop, whose clients watch the clock while nothing is due (there the lag shows whether they were in
time); and the lag in a closed loop, which has no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from storeproof.load.job import RunResult
from storeproof.stats.intervals import Estimate
from storeproof.stats.latency import new_histogram
from storeproof.stats.steady_state import LIMIT, WarmUp

ERRORS: Final = 0.001
"""Share of requests that may fail."""
CLIENT_CPU: Final = 0.9
"""Share of the cores it can use beyond which the load generator, and not the store, may be what is measured."""
CEILING: Final = 0.8
"""Share of the rate which the load generator reaches against a server that does nothing, beyond which the same holds."""
LITTLE: Final = 0.05
"""How far rate times mean time may be from the number of requests in flight."""
LAG: Final = 0.1
"""How late requests were sent though a client was free, as a share of the response time: half of them, and 99 of a hundred."""
MISSING: Final = 0.01
"""Share of the requests of an open loop that were due and not sent: with more of them the store was overloaded."""
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


def judge(
    rounds: Sequence[RunResult], warm: WarmUp, rate: Estimate, *, pipeline: int = 1, ceiling: float | None = None
) -> dict[str, Judgement]:
    """All gates of one measurement. Each takes its worst round; but for the lag, whose percentiles are those of all rounds, as are the
    response times that it is held against.

    Args:
        pipeline: requests that a client may have in flight.
        ceiling: requests per second that the load generator reaches against a server that does nothing; None where it was not measured.
    """
    gates = {
        "errors": Judgement(max(_error_ratio(each) for each in rounds), ERRORS),
        "littles_law": Judgement(max(_little(each, pipeline) for each in rounds), LITTLE),
        "steady_state": Judgement(_finite(warm.variation), LIMIT),
        "spread": Judgement(_finite(rate.spread) if len(rounds) > 1 else _NEVER, SPREAD),
    }
    if all(each.schedule_lag is not None for each in rounds):
        gates["schedule_lag"] = Judgement(_schedule_lag(rounds), LAG)
        gates["missed_send_ratio"] = Judgement(max(_missed_send_ratio(each) for each in rounds), MISSING)
    else:
        gates["client_cpu"] = Judgement(max(each.cpu_seconds / each.elapsed_seconds / each.cores for each in rounds), CLIENT_CPU)
    if ceiling is not None:
        gates["client_ceiling"] = Judgement(max(each.request_rate for each in rounds) / ceiling, CEILING)
    return gates


def _error_ratio(result: RunResult) -> float:
    requests = sum(each.requests for each in result.operations.values()) + result.errors
    return result.errors / requests if requests else 1.0


def _little(result: RunResult, pipeline: int) -> float:
    """Little's law for a closed loop with pauses: requests in flight = rate × (mean time of a request + mean pause).

    A generator that loses requests, or stops its clock while it waits, cannot keep this. In an open loop the number in flight is not
    known, only that it cannot exceed what the clients have room for: a generator that took the time of the waiting into the service time,
    or forgot requests and sent others in their place, would have more.
    """
    room = result.clients * pipeline
    if result.schedule_lag is not None:
        return max(result.request_rate * result.busy_seconds / room - 1, 0.0)
    return abs(result.request_rate * (result.busy_seconds + result.pause_seconds) / room - 1)


def _schedule_lag(rounds: Sequence[RunResult]) -> float:
    """Percentile by percentile: one request in a hundred that was sent late shows in the 99th percentile, and not in the median.

    That all clients were busy is no lag: a request that waits for one of them waits for the store, and its response time says so.
    """
    lag, response = new_histogram(), new_histogram()
    for each in rounds:
        if each.schedule_lag is not None:
            lag.add(each.schedule_lag)
        for operation in each.operations.values():
            if operation.response is None:
                return _NEVER
            response.add(operation.response)
    if not response.get_total_count():
        return _NEVER
    return max(float(lag.get_value_at_percentile(p) / response.get_value_at_percentile(p)) for p in (50, 99))


def _missed_send_ratio(result: RunResult) -> float:
    """Of those that were due, and not of the rate: what a random process has for the time would differ from the rate by more than that."""
    sent = sum(each.requests for each in result.operations.values()) + result.errors + result.misses
    return result.missed_sends / (sent + result.missed_sends) if sent + result.missed_sends else 1.0


def _finite(value: float) -> float:
    return value if isfinite(value) else _NEVER
