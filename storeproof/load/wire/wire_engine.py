"""The wire engine: repeats the requests of the store's ordinary client from compiled code, over connections that the client opened.

A connection serves the rounds of one collection: it is opened and probed for it, its client is then ended without a word to the store, and
the compiled part has it until another collection, or another mix, is measured.
"""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING, Final, cast, get_args

from storeproof import native_support
from storeproof.contract import Session, load_adapter
from storeproof.contract.address import Address
from storeproof.contract.failures import Breach, Unknown
from storeproof.contract.values import Layout
from storeproof.errors import NotAvailable, UsageError
from storeproof.load.driver.client import ROUND
from storeproof.load.driver.driver_engine import usable_cores
from storeproof.load.engine import (
    Engine,
    EngineName,
    LoadFailed,
    OperationCounts,
    Plan,
    RunResult,
    StoreSilent,
    label,
    operation_name,
    require_success,
    silent_store,
)
from storeproof.load.wire.capture import Capture, Learned, split_operation
from storeproof.load.wire.probes import Probes
from storeproof.load.wire.relay import Relay
from storeproof.load.wire.request import Job, Patch, WireProtocol
from storeproof.load.wire.slots import NotTemplated
from storeproof.records.filler import BYTES, MASK
from storeproof.records.keys import form_of
from storeproof.spec.store import Target
from storeproof.spec.workload import Mix
from storeproof.stats.latency import decode

if TYPE_CHECKING:
    from storeproof import native

_SPARE: Final = 256
"""Descriptors of a process beside those of the connections."""
_AHEAD_NS: Final = 5_000_000
"""From the order to the start of a round: its threads are there by then."""


@dataclass
class _Connection:
    """One client's connection to the store."""

    store: socket.socket
    patches: tuple[Patch, ...]


@dataclass
class _Line:
    """The connections that serve the rounds of one collection."""

    purpose: str
    learned: tuple[Learned, ...] = ()
    connections: dict[int, _Connection] = field(default_factory=dict)

    def close(self) -> None:
        for each in self.connections.values():
            each.store.close()
        self.connections.clear()


