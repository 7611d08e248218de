"""Scales: `smoke` is a quick check of everything, `standard` is for decisions, `full` has the sizes of the seed tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import Frozen, Name, RuleError, SpecFile

T = TypeVar("T")
Seconds = Annotated[float, Field(gt=0, strict=False)]
Share = Annotated[float, Field(gt=0, le=1)]
Clients = Annotated[tuple[PositiveInt, ...], Strict(False), Field(min_length=1)]


class IsolationScale(Frozen):
    """Of random transactions, at each level."""

    transactions: PositiveInt = 10_000
    """Of each mix. After that many, whatever became of them, no other one begins, unless too few were contended."""
    seconds: Seconds = 13.0
    """Nor after these, of which each mix has an equal share: with all that is around them, a level takes 15 seconds."""


class CorrectnessScale(Frozen):
    """Sizes of the random tests of correctness; the fixed cases do not depend on the scale."""

    examples: PositiveInt
    steps: PositiveInt
    """Maximum operations per example."""
    clients: PositiveInt
    """Clients of the concurrency tests."""
    concurrent_operations: PositiveInt
    """Operations of each of those clients."""
    stale_read_rounds: PositiveInt = 5
    """Rounds in which stale reads are looked for, with each kind of record."""
    isolation: IsolationScale = IsolationScale()


class CrashStatesScale(Frozen):
    """How much is recorded, and how long its states are tried."""

    recordings: PositiveInt = 3
    """Each on a store and with a seed of its own."""
    requests: PositiveInt = 60
    """Of each recording."""
    seconds: Seconds = 30.0
    """Of all recordings: no other state is begun after them; what was left out is said."""
    at_least: PositiveInt = 8
    """States of each recording that are tried however long that takes: two of each tier, so that none passes on a busy machine that has
    tried next to nothing."""


class IoErrorsScale(Frozen):
    """Under how much load a disk fails, and for how long that is tried."""

    requests: PositiveInt = 16
    seconds: Seconds = 12.0
    """For each kind of error: no other call fails after them; what was left out is said."""


class DurabilityScale(Frozen):
    """How often each fault strikes, and under what load."""

    rounds: Annotated[int, Field(ge=5)]
    further_rounds: PositiveInt | None = None
    """Rounds of each further fault of a guarantee, and of one server under transfers, sessions and transactions; None: as many as of the
    first."""
    clients: PositiveInt
    load_seconds: Annotated[tuple[Seconds, Seconds], Strict(False)]
    """The fault strikes at a random moment between these times."""
    isolation: bool = True
    """Whether transactions are sent across faults too; else only where `-k` names that."""
    crash_states: CrashStatesScale = CrashStatesScale()
    io_errors: IoErrorsScale = IoErrorsScale()

    @property
    def further(self) -> int:
        """`further_rounds`, or else as many as of the first."""
        return self.rounds if self.further_rounds is None else self.further_rounds

    def turns(self, faults: Sequence[T]) -> list[T]:
        """Which of a guarantee's faults strikes in which round: they take turns, and further ones drop out when they had theirs."""
        return [each for number in range(self.rounds) for place, each in enumerate(faults) if place == 0 or number < self.further]


OutageFault = Literal["crash", "pause", "restart"]
"""A kill and a start at once; halted for a second; a clean restart."""


class OutageScale(Frozen):
    """Load and duration of the outage tests."""

    faults: Annotated[tuple[OutageFault, ...], Strict(False), Field(min_length=1)]
    """What strikes unless `-k` names something else."""
    rate: PositiveInt
    """Requests per second of all clients together, low enough for any store."""
    before_seconds: Seconds
    after_seconds: Seconds
    """From when the store could answer again; response times must return to normal within them."""


class RoundsScale(Frozen):
    """How many rounds a number has: as many as it takes until its interval is narrow enough."""

    at_least: PositiveInt
    at_most: PositiveInt
    every: PositiveInt
    """Rounds between two looks at the interval."""
    headline: Share
    """The widest half interval, as a share of the median, with which a number is precise enough."""
    series: Share
    """The same for a number of a series: one workload by clients, records, pipelines or rates."""
    budget_seconds: Seconds
    """Of one store in one configuration; no further look begins after it."""

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.at_most < self.at_least:
            raise RuleError(f"found {self.at_most}; allowed: at_least ({self.at_least}) or more", "at_most")
        return self

    @property
    def adaptive(self) -> bool:
        """Whether their number depends on what they show."""
        return self.at_most > self.at_least


class PerformanceScale(Frozen):
    """Durations, records and clients of the measurements."""

    workloads: Literal["all"] | Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """What is measured unless `-k` names something else: `all`, each with all of its indexes, clients, records, pipelines and rates; or
    these, one of each kind, each with the first of its indexes, clients and so on."""
    records: PositiveInt
    data_bytes: PositiveInt
    """Maximum payload that is preloaded for a workload, and that its rounds insert: large records are fewer, and rounds that would insert
    more are shorter."""
    scaling_records: PositiveInt
    """Records at which scaling starts; it ends at a hundred times as many."""
    rounds: RoundsScale
    round_warm_up_seconds: Seconds
    """Unmeasured load before each round: during the other stores' rounds the store, its caches and its clients were idle."""
    round_seconds: Seconds
    warm_up_seconds: Annotated[tuple[Seconds, Seconds], Strict(False)]
    """Minimum, and maximum until steady state."""
    one: Clients
    few: Clients
    several: Clients
    """Of a series that needs some of the sweep's numbers, or others."""
    sweep: Clients
    rates: Clients
    """Requests per second of open loops, all clients together; the same for all stores, so that results are comparable."""
    outage: OutageScale

    def measures(self, workload: str, *, first: bool) -> bool:
        """Whether a workload is measured unasked; `first`: with the first of its indexes, clients, records, pipelines and rates."""
        return self.workloads == "all" or (first and workload in self.workloads)


class Scale(SpecFile):
    """One file of `spec/scales/`."""

    FORMAT = (3, 5)
    RENAMED = older_formats.SCALE

    scale: Literal["smoke", "standard", "full"]
    title: str
    cache_bytes: PositiveInt
    """Cache size of every server with data on disk; enough for all data of a workload."""
    correctness: CorrectnessScale
    durability: DurabilityScale
    performance: PerformanceScale
