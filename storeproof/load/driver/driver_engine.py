"""The driver engine: a store's ordinary client, in worker processes, so that one Python loop is not the limit."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import Final

from storeproof.contract.address import Address
from storeproof.contract.failures import Refused
from storeproof.contract.values import Layout
from storeproof.errors import Halted
from storeproof.load.driver import messages
from storeproof.load.driver.worker_process import WorkerProcess
from storeproof.load.engine import (
    EngineName,
    LoadFailed,
    OperationCounts,
    Plan,
    RunResult,
    StoreSilent,
    label,
    require_success,
    silent_store,
)
from storeproof.spec.store import Target
from storeproof.stats.latency import merged
from storeproof.units import seconds

_START_SECONDS: Final = 60.0
"""For a worker to import the adapter and its client, on a machine that is busy."""
_SILENT_SECONDS: Final = 20.0
"""Without any news, while connections are made or data is loaded."""
_LOADED_SECONDS: Final = 21600.0
"""For all records of a collection, however steadily they are loaded: as long as a case of performance may take at the largest scale."""
_FILLERS: Final = 16
"""Clients that load data: enough for a store to sync many writes at once."""


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


class DriverEngine:
    """Keeps its workers and their connections from round to round, and adds to them when a plan has more clients.

    One process a core, and at least two, since one interpreter uses at most one core. A client is a thread of one process, and stays there,
    so that its connection is found again whatever the number of clients is.
    """

    name: EngineName = "driver"
    fixed_numbers = False

    def __init__(self, target: Target, address: Address) -> None:
        self._reach = messages.ReachMessage(target, address)
        self._processes = max(usable_cores(), 2)
        self._workers: list[WorkerProcess] = []
        self._places: dict[int, int] = {}
        """The process of each client."""
        self._connected: set[int] = set()

    def start(self, plan: Plan) -> DriverRun:
        workers = self._prepare(plan.numbers)
        # Far enough ahead that every thread is there when the time comes.
        start_ns = max(monotonic_ns() + 10_000_000 + 300_000 * len(plan.numbers), plan.start_ns)
        for place, worker in enumerate(workers):
            worker.tell(messages.Go(plan, self._share(place, plan.numbers), start_ns))
        return DriverRun(self, plan, workers, start_ns)

    def fill(self, layout: Layout, records: int, article_store: Path | None = None, fixed_numbers: bool = False) -> None:
        """Write the records 0 to records - 1. Raises `Halted`: they are not all there after six hours."""
        share = -(-records // _FILLERS)
        ranges = [range(first, min(first + share, records)) for first in range(0, records, share)]
        clients = range(len(ranges))
        workers = self._prepare(clients)
        shares = [tuple((client, ranges[client]) for client in self._share(place, clients)) for place in range(len(workers))]
        orders = [messages.Fill(layout, each, article_store, fixed_numbers) for each in shares]
        self._order(workers, orders, _SILENT_SECONDS, f"records of {layout.model.model} were loaded", _LOADED_SECONDS)

    def close(self) -> None:
        """End all workers, and with them all connections."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()
        self._places.clear()
        self._connected.clear()

    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    def forget(self, clients: Sequence[int]) -> None:
        """The sessions of these clients are gone; the next round connects them again."""
        self._connected.difference_update(clients)

    def _share(self, place: int, clients: Sequence[int]) -> tuple[int, ...]:
        return tuple(client for client in clients if self._places[client] == place)

    def _prepare(self, clients: Sequence[int]) -> list[WorkerProcess]:
        """The workers of these clients, all of them connected."""
        for client in clients:
            self._places.setdefault(client, len(self._places) % self._processes)
        count = max(self._places[client] for client in clients) + 1
        started = [WorkerProcess() for _ in range(count - len(self._workers))]
        self._workers += started
        self._order(started, [self._reach] * len(started), _START_SECONDS, "the load workers were started")
        workers = self._workers[:count]
        if not self._connected.issuperset(clients):
            orders = [messages.ConnectMessage(self._share(place, clients)) for place in range(count)]
            self._order(workers, orders, _SILENT_SECONDS, f"{len(clients)} connections were made")
            self._connected.update(clients)
        return workers

    def _order(
        self, workers: Sequence[WorkerProcess], orders: Sequence[messages.Command], patience: float, what: str, at_most: float = math.inf
    ) -> None:
        """Give each worker its order and wait until all are done, `at_most` seconds; on any failure the engine is closed."""
        try:
            for worker, order in zip(workers, orders, strict=True):
                worker.tell(order)
            deadline, end = monotonic() + patience, monotonic() + at_most
            waiting = list(workers)
            while waiting:
                for worker in ready(waiting, min(deadline, end) - monotonic()):
                    reply = worker.hear()
                    deadline = monotonic() + patience
                    if not isinstance(reply, messages.ProgressMessage):
                        waiting.remove(worker)
                        refuse(reply)
                if waiting and monotonic() > deadline:
                    raise StoreSilent(f"the store gave no sign of life for {patience:.0f} s while {what}")
                if waiting and monotonic() > end:
                    raise Halted(f"after {seconds(at_most)} it was not over that {what}")
        except BaseException:  # also an interrupt: workers that are at work cannot be given other work
            self.close()
            raise