class WireEngine:
    """Keeps its connections from round to round, and adds to them when a plan has more clients."""

    name: EngineName = "wire"
    fixed_numbers = True

    def __init__(self, target: Target, address: Address, filler: Engine) -> None:
        """
        Args:
            filler: the engine that loads data. It is the caller's, who closes it.

        Raises:
            NotAvailable: the compiled part is not here.
        """
        native_support.require("the engine `wire`")
        self._target = target
        self._address = address
        self._filler = filler
        self._line: _Line | None = None
        self._refused: dict[str, str] = {}

    def start(self, plan: Plan) -> WireRun:
        """Begin a round.

        Raises:
            NotTemplated: the client's requests cannot be made without it.
            StoreSilent, LoadFailed, Refused: connections cannot be made.
        """
        return self.run(plan, self.job(plan))

    def run(self, plan: Plan, job: Job) -> WireRun:
        """Begin a round that `job` describes; the job is of this plan, and may differ from it in how requests follow each other."""
        from storeproof import native  # only here: it is optional

        start_ns = max(monotonic_ns() + _AHEAD_NS, plan.start_ns)
        return WireRun(self, plan, native.start(replace(job, start_ns=start_ns)), start_ns)

    def job(self, plan: Plan) -> Job:
        """The job of the compiled part for a round. Raises as `start`."""
        self.prepare(plan)
        connections = [self._line.connections[client] for client in plan.numbers] if self._line else []
        form = form_of(plan.layout.model)
        return Job(
            sockets=tuple(each.store.fileno() for each in connections),
            clients=plan.numbers,
            protocol=self._protocol(),
            ops=tuple(each.op for each in self.learned),
            filler=BYTES,
            mask=MASK,
            key_prefix=form.prefix.encode(),
            key_digits=form.digits,
            key_hashed=form.hashed,
            known=plan.known,
            positions=plan.positions or (0,) * plan.clients,
            removed=plan.removed or (0,) * plan.clients,
            indeterminate=plan.indeterminate,
            sequence=plan.number * ROUND,
            seed=plan.seed,
            start_ns=monotonic_ns(),
            seconds=plan.seconds,
            patience=plan.patience,
            pipeline=plan.pipeline,
            rate=plan.rate,
            threads=plan.threads,
            patches=tuple(each.patches for each in connections) if any(each.patches for each in connections) else (),
        )

    @property
    def learned(self) -> tuple[Learned, ...]:
        """How the operations of the plan that was last prepared are asked and answered."""
        return self._line.learned if self._line else ()

    def prepare(self, plan: Plan) -> None:
        """Have a connection for each client of a plan, and its requests; `start` does it too. Raises as `start`."""
        integer = plan.layout.model.key == "integer"  # which templates there are depends on how large keys become
        purpose = repr((plan.layout.name, plan.mix, plan.fixed_numbers, plan.known if integer else None))
        if reason := self._refused.get(purpose):
            raise NotTemplated(reason)
        if self._line is None or self._line.purpose != purpose:
            self._end_line()
            self._line = _Line(purpose)
        missing = [client for client in plan.numbers if client not in self._line.connections]
        if not missing:
            return
        allow_descriptors(len(plan.numbers))
        try:
            self._connect(self._line, plan, missing)
        except NotTemplated as reason:
            self._end_line()
            self._refused[purpose] = str(reason)
            raise
        except (Unknown, Breach) as reason:
            self._end_line()
            raise StoreSilent(f"the store did not answer: {reason}") from None
        except OSError as reason:
            self._end_line()
            raise LoadFailed(f"the load could not be put on: {reason}") from None
        except BaseException:
            self._end_line()
            raise

    def fill(self, layout: Layout, records: int, article_store: Path | None = None, fixed_numbers: bool = False) -> None:
        """Write the records 0 to records - 1, through the store's client."""
        self._filler.fill(layout, records, article_store, fixed_numbers)

    def close(self) -> None:
        self._end_line()

    def forget(self, clients: Sequence[int]) -> None:
        """The connections of these clients are not to be used again; the next round opens others."""
        if self._line is not None:
            for client in clients:
                if connection := self._line.connections.pop(client, None):
                    connection.store.close()

    def _protocol(self) -> WireProtocol:
        protocol = protocol_of(self._target)
        if protocol is None:
            raise NotTemplated(f"{self._target.store.name}: its file names no wire protocol")
        return protocol

    def _end_line(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _connect(self, line: _Line, plan: Plan, clients: Sequence[int]) -> None:
        """Open a connection for each of these clients, and learn how its requests are made."""
        protocol = self._protocol()
        adapter = load_adapter(self._target.store, self._target.file)
        options = self._target.configuration.options
        with contextlib.ExitStack() as stack:
            try:
                relay = Relay(self._address)
            except NotAvailable as reason:
                raise NotTemplated(str(reason)) from None
            stack.callback(relay.close)
            ordinary = adapter.connect(self._address, options)
            stack.callback(ordinary.close)
            probes = Probes(plan, ordinary.collection(plan.layout))
            stack.callback(probes.remove)
            capture = Capture(protocol, relay, probes)
            for client in clients:
                session = adapter.connect(relay.address, options)
                line.connections[client] = self._hand_over(line, plan, session, relay, capture)

    def _hand_over(self, line: _Line, plan: Plan, session: Session, relay: Relay, capture: Capture) -> _Connection:
        """Probe the connection of a session, take it, and end the session."""
        try:
            collection = session.collection(plan.layout)
            patches: tuple[Patch, ...] = ()
            if not line.learned:
                link, line.learned = capture.scout(collection)
            else:
                link, patches = capture.follow(collection, line.learned)
            return _Connection(relay.take(link), patches)
        finally:
            with relay.disconnect_clients():
                session.close()


class WireRun:
    def __init__(self, engine: WireEngine, plan: Plan, run: native.Run, begins_ns: int) -> None:
        self._engine = engine
        self._plan = plan
        self._run = run
        self.begins_ns = begins_ns

    def stop(self) -> None:
        self._run.stop()

    def join(self) -> RunResult:
        """Wait for the end, at most the plan's patience beyond the deadline."""
        plan = self._plan
        try:
            found = self._run.join()
        except BaseException:  # also an interrupt: connections on which replies are due cannot be used again
            self._run.stop()
            self._engine.close()
            raise
        self._engine.forget(found.broken)
        if found.silent:
            self._engine.close()
            raise silent_store(plan)
        return require_success(result_of(plan, found))


def result_of(plan: Plan, found: native.Measured) -> RunResult:
    """The result of a job, in the form that all engines have."""
    counts = iter(found.ops)
    # Of the halves of an operation; the successes, with their times, are counted with the last.
    operations = {label(mix): OperationCounts.total([_counts(mix, next(counts)) for _ in split_operation(mix)]) for mix in plan.mix}
    requests = max(sum(_requests(mix, operations[label(mix)]) for mix in plan.mix), 1)
    return RunResult(
        operations=operations,
        throughput=found.throughput,
        request_rate=found.request_rate,
        clients=len(plan.numbers),
        busy_seconds=found.busy_seconds / requests,
        pause_seconds=found.pause_seconds / requests,
        cpu_seconds=found.cpu_seconds,
        elapsed_seconds=found.elapsed_seconds,
        cores=min(found.threads, usable_cores()),
        positions=tuple(found.positions),
        indeterminate=tuple(found.indeterminate),
        samples=tuple(found.samples),
        removed=tuple(found.removed),
        schedule_lag=decode(found.schedule_lag) if found.schedule_lag else None,
        missed_sends=found.missed_sends,
        waiting_seconds=found.waiting_seconds,
    )


def _counts(mix: Mix, found: native.OperationCounts) -> OperationCounts:
    return OperationCounts(
        operation=operation_name(mix),
        ok=found.ok,
        misses=found.misses,
        errors=found.errors,
        malformed=found.malformed,
        latency=decode(found.service),
        response=decode(found.response) if found.response else None,
    )


def _requests(mix: Mix, result: OperationCounts) -> int:
    """Whatever became of them. A request that missed all of its records is in no histogram."""
    partial = result.requests * mix.batch - result.ok  # records missed by requests that are
    return result.requests + result.errors + result.malformed + max(result.misses - partial, 0) // mix.batch


def allow_descriptors(clients: int) -> None:
    """Let this process have as many open files as the clients need. Raises `LoadFailed`: the system's limit is lower."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = clients + _SPARE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise LoadFailed(
                f"{clients} connections need {wanted} open files, and a process may have {hard} here; raise it: ulimit -Hn {wanted}"
            )
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


_RENAMED: Final = {"length32": "embedded"}


def protocol_of(target: Target) -> WireProtocol | None:
    """The protocol between a store's client and its server, where its file names one.
    Raises `UsageError`: it names another one than those that the wire engine knows."""
    named = target.store.wire
    if named is not None and named not in get_args(WireProtocol):
        renamed = f" (it is called `{_RENAMED[named]}` now)" if named in _RENAMED else ""
        raise UsageError(f"{target.file}: wire: found '{named}'{renamed}; allowed: {', '.join(get_args(WireProtocol))}")
    return cast("WireProtocol | None", named)
