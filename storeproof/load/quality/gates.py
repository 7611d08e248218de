"""The gates: conditions under which a figure is valid. A gate that fails is shown with its value and its limit.

A gate that cannot be measured is left out, and does not count as passed: the ceiling, where the store's client makes the requests; the
client's processor time in an open loop, whose clients watch the clock while nothing is due (there the lag shows whether they were in
time); and the lag in a closed loop, which has no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from storeproof.load.engine import RunResult
from storeproof.stats.latency import new_histogram

ERRORS: Final = 0.001
"""Share of requests that may fail."""
CLIENT_CPU: Final = 0.9
"""Share of the time in which the load generator had something to do, beyond which it, and not the store, may be what is measured."""
CEILING: Final = 0.8
"""Share of the rate which the load generator reaches against a server that does nothing, beyond which the same holds."""
LITTLE: Final = 0.05
"""How far rate times mean time may be from the number of requests in flight."""
LAG: Final = 0.1
"""How late requests were sent though a client was free, as a share of the response time: half of them, and 99 of a hundred."""
MISSING: Final = 0.01
"""Share of the requests of an open loop that were due and not sent: with more of them the store was overloaded."""
START: Final = 0.05
"""Share of a round for which one load may be on without another, or that of one host without that of another."""
VALIDITY: Final = frozenset({"errors", "littles_law", "schedule_lag", "missed_send_ratio", "joint_start"})
"""Gates whose failure makes a number invalid: it is not the rate of what was to be measured."""
BOTTLENECK: Final = frozenset({"client_cpu", "client_ceiling", "joint_ceiling"})
"""Gates whose failure says that the load generator was the limit: the store is at least as fast as the number."""
_NEVER: Final = 1e9
"""Stands for "no value": JSON has no infinity."""


@dataclass(frozen=True)
class GateJudgement:
    """One gate. `value` must not exceed `limit`."""

    value: float
    limit: float

    @property
    def ok(self) -> bool:
        return self.value <= self.limit


def judge_rounds(rounds: Sequence[RunResult], *, pipeline: int = 1, ceiling: float | None = None) -> dict[str, GateJudgement]:
    """All gates of one measurement, over all of its rounds together: a gate that took the worst round would fail more often the more
    rounds there are.

    Args:
        pipeline: requests that a client may have in flight.
        ceiling: requests per second that the load generator reaches against a server that does nothing; None where it was not measured.
    """
    gates = {
        "errors": GateJudgement(_error_ratio(rounds), ERRORS),
        "littles_law": GateJudgement(median(_little(each, pipeline) for each in rounds), LITTLE),
    }
    if all(each.schedule_lag is not None for each in rounds):
        gates["schedule_lag"] = GateJudgement(_schedule_lag(rounds), LAG)
        gates["missed_send_ratio"] = GateJudgement(_missed_send_ratio(rounds), MISSING)
    else:
        gates["client_cpu"] = GateJudgement(_client_cpu(rounds), CLIENT_CPU)
    if any(each.hosts for each in rounds):
        gates["joint_start"] = GateJudgement(median(each.apart for each in rounds), START)
    if ceiling is not None:
        gates["client_ceiling"] = GateJudgement(median(each.request_rate for each in rounds) / ceiling, CEILING)
    return gates


def is_lower_bound(failing: Sequence[str]) -> bool:
    """Whether the load generator was the limit, by the gates that failed."""
    return any(name in BOTTLENECK for name in failing)


def invalid_by(failing: Sequence[str], *, verified: bool) -> list[str]:
    """What makes a number invalid: those of the gates that failed which do, and `audit` where the data was not verified."""
    return [name for name in failing if name in VALIDITY] + ([] if verified else ["audit"])


def _client_cpu(rounds: Sequence[RunResult]) -> float:
    """The share of the time in which the generator had something to do. One that waits for a processor is as much the limit as one that
    has it: on a busy machine, or where the server took the core, it would look idle by its processor time alone. Of several hosts the
    busiest counts."""
    by_host = list(zip(*(each.hosts for each in rounds), strict=True))
    return max(_busy(each) for each in by_host) if by_host else _busy(rounds)


def _busy(rounds: Sequence[RunResult]) -> float:
    busy = sum(each.cpu_seconds + each.waiting_seconds for each in rounds)
    return min(busy / sum(each.elapsed_seconds * each.cores for each in rounds), 1.0)


def _error_ratio(rounds: Sequence[RunResult]) -> float:
    errors = sum(each.errors for each in rounds)
    requests = errors + sum(operation.requests for each in rounds for operation in each.operations.values())
    return errors / requests if requests else 1.0


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


def _missed_send_ratio(rounds: Sequence[RunResult]) -> float:
    """The share of the requests that were due. A share of rate times seconds would be off by more, as arrivals are random."""
    missed = sum(each.missed_sends for each in rounds)
    sent = sum(operation.requests for each in rounds for operation in each.operations.values())
    sent += sum(each.errors + each.misses for each in rounds)
    return missed / (sent + missed) if sent + missed else 1.0


@dataclass(frozen=True)
class OneOfSeveral:
    rounds: Sequence[RunResult]
    begins_ns: Sequence[int]
    """When each round began, of the monotonic clock."""
    threads: int
    """Threads of the wire engine."""
    ceiling: float | None
    """Requests per second that these threads reach against a server that does nothing; None where it was not measured."""


def judge_joint(loads: Sequence[OneOfSeveral], seconds: float, cores: int) -> dict[str, GateJudgement]:
    """The gates that all of the loads have in common.

    Args:
        loads: with as many rounds each.
        seconds: the length of a round.
        cores: of the load generator. They are enough if the processor time that the loads need by their ceilings is less than they have.

    A ceiling that was not measured leaves the gate `joint_ceiling` out: it is not passed, and the gate on the lag says who was late.
    """
    begun = zip(*(each.begins_ns for each in loads), strict=True)
    apart = [(max(times) - min(times)) / 1e9 / seconds for times in begun]
    gates = {"joint_start": GateJudgement(median(apart), START)}
    shares = [
        each.threads * median(result.request_rate for result in each.rounds) / each.ceiling for each in loads if each.ceiling is not None
    ]
    if len(shares) == len(loads):
        gates["joint_ceiling"] = GateJudgement(sum(shares) / cores, CEILING)
    return gates
