"""How much of everything: `smoke` proves that all works, `standard` is for decisions, `full` has the seeds' sizes."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, Strict

from storeproof.spec.base import Frozen, Name, SpecFile

Seconds = Annotated[float, Field(gt=0, strict=False)]
Clients = Annotated[tuple[PositiveInt, ...], Strict(False), Field(min_length=1)]


class CorrectnessScale(Frozen):
    """Hypothesis' share of correctness; the fixed cases always run whole."""

    examples: PositiveInt
    steps: PositiveInt
    """Operations per example, at most."""
    clients: PositiveInt
    """Concurrent clients of the concurrency checks."""
    concurrent_operations: PositiveInt
    """Operations of each of those clients."""


class DurabilityScale(Frozen):
    """How often and under how much load each fault strikes."""

    rounds: Annotated[int, Field(ge=5)]
    clients: PositiveInt
    load_seconds: Annotated[tuple[Seconds, Seconds], Strict(False)]
    """The fault strikes at a random moment between these two."""


class OutageScale(Frozen):
    """How much goes on while something fails, and for how long it is watched."""

    rate: PositiveInt
    """Requests per second, of all clients together: so few that any store keeps up with them."""
    before_seconds: Seconds
    after_seconds: Seconds
    """From when the store could answer again: within them it must be as it was before."""


class PerformanceScale(Frozen):
    """How long is measured, with how many records and clients."""

    workloads: Literal["all"] | Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """What is measured unless `-k` names something else: `all`, each with all of its indexes, clients, records, pipelines and rates; or
    these, one of each kind, each with the first of its indexes, clients and so on."""
    records: PositiveInt
    data_bytes: PositiveInt
    """Of payload that are loaded for a workload, and that its rounds add, each at most: of large records fewer are loaded, and rounds that
    would insert more end earlier."""
    scaling_records: PositiveInt
    """Records at which the growth of answers begins; it goes on to a hundred times as many."""
    rounds: PositiveInt
    round_warm_up_seconds: Seconds
    """Before each round, and not measured: while other stores had their turns this one, its caches and its clients were idle."""
    round_seconds: Seconds
    warm_up_seconds: Annotated[tuple[Seconds, Seconds], Strict(False)]
    """At least, and at most until the windows are steady."""
    one: Clients
    few: Clients
    sweep: Clients
    rates: Clients
    """Requests per second of open loops, of all clients together: the same for all stores, so that they can be compared."""
    outage: OutageScale

    def measures(self, workload: str, *, first: bool) -> bool:
        """Whether a workload is measured unasked; `first`: with the first of its indexes, clients, records, pipelines and rates."""
        return self.workloads == "all" or (first and workload in self.workloads)


class Scale(SpecFile):
    """One file of `spec/scales/`."""

    FORMAT = (2, 0)
    RENAMED = MappingProxyType({"lead_in_seconds": "round_warm_up_seconds", "growth": "scaling_records"})

    scale: Literal["smoke", "standard", "full"]
    title: str
    cache_bytes: PositiveInt
    """What every server whose data are on the disk may keep of them in memory: room for all that a workload loads."""
    correctness: CorrectnessScale
    durability: DurabilityScale
    performance: PerformanceScale
