"""Measurements in a result: of one workload with one number of clients, and of the loads of several roles at the same time."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, PositiveInt, model_validator

from storeproof.result.anatomy import Anatomy
from storeproof.result.part import Gate, Histogram, ResultPart
from storeproof.result.server_cost import ServerCost
from storeproof.stats.intervals import Grade


class Interval(ResultPart):
    """A median over rounds with its 95 % interval."""

    median: float
    low: float
    high: float
    unit: str


class Latency(ResultPart):
    """Percentiles in microseconds over the merged histograms of all rounds; None with fewer than 100 samples above it."""

    mean: float | None = None
    """None in results of formats before 2.1."""
    p50: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float
    samples: int


class TrendRecord(ResultPart):
    """How the rounds changed from one to the next (Mann-Kendall test)."""

    change: float
    """Share by which the rate changes from one round to the next."""
    probability: float
    """Of a trend at least as strong in rounds without one."""
    drifting: bool
    """Whether the trend is significant: there is no one rate."""


class Disturbance(ResultPart):
    """What other programs took of the machine while a number was measured."""

    share: float
    """Of all processors' time, beside the blocks of its rounds: the median."""
    busy: int
    """Rounds that count although that was too much: as many were run again as may be."""
    repeated: int
    """Rounds that do not count, since it was too much, and were run again."""


class MachineSpeedRecord(ResultPart):
    """How fast the machine was while a number was measured: the rate of a small load on a server that does nothing."""

    rate: float
    """Requests per second beside the blocks of its rounds: the median."""
    baseline: float
    """The rate that nine in ten readings of the run had not exceeded until then."""
    slow: int
    """Rounds that count although the machine was slower than 0.85 of that: as many were run again as may be."""
    repeated: int
    """Rounds that do not count, since it was slower, and were run again."""


class RoundNumbers(ResultPart):
    """One round: the sample of all statistics."""

    seconds: float
    operations: int
    """Successful operations; a batch counts its records."""
    throughput: float
    errors: int
    misses: int


class MixPart(ResultPart):
    """One operation of a mix."""

    name: str
    operation: str
    records: int
    """Records of successful requests, over all rounds."""
    errors: int
    misses: int
    latency_us: Latency


class Measurement(ResultPart):
    """One workload with one number of clients."""

    workload: str
    kind: str = ""
    """Of the workload; empty in results before edition 2026.11.12."""
    title: str
    model: str
    record: str = ""
    """The variation of the model's records: `size-1000`, `fields-100`, `depth-3`."""
    operation: str
    indexes: int
    batch: int
    clients: int
    pipeline: int = 1
    """Requests in flight per client."""
    engine: Literal["driver", "wire", "wire-py"]
    engine_reason: str = ""
    """Why the driver engine was used in place of the wire engine."""
    threads: int = 1
    """Of the wire engine that sent the requests, on each host; 1 for the driver, whose workers use all cores."""
    hosts: int = 1
    """Hosts that put on the load."""
    ceiling: float | None = None
    """The client ceiling: requests per second of the same load generator against a server that does nothing."""
    ceiling_reason: str = ""
    """Why the ceiling was not measured."""
    load_model: Literal["closed", "open"]
    rate: float | None = None
    """Offered requests per second; open loop only."""
    loaded: int | None = None
    """Records before the first request; missing in results of editions before 2026.11.9."""
    payload_bytes: int
    """Payload of one record."""
    corpus: str | None = None
    """Origin of the articles, for models with full-text search."""
    rounds: list[RoundNumbers]
    laps: list[PositiveInt] = Field(default_factory=list)
    """Rounds of each lap, in their order; empty in results of formats before 2.4, whose rounds are all of one lap."""
    interleaved_with: list[str] = Field(default_factory=list)
    """Other stores, by `StoreResult.name`, whose rounds were interleaved: the n-th rounds of all were measured in one block."""
    throughput: Interval
    latency_us: Latency
    """Of all operations: from sending a request to its reply; in an open loop from the due time."""
    service_us: Latency | None = None
    """Open loop: of the same requests, from their sending."""
    schedule_lag_us: Latency | None = None
    """Open loop: from when a request was due and a client was free to its sending: the load generator's own delay."""
    missed_sends: int = 0
    """Open loop: requests that were due and never sent."""
    parts: list[MixPart] = Field(default_factory=list)
    """The operations of a mix of several."""
    errors: int
    misses: int
    gates: dict[str, Gate]
    verified: bool
    """Whether the audit after the rounds found the data complete."""
    grade: Grade
    """How precise the median is, by half its interval: A up to 5 %, B up to 10 %, C up to 20 %, D wider."""
    at_least: bool
    """Whether the load generator was the limit: the store is at least this fast."""
    trend: TrendRecord
    disturbance: Disturbance | None = None
    """None if it is not known: of a store that is not a local process, of loads of several roles at once, and in earlier results."""
    machine_speed: MachineSpeedRecord | None = None
    """None if it was not read beside most rounds: at smoke scale, without the compiled part, with other hosts, and in earlier results."""
    cost: ServerCost | None = None
    """None: see `cost_reason`."""
    cost_reason: str = ""
    """Why the server could not be looked at; empty in results of formats before 2.1."""
    invalid: list[str]
    """Why the number is not the rate of what was to be measured: gates that failed, or `audit`; empty for a valid one."""
    histogram: Histogram
    """HdrHistogram V2 log line (base64) of all rounds, in nanoseconds."""
    anatomy: Anatomy | None = None
    """Where its I/O went; None without `--anatomy`, or see `anatomy_reason`."""
    anatomy_reason: str = ""
    """Why its I/O could not be watched; empty where that was not asked for."""

    @model_validator(mode="after")
    def _laps_have_all_rounds(self) -> Self:
        """Statistics take the rounds of each lap by their number."""
        if self.laps and sum(self.laps) != len(self.rounds):
            raise ValueError(f"has {len(self.rounds)} rounds, and its laps {sum(self.laps)}")
        return self


class RoleLoad(ResultPart):
    """What one role of a candidate was asked for."""

    role: str
    store: str
    """`store:variant`."""
    model: str
    workload: str
    """Of the specification; `mix` where it has none with these operations."""
    mix: dict[str, int]
    """The weight of each operation; one that asks is followed by its request, in JSON."""
    record: str
    """The variation of the records; empty for those of the model."""
    indexes: int
    clients: int
    rate: int
    """Operations per second, as needed."""


class JointLoad(ResultPart):
    """A candidate's loads, of which this store had one or more."""

    candidate: str
    roles: list[RoleLoad]
    """All that were on at the same time, also those of the other stores."""
    numbers: dict[str, Measurement]
    """By role, those of this store: each an open loop at the rate of the role."""

    def name_of(self, role: str) -> str:
        """The name of a role's number: the id of its case, and the role."""
        return f"performance.roles/{self.candidate}/{role}"
