"""A worker process of the driver engine: many clients, each a thread with its own session.

It is started as `python -m storeproof.load.driver.worker FD`, speaks pickles over that socket with the process that
started it, and ends when the other end does: nothing outlives a run that was interrupted or killed.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from time import monotonic_ns, process_time
from typing import Final, NoReturn

from hdrh.histogram import HdrHistogram

from storeproof.contract import BatchWrite, Collection, Layout, Session, call, load_adapter
from storeproof.launch.client_memory import memory_watch
from storeproof.load.arrivals import Schedule
from storeproof.load.driver import messages
from storeproof.load.driver.client import ClientResult, run_client
from storeproof.load.engine import OperationCounts, Plan, operation_name
from storeproof.records.article_records import ArticleRecipe
from storeproof.records.self_verifying import Recipe, payload_bytes, recipe
from storeproof.stats.latency import new_histogram, record_all

_CONNECTING: Final = 16
"""Connections that are made at the same time: below the backlog of any server."""
_BATCH: Final = 100
"""Records of a request while data is loaded, at most."""
_BATCH_BYTES: Final = 1_000_000
"""And payload: clients wait for each other's, and each has its patience."""
_NEWS_SECONDS: Final = 0.5
"""How often a worker that is busy says so."""
_SAMPLES: Final = 5


class Worker:
    """Carries out commands, one at a time."""

    def __init__(self, link: Connection) -> None:
        self._link = link
        self._sessions: dict[int, Session] = {}
        self._connect: Callable[[], Session] | None = None

    def serve(self) -> NoReturn:
        """Until the other end closes."""
        while True:
            command = self._hear()
            if isinstance(command, messages.Stop):
                continue  # of a round that ended by itself meanwhile
            try:
                reply = self._carry_out(command)
            except Exception as reason:  # noqa: BLE001 - sent to the engine, which sorts it
                reply = messages.FailureMessage(type(reason).__name__, str(reason))
            self._tell(reply)

    def _hear(self) -> messages.Command:
        try:
            command: messages.Command = self._link.recv()
        except (EOFError, OSError):
            os._exit(0)  # no clean end: threads may be waiting for a store that never answers
        return command

    def _tell(self, reply: messages.Reply) -> None:
        try:
            self._link.send(reply)
        except OSError:
            os._exit(0)

    def _carry_out(self, command: messages.ReachMessage | messages.ConnectMessage | messages.Fill | messages.Go) -> messages.Reply:
        match command:
            case messages.ReachMessage(target, address):
                adapter = load_adapter(target.store, target.file)
                memory_watch()
                self._connect = lambda: adapter.connect(address, target.configuration.options)
            case messages.ConnectMessage(clients):
                self._open(clients)
            case messages.Fill(layout, ranges, article_store, fixed_numbers):
                self._fill(layout, ranges, recipe(layout.model, article_store=article_store, fixed_numbers=fixed_numbers))
            case messages.Go(plan, clients, start_ns):
                return self._run(plan, clients, start_ns)
        return messages.Done()

    def _open(self, clients: Sequence[int]) -> None:
        connect = self._connect
        assert connect is not None, "a ReachMessage comes first"
        missing = [client for client in clients if client not in self._sessions]
        with ThreadPoolExecutor(_CONNECTING) as pool:
            opened = {client: pool.submit(connect) for client in missing}
        self._sessions.update({client: future.result() for client, future in opened.items() if not future.exception()})
        gc.freeze()  # sessions stay: the collector need not look at them in every round
        for future in opened.values():
            future.result()

    def _fill(self, layout: Layout, ranges: Sequence[tuple[int, range]], made: Recipe | ArticleRecipe) -> None:
        written = [0] * len(ranges)

        def job(place: int) -> Callable[[], None]:
            client, numbers = ranges[place]
            collection = self._sessions[client].collection(layout)

            def run() -> None:
                for count in _load(collection, layout, numbers, made):
                    written[place] += count

            return run

        self._watch([job(place) for place in range(len(ranges))], threading.Event(), lambda: sum(written))

    def _run(self, plan: Plan, clients: Sequence[int], start_ns: int) -> messages.WorkerResult:
        results = [ClientResult.of(plan, client) for client in clients]
        halt = threading.Event()
        schedule = None
        if plan.rate:  # each worker has its own, for its share of the clients
            schedule = Schedule(plan.rate * len(clients) / len(plan.numbers), f"{plan.seed}:{clients[0]}:gaps", start_ns, plan.seconds)

        def job(result: ClientResult) -> Callable[[], None]:
            collection = self._sessions[result.client].collection(plan.layout)
            return lambda: run_client(collection, plan, result, start_ns, halt, schedule)

        began = process_time()
        self._watch([job(result) for result in results], halt)
        found = _result(plan, results, process_time() - began, start_ns)
        if schedule is not None:
            found.schedule_lag = _histogram(result.schedule_lags for result in results)
            found.missed_sends = schedule.missed_sends(monotonic_ns())
        for client in found.broken:
            self._sessions.pop(client).close()
        return found

    def _watch(self, jobs: Sequence[Callable[[], None]], halt: threading.Event, records: Callable[[], int] = lambda: 0) -> None:
        """Run each job in a thread and wait for all; meanwhile obey `Stop` and tell the records written. Raises what a job raised."""
        ended, end = os.pipe()
        failures: list[Exception] = []

        def run(job: Callable[[], None]) -> None:
            try:
                job()
            except Exception as reason:  # noqa: BLE001 - raised by the thread that waits
                failures.append(reason)
                halt.set()

        def await_all(threads: Sequence[threading.Thread]) -> None:
            for thread in threads:
                thread.join()
            os.close(end)

        threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
        for thread in threads:
            thread.start()
        threading.Thread(target=await_all, args=(threads,), daemon=True).start()
        reported = records()
        while ended not in (ready := wait([ended, self._link], timeout=_NEWS_SECONDS)):
            if self._link in ready:
                self._hear()  # only `Stop` is said to a worker that is busy
                halt.set()
            elif (written := records()) != reported:
                reported = written
                self._tell(messages.ProgressMessage(written))
        os.close(ended)
        if failures:
            raise failures[0]