class DriverRun:
    def __init__(self, engine: DriverEngine, plan: Plan, workers: Sequence[WorkerProcess], start_ns: int) -> None:
        self._engine = engine
        self._plan = plan
        self._waiting = list(workers)
        self._processes = len(workers)
        self.begins_ns = start_ns
        self._results: list[messages.WorkerResult] = []

    def stop(self) -> None:
        for worker in self._waiting:
            worker.tell(messages.Stop())

    def join(self) -> RunResult:
        """Wait for the end, at most the plan's patience beyond the deadline."""
        plan = self._plan
        deadline = self.begins_ns / 1e9 + plan.seconds + plan.patience
        try:
            while self._waiting:
                self._listen(deadline - monotonic())
                if self._waiting and monotonic() > deadline:
                    raise silent_store(plan)
        except BaseException:  # also an interrupt: threads that wait for a reply cannot be used again
            self._engine.close()
            raise
        result = _combine(plan, self._results, min(self._processes, usable_cores()))
        self._engine.forget([client for result in self._results for client in result.broken])
        return require_success(result)

    def _listen(self, seconds: float) -> None:
        for worker in ready(self._waiting, seconds):
            reply = worker.hear()
            if isinstance(reply, messages.WorkerResult):
                self._results.append(reply)
                self._waiting.remove(worker)
            else:
                refuse(reply)


def ready(workers: Sequence[WorkerProcess], seconds: float) -> list[WorkerProcess]:
    """The workers that have something to say within a time."""
    links = {worker.link: worker for worker in workers}
    spoken = wait(list(links), timeout=max(seconds, 0)) if links else []
    return [worker for link, worker in links.items() if link in spoken]


def refuse(reply: messages.Reply) -> None:
    """Raise what a worker failed with; refusals and silence are failures of the store, all else is a harness error."""
    if not isinstance(reply, messages.FailureMessage):
        return
    if reply.kind == "Refused":
        raise Refused(reply.message)
    if reply.kind == "Unknown":
        raise StoreSilent(f"the store did not answer: {reply.message}")
    raise LoadFailed(f"the load could not be put on: {reply.kind}: {reply.message}")


def _combine(plan: Plan, parts: Sequence[messages.WorkerResult], cores: int) -> RunResult:
    operations = {label(mix): OperationCounts.total([part.operations[place] for part in parts]) for place, mix in enumerate(plan.mix)}
    requests = max(sum(part.requests for part in parts), 1)
    positions = {client: position for part in parts for client, position in part.positions.items()}
    removed = {client: count for part in parts for client, count in part.removed.items()}
    return RunResult(
        operations=operations,
        throughput=sum(part.throughput for part in parts),
        request_rate=sum(part.request_rate for part in parts),
        clients=len(plan.numbers),
        busy_seconds=sum(part.busy_seconds for part in parts) / requests,
        pause_seconds=sum(part.pause_seconds for part in parts) / requests,
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        elapsed_seconds=max(part.elapsed_seconds for part in parts),
        cores=cores,
        positions=tuple(positions[client] for client in plan.numbers),
        indeterminate=tuple(number for part in parts for number in part.indeterminate),
        samples=tuple(text for part in parts for text in part.samples),
        removed=tuple(removed[client] for client in plan.numbers),
        schedule_lag=merged(part.schedule_lag for part in parts) if plan.rate else None,
        missed_sends=sum(part.missed_sends for part in parts),
    )
