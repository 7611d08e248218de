"""One error of a disk: clients go on under it, and when it is over; then the power is cut, and the store starts on a disk that works."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from time import monotonic, monotonic_ns, sleep
from typing import Final

from storeproof.contract import Layout, Refused, Unknown, Unsupported
from storeproof.disk.recording import DiskState, RecordingDisk
from storeproof.evidence import AuditEvidence, ErrorEvidence, ErrorsEvidence
from storeproof.experiments.client import Client, raise_failures
from storeproof.experiments.crash_states.recorded_load import BEFORE, LoadClients, send
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.readback import check_usable, read
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.io_errors.tried_error import TriedError
from storeproof.history import Place, Recorder, Seen
from storeproof.spec.guarantee import IoError

_LATER: Final = 8
"""Requests when the disk works again."""
_LAST: Final = 2
"""The period of the writes at the end: they have keys of their own."""
_BACK_SECONDS: Final = 3.0
"""Time for a server that closed its connections to accept new ones."""
_START_SECONDS: Final = 15.0
"""Time for one whose reads fail to take its first client; it may try to start for minutes."""
_LOOK_SECONDS: Final = 0.02


@dataclass
class ErrorTrial:
    """Tries errors of one kind on one store, which begins each time with the same files and gets the same load."""

    subject: Subject
    disk: RecordingDisk
    layouts: Mapping[str, Layout]
    atomic: frozenset[AtomicWrite]
    error: IoError
    requests: int
    expiring: bool = False
    """Whether some records get a time to live."""
    recorder: Recorder = field(default_factory=Recorder)
    evidence: ErrorsEvidence = field(init=False)
    """Of all errors that were tried."""

    def __post_init__(self) -> None:
        """Keep what a first load leaves."""
        self._seed = self.subject.rng.getrandbits(64)
        clients = self._clients()
        clients.prepare()
        with closing(LoadClients(clients)) as load:
            load.send(self.requests, send) if self._reads else send(load.writer, BEFORE)
        self._before = self.recorder.operations()
        self.evidence = ErrorsEvidence(self.error, self.requests, self.recorder.clients)
        self.disk.record()
        self.disk.recorded()
        self._files: DiskState = self.disk.states("kernel")[0][0]

    def run(self, call: int, *, lasting: bool) -> TriedError:
        """Have this call fail; 0: none.

        Raises:
            MachineFailed, Unknown, Breach: it says nothing about the store.
            NotAvailable: it writes through memory mappings: when that reaches the disk is the kernel's choice, so there is no n-th call.
        """
        error, handle = ErrorEvidence(call, lasting, self.recorder.clients), self.subject.handle
        tried = TriedError(error)
        handle.kill()
        self.disk.restore(self._files)
        handle.cut_power()
        if not self._reads:
            handle.start()
        try:
            self._strike(error)
        finally:
            self.disk.failures()
        self.disk.mapped()
        error.until = self.recorder.clients
        handle.cut_power()
        with tried.has_to_work(handle):
            handle.start()
            error.after = self._read(error, self.layouts)
            clients = Clients(self.subject, self.layouts, recorder=self.recorder)
            with self.subject.session() as session:
                clients.prepare(session)
                check_usable(clients, session, _LAST, "when the disk works again", handle.log_tail)
        error.broken, error.ended = tried.broken, tried.ended
        self.evidence.tried.append(error)
        tried.judge(self._before, [each for each in self.recorder.operations(error.first) if each.client < error.until])
        return tried

    @property
    def _reads(self) -> bool:
        """Whether reads fail: then its start is part of what is tried."""
        return self.error == "eio_read"

    def _strike(self, error: ErrorEvidence) -> None:
        """The load, and its disk that fails and works again."""
        handle = self.subject.handle
        if self._reads:
            self.disk.fail(self.error, error.call, lasting=error.lasting)
            handle.start_nowait()
            if not self._takes(lambda: self.subject.open().close(), _START_SECONDS):
                error.calls, error.gone = self.disk.failures().calls, not handle.alive()
                return
            self._look(error)
        with suppress(Refused, Unknown), closing(LoadClients(self._clients())) as load:
            if not self._reads:
                self.disk.fail(self.error, error.call, lasting=error.lasting)
            load.send(self.requests, lambda client, requests: self._send(client, requests, error), (Refused, Unsupported, Unknown))
            self._look(error)
            error.calls = self.disk.failures().calls
            if error.lasting:  # else clients went on already, and another write may bring back what a sync lost
                self._send(load.writer, _LATER, error)
                self._look(error)
            if not error.looks[-1].seen:  # it may be about to end: its connections are closed some time before its process has ended
                self._takes(self._ask, _BACK_SECONDS)
            error.gone |= not handle.alive()
            return
        # It took no clients, and may be about to end.
        self._takes(self._ask, _BACK_SECONDS)
        error.calls, error.gone = self.disk.failures().calls, not handle.alive()

    def _send(self, client: Client, requests: int, error: ErrorEvidence) -> None:
        """Send some, whatever comes of them; none if it does not take them."""
        for _ in range(requests):
            if client.ended.unknown and not self._takes(client.open):
                error.gone = True
                if not self._takes(client.open, _BACK_SECONDS):
                    return
            client.step()
            raise_failures([client])

    def _takes(self, connect: Callable[[], None], seconds: float = 0.0) -> bool:
        """Whether it takes a client in that time."""
        deadline = monotonic() + seconds
        while self.subject.handle.alive():
            with suppress(Refused, Unknown):
                connect()
                return True
            if monotonic() >= deadline:
                break
            sleep(_LOOK_SECONDS)
        return False

    def _ask(self) -> None:
        """Raises `Unknown` if there is no answer."""
        with suppress(Refused), self.subject.session() as session:
            read(session, self.layouts, [self._before[0].place])

    def _look(self, error: ErrorEvidence) -> None:
        """Read what it serves while it runs; it may refuse."""
        moment, seen, gone = monotonic_ns(), dict[Place, Seen](), list[str]()
        for name, layout in self.layouts.items():
            with suppress(Refused, Unknown):
                read = self._read(error, {name: layout})
                seen.update(read.seen)
                gone += read.gone
        error.looks.append(AuditEvidence(moment, True, seen, tuple(gone), monotonic_ns()))

    def _read(self, error: ErrorEvidence, layouts: Mapping[str, Layout]) -> AuditEvidence:
        """Read all keys so far."""
        moment = monotonic_ns()
        written = [each.place for each in (*self._before, *self.recorder.operations(error.first))]
        with self.subject.session() as session:
            seen, gone = read(session, layouts, dict.fromkeys(written))
        return AuditEvidence(moment, True, seen, tuple(gone), monotonic_ns())

    def _clients(self) -> Clients:
        """The same requests each time."""
        return Clients(replace(self.subject, rng=random.Random(self._seed)), self.layouts, self.atomic, self.recorder, self.expiring)
