"""The driver engine: a store's ordinary client, in worker processes, so that one Python loop is not the limit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import Final

from hdrh.histogram import HdrHistogram

from storeproof.contract.address import Address
from storeproof.contract.failures import Refused
from storeproof.contract.values import Layout
from storeproof.load.driver.messages import Command, Connect, Failure, Fill, Go, Progress, Reach, Reply, Share, Stop
from storeproof.load.driver.worker_process import WorkerProcess
from storeproof.load.job import (
    EngineName,
    LoadFailed,
    OperationResult,
    Plan,
    RunResult,
    StoreSilent,
    answered,
    called,
    label,
    stopped_answering,
)
from storeproof.spec.store import Target
from storeproof.stats.latency import decode, new_histogram

_START_SECONDS: Final = 60.0
"""For a worker to import the adapter and its client, on a machine that is busy."""
_SILENT_SECONDS: Final = 20.0
"""Without any news, while connections are made or data is loaded."""
_FILLERS: Final = 16
"""Clients that load data: enough for a store to sync many writes at once."""


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


class DriverEngine:
    """Keeps its workers and their connections from round to round, and adds to them when a plan has more clients.

    One process a core, and at least two, since one interpreter uses at most one core; client n is a thread of
    process n modulo their number, so that its connection is found again whatever the number of clients is.
    """

    name: EngineName = "driver"
    fixed_numbers = False

    def __init__(self, target: Target, address: Address) -> None:
        self._reach = Reach(target, address)
        self._processes = max(usable_cores(), 2)
        self._workers: list[WorkerProcess] = []
        self._connected: set[int] = set()

    def start(self, plan: Plan) -> DriverRun:
        """Begin a round; returns once all workers have their orders."""
        workers = self._prepare(plan.clients)
        # Far enough ahead that every thread is there when the time comes.
        start_ns = monotonic_ns() + 10_000_000 + 300_000 * plan.clients
        for place, worker in enumerate(workers):
            worker.tell(Go(plan, self._clients_of(place, plan.clients), start_ns))
        return DriverRun(self, plan, workers, start_ns)

    def fill(self, layout: Layout, records: int, shelf: Path | None = None, fixed_numbers: bool = False) -> None:
        """Write the records 0 to records - 1."""
        share = -(-records // _FILLERS)
        ranges = [range(first, min(first + share, records)) for first in range(0, records, share)]
        workers = self._prepare(len(ranges))
        shares = [tuple((client, ranges[client]) for client in self._clients_of(place, len(ranges))) for place in range(len(workers))]
        orders = [Fill(layout, each, shelf, fixed_numbers) for each in shares]
        self._order(workers, orders, _SILENT_SECONDS, f"records of {layout.model.model} were loaded")

    def close(self) -> None:
        """End all workers, and with them all connections."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()
        self._connected.clear()

    def pids(self) -> list[int]:
        """The worker processes."""
        return [worker.pid for worker in self._workers]

    def forget(self, clients: Sequence[int]) -> None:
        """The sessions of these clients are gone; the next round connects them again."""
        self._connected.difference_update(clients)

    def _clients_of(self, place: int, clients: int) -> tuple[int, ...]:
        return tuple(range(place, clients, self._processes))

    def _prepare(self, clients: int) -> list[WorkerProcess]:
        """The workers of this many clients, all of them connected."""
        count = min(clients, self._processes)
        started = [WorkerProcess() for _ in range(count - len(self._workers))]
        self._workers += started
        self._order(started, [self._reach] * len(started), _START_SECONDS, "the load workers were started")
        workers = self._workers[:count]
        if not self._connected.issuperset(range(clients)):
            orders = [Connect(self._clients_of(place, clients)) for place in range(count)]
            self._order(workers, orders, _SILENT_SECONDS, f"{clients} connections were made")
            self._connected.update(range(clients))
        return workers

    def _order(self, workers: Sequence[WorkerProcess], orders: Sequence[Command], patience: float, what: str) -> None:
        """Give each worker its order and wait until all are done; on any failure the engine is closed."""
        try:
            for worker, order in zip(workers, orders, strict=True):
                worker.tell(order)
            deadline = monotonic() + patience
            waiting = list(workers)
            while waiting:
                for worker in ready(waiting, deadline - monotonic()):
                    reply = worker.hear()
                    deadline = monotonic() + patience
                    if not isinstance(reply, Progress):
                        waiting.remove(worker)
                        refuse(reply)
                if waiting and monotonic() > deadline:
                    raise StoreSilent(f"the store gave no sign of life for {patience:.0f} s while {what}")
        except BaseException:  # also an interrupt: workers that are at work cannot be given other work
            self.close()
            raise


