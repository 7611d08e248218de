"""The interface of the load engines: a `Plan` goes in, a `RunResult` comes out, whichever engine runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from hdrh.histogram import HdrHistogram

from storeproof.contract.values import Key, Layout
from storeproof.errors import StoreproofError
from storeproof.spec.workload import Mix
from storeproof.stats.latency import merged

EngineName = Literal["driver", "wire"]
EngineWanted = Literal["auto", "wire", "driver"]
"""`auto`: `wire`; `driver` where nothing is compiled, or where requests cannot be made without the store's client."""

BATCH_FORM: Final[Mapping[str, str]] = {"get": "get_many", "put": "put_many", "put_if_absent": "insert_many"}
"""The operation that a mix with `batch` above 1 calls instead."""


class StoreSilent(StoreproofError):
    """The store stopped answering: clients still waited for a reply when their patience was over."""


class LoadFailed(StoreproofError):
    """The engine itself failed: a worker process died, or could not be started."""


def operation_name(mix: Mix) -> str:
    """The operation of the contract that a mix calls."""
    return BATCH_FORM.get(mix.operation, mix.operation) if mix.batch > 1 else mix.operation


def label(mix: Mix) -> str:
    """What results call a mix."""
    return mix.name or operation_name(mix)


@dataclass(frozen=True)
class Plan:
    """One round of load, from the start to the deadline.

    In a closed loop every client has `pipeline` requests in flight, and sends the next one when it has a reply. In an open loop requests
    have scheduled send times, whatever became of the ones before.
    """

    layout: Layout
    mix: tuple[Mix, ...]
    clients: int
    seconds: float
    seed: int
    """The seed of all random choices in the round; two rounds of one measurement have different seeds."""
    known: int
    """Records that were loaded: the keys 0 to known - 1. New keys come after them."""
    number: int = 0
    """The number of this round in its collection, from 0: write ids are unique to client, round and request."""
    positions: tuple[int, ...] = ()
    """How many new keys each client has used so far, as the round before left it; empty before the first."""
    removed: tuple[int, ...] = ()
    """How many of these each client has removed again, the oldest first."""
    indeterminate: frozenset[int] = frozenset()
    """Numbers of keys whose write was not acknowledged in a round before."""
    requests: tuple[tuple[tuple[Any, ...], ...], ...] = ()
    """For each mix the arguments of the requests that it draws from; empty where no mix asks anything."""
    greatest: Key | None = None
    """The last of the loaded keys in their order; for a plan that scans."""
    article_store: Path | None = None
    """Imported articles, for a model whose texts are searched; None for generated ones."""
    patience: float = 10.0
    """Seconds after the deadline for which the last replies are waited for."""
    fixed_numbers: bool = False
    """Whether numbers in documents are the same in all records, as `Recipe` says."""
    pipeline: int = 1
    """Requests that a client may have in flight."""
    rate: float = 0.0
    """In an open loop, requests per second of all clients together, at exponential intervals; 0: a closed loop."""
    threads: int = 1
    """Threads of the wire engine: the clients' connections are shared out among them."""
    share: tuple[int, ...] = ()
    """The clients that the engine runs, of the plan's; empty: all. Engines on several hosts have the same plan, and each its share. Where
    rounds on one collection differ in their clients, `clients` is the greatest number of them, since it says whose a new key is."""
    start_ns: int = 0
    """When the round begins, of the monotonic clock, if that is not too soon for the engine; 0: as soon as it can. Rounds that are to be on
    at the same time have the same."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the clients that the engine runs."""
        return self.share or tuple(range(self.clients))


@dataclass(frozen=True)
class OperationCounts:
    """Counts and latencies of one operation in one round."""

    operation: str
    ok: int
    """Records of successful requests: a batch counts its records."""
    misses: int
    """Records that were asked for and not found, though they were loaded."""
    errors: int
    """Requests that were refused, or whose reply was lost."""
    malformed: int
    """Replies that broke the contract."""
    latency: HdrHistogram
    """Service time of successful requests, in nanoseconds: from the sending to the reply."""
    response: HdrHistogram | None = None
    """Response time of the same, from the scheduled send time (no coordinated omission); None in a closed loop, which has no schedule."""

    @property
    def requests(self) -> int:
        """Successful ones."""
        return int(self.latency.get_total_count())

    @classmethod
    def total(cls, parts: Sequence[OperationCounts]) -> OperationCounts:
        """The sum of several, of which there is one at least: of one operation, by several clients, or of its halves."""
        responses = [each.response for each in parts if each.response is not None]
        return cls(
            operation=parts[-1].operation,
            ok=sum(each.ok for each in parts),
            misses=sum(each.misses for each in parts),
            errors=sum(each.errors for each in parts),
            malformed=sum(each.malformed for each in parts),
            latency=merged(each.latency for each in parts),
            response=merged(responses) if responses else None,
        )