def _load(collection: Collection, layout: Layout, numbers: range, made: Recipe | ArticleRecipe) -> Iterator[int]:
    """Write the loaded records of a range, many at once where the store can; yields how many each request wrote."""
    bytes_each = made.payload_bytes() if isinstance(made, ArticleRecipe) else payload_bytes(layout.model)
    step = min(_BATCH, max(_BATCH_BYTES // bytes_each, 1)) if isinstance(collection, BatchWrite) else 1
    for first in range(numbers.start, numbers.stop, step):
        chosen = range(first, min(first + step, numbers.stop))
        records = {(key := made.key(number)): made.make(key, f"0:{number}") for number in chosen}
        if step > 1:
            call(collection, layout, "put_many", records)
        else:
            for key, record in records.items():
                call(collection, layout, "put", key, record)
        yield len(records)


def _result(plan: Plan, results: Sequence[ClientResult], cpu_seconds: float, start_ns: int) -> messages.WorkerResult:
    operations = []
    for place, mix in enumerate(plan.mix):
        counts = [result.counts[place] for result in results]
        operations.append(
            OperationCounts(
                operation=operation_name(mix),
                ok=sum(each.ok for each in counts),
                misses=sum(each.misses for each in counts),
                errors=sum(each.errors for each in counts),
                malformed=sum(each.malformed for each in counts),
                latency=_histogram(each.latencies for each in counts),
                response=_histogram(each.responses for each in counts) if plan.rate else None,
            )
        )
    ran = [result for result in results if result.elapsed > 0]
    return messages.WorkerResult(
        operations=operations,
        throughput=sum(result.rate(max(each.elapsed for each in ran)) for result in ran),
        request_rate=sum(result.requests * 1e9 / result.elapsed for result in ran),
        requests=sum(result.requests for result in results),
        busy_seconds=sum(result.busy for result in results) / 1e9,
        pause_seconds=sum(result.pause for result in results) / 1e9,
        cpu_seconds=cpu_seconds,
        elapsed_seconds=max((result.ended_ns - start_ns for result in ran), default=0) / 1e9,
        positions={result.client: result.position for result in results},
        removed={result.client: result.removed for result in results},
        indeterminate=[number for result in results for number in result.indeterminate],
        samples=[text for result in results for text in result.samples][:_SAMPLES],
        broken=[result.client for result in results if result.broken],
    )


def _histogram(parts: Iterable[array[int]]) -> HdrHistogram:
    histogram = new_histogram()
    for part in parts:
        record_all(histogram, part)
    return histogram


def main() -> NoReturn:
    """Serve until the process that started this one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal: who started us decides
    Worker(Connection(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