class DriverRun:
    """A round of the driver engine."""

    def __init__(self, engine: DriverEngine, plan: Plan, workers: Sequence[WorkerProcess], start_ns: int) -> None:
        self._engine = engine
        self._plan = plan
        self._waiting = list(workers)
        self._processes = len(workers)
        self._start_ns = start_ns
        self._errors: dict[int, int] = {}
        self._shares: list[Share] = []

    @property
    def done(self) -> bool:
        """Whether all clients have ended."""
        self._listen(0)
        return not self._waiting

    @property
    def errors(self) -> int:
        """Errors so far, at most half a second old."""
        self._listen(0)
        return sum(self._errors.values())

    def stop(self) -> None:
        """End before the deadline."""
        for worker in self._waiting:
            worker.tell(Stop())

    def join(self) -> RunResult:
        """Wait for the end, at most the plan's patience beyond the deadline."""
        plan = self._plan
        deadline = self._start_ns / 1e9 + plan.seconds + plan.patience
        try:
            while self._waiting:
                self._listen(deadline - monotonic())
                if self._waiting and monotonic() > deadline:
                    raise stopped_answering(plan)
        except BaseException:  # also an interrupt: threads that wait for a reply cannot be used again
            self._engine.close()
            raise
        result = _combine(plan, self._shares, min(self._processes, usable_cores()))
        self._engine.forget([client for share in self._shares for client in share.broken])
        return answered(result)

    def _listen(self, seconds: float) -> None:
        for worker in ready(self._waiting, seconds):
            reply = worker.hear()
            match reply:
                case Progress(errors=errors):
                    self._errors[worker.pid] = errors
                case Share():
                    self._errors[worker.pid] = sum(each.errors + each.malformed for each in reply.operations)
                    self._shares.append(reply)
                    self._waiting.remove(worker)
                case _:
                    refuse(reply)


def ready(workers: Sequence[WorkerProcess], seconds: float) -> list[WorkerProcess]:
    """Those that have something to say within a time."""
    links = {worker.link: worker for worker in workers}
    return [worker for link, worker in links.items() if link in wait(list(links), timeout=max(seconds, 0))] if links else []


def refuse(reply: Reply) -> None:
    """Raise what a worker failed with; refusals and silence are the store's, all else is ours."""
    if not isinstance(reply, Failure):
        return
    if reply.kind == "Refused":
        raise Refused(reply.message)
    if reply.kind == "Unknown":
        raise StoreSilent(f"the store did not answer: {reply.message}")
    raise LoadFailed(f"the load could not be put on: {reply.kind}: {reply.message}")


def _combine(plan: Plan, shares: Sequence[Share], cores: int) -> RunResult:
    operations = {}
    for place, mix in enumerate(plan.mix):
        parts = [share.operations[place] for share in shares]
        operations[label(mix)] = OperationResult(
            operation=called(mix),
            ok=sum(part.ok for part in parts),
            misses=sum(part.misses for part in parts),
            errors=sum(part.errors for part in parts),
            malformed=sum(part.malformed for part in parts),
            latency=_merged(part.histogram for part in parts),
            response=_merged(part.response for part in parts) if plan.rate else None,
        )
    requests = max(sum(share.requests for share in shares), 1)
    positions = {client: position for share in shares for client, position in share.positions.items()}
    removed = {client: count for share in shares for client, count in share.removed.items()}
    return RunResult(
        operations=operations,
        throughput=sum(share.throughput for share in shares),
        request_rate=sum(share.request_rate for share in shares),
        clients=plan.clients,
        busy_seconds=sum(share.busy_seconds for share in shares) / requests,
        pause_seconds=sum(share.pause_seconds for share in shares) / requests,
        cpu_seconds=sum(share.cpu_seconds for share in shares),
        elapsed_seconds=max(share.elapsed_seconds for share in shares),
        cores=cores,
        positions=tuple(positions[client] for client in range(plan.clients)),
        doubtful=tuple(number for share in shares for number in share.doubtful),
        samples=tuple(text for share in shares for text in share.samples),
        removed=tuple(removed[client] for client in range(plan.clients)),
        lag=_merged(share.lag for share in shares) if plan.rate else None,
        unissued=sum(share.unissued for share in shares),
    )


def _merged(encoded: Iterable[str]) -> HdrHistogram:
    merged = new_histogram()
    for each in encoded:
        merged.add(decode(each))
    return merged