@dataclass(frozen=True)
class RunResult:
    operations: Mapping[str, OperationCounts]
    throughput: float
    """Successful records per second: the sum of each client's own rate, in a closed loop from its first reply to its last.

    All clients ask for the first time at once, and so the first requests wait for fewer others than all later ones do. With few requests of
    each client in a round they would make a queue look shorter, and the store faster, than it is: with n of them by a share of 1/(2n).
    """
    request_rate: float
    """Requests per second, whatever became of them."""
    clients: int
    busy_seconds: float
    """Mean time of a request, over all requests."""
    pause_seconds: float
    """Mean time a client took to make a request's arguments, outside of the timed call."""
    cpu_seconds: float
    """Processor time of the workers between start and end."""
    elapsed_seconds: float
    """From the common start to the last reply of the last client."""
    cores: int
    """Cores that the workers could use at once."""
    positions: tuple[int, ...]
    """New keys used by each client that the engine ran, this round included."""
    indeterminate: tuple[int, ...]
    """Numbers of keys whose write in this round was not acknowledged: it may have been carried out."""
    samples: tuple[str, ...]
    """The first errors, in words."""
    removed: tuple[int, ...] = ()
    """New keys that each of these removed again, this round included."""
    schedule_lag: HdrHistogram | None = None
    """Open loop: nanoseconds from the scheduled time, or when a client became free, to the sending; None in a closed loop."""
    missed_sends: int = 0
    """Open loop: requests that were due before the deadline and never sent."""
    waiting_seconds: float = 0.0
    """For how long the wire engine's threads had something to do and no processor."""
    hosts: tuple[RunResult, ...] = ()
    """The result of each host with a share of the load; all else is the sum."""
    apart: float = 0.0
    """Share of the round for which the load of one host may have been on without that of another."""

    @property
    def ok(self) -> int:
        """Successful records of all operations."""
        return sum(each.ok for each in self.operations.values())

    @property
    def misses(self) -> int:
        return sum(each.misses for each in self.operations.values())

    @property
    def errors(self) -> int:
        """Refused, lost and malformed, of all operations."""
        return sum(each.errors + each.malformed for each in self.operations.values())

    @property
    def seconds(self) -> float:
        """The time in which one rate for all would have done the work."""
        return self.ok / self.throughput if self.throughput else self.elapsed_seconds


def silent_store(plan: Plan) -> StoreSilent:
    """The error for replies that are still missing when the patience is over."""
    return StoreSilent(
        f"the store stopped answering: after {plan.seconds:g} s of load with {len(plan.numbers)} clients, "
        f"replies were still missing {plan.patience:g} s later"
    )


def require_success(result: RunResult) -> RunResult:
    """The result of a round in which something succeeded, or was missed. Raises `StoreSilent`: all that was asked failed."""
    if not result.ok and result.errors:
        raise StoreSilent(f"none of {result.errors} requests succeeded; the first: {result.samples[0]}")
    return result


class RunningRound(Protocol):
    """A round that is under way."""

    @property
    def begins_ns(self) -> int:
        """When the engine began it, or will, of the monotonic clock."""

    def stop(self) -> None:
        """End before the deadline."""

    def join(self) -> RunResult:
        """Wait for the end, at most the plan's patience beyond the deadline.

        Raises:
            StoreSilent: clients wait for replies that do not come.
            LoadFailed: a worker died.
        """


class Engine(Protocol):
    """A load generator for one store."""

    @property
    def name(self) -> EngineName:
        """As results show it: figures of unlike engines are never in one ratio."""

    @property
    def fixed_numbers(self) -> bool:
        """Whether its plans have `fixed_numbers`."""

    def start(self, plan: Plan) -> RunningRound:
        """Begin a round.

        Raises:
            StoreSilent: connections cannot be made in time.
            LoadFailed: workers cannot be started, or a connection was refused.
        """

    def fill(self, layout: Layout, records: int, article_store: Path | None = None, fixed_numbers: bool = False) -> None:
        """Write the records 0 to records - 1 that workloads with loaded data need. Raises as `start` and `RunningRound.join`."""

    def close(self) -> None:
        """End all connections and processes; never raises, and may be called twice."""
