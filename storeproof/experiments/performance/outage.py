"""One outage: an open loop of clients, a fault in the middle of it, and a store that is to come back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic_ns
from types import MappingProxyType
from typing import Final

from storeproof.check import Finding
from storeproof.contract import Address, Layout, Refused, Session, Unknown, call
from storeproof.errors import StoreDied
from storeproof.experiments.client import Client, under_load
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.performance.open_loop_client import OpenLoop, PutsAndGets
from storeproof.faults import Fault
from storeproof.faults.clean_restart import FAULT as CLEAN_RESTART
from storeproof.faults.pause import FAULT as PAUSE
from storeproof.faults.process_kill import FAULT as PROCESS_KILL
from storeproof.history import Recorder, by_place
from storeproof.spec.guarantee import GuaranteeName
from storeproof.spec.scale import OutageFault, OutageScale
from storeproof.stats.unavailability import Watched

CLIENTS: Final = 8
PAUSE_SECONDS: Final = 1.0
_WARM_UP: Final = 0.3
"""Seconds before the watch begins: a store that was just started is slow with its first requests."""


@dataclass(frozen=True)
class OutageKind:
    name: OutageFault
    fault: Fault
    guarantee: GuaranteeName | None
    """A variant that claims it loses nothing by this fault; None: no store may."""


KINDS: Final[Mapping[OutageFault, OutageKind]] = MappingProxyType(
    {
        "crash": OutageKind("crash", PROCESS_KILL, "process_crash"),
        "pause": OutageKind("pause", PAUSE, None),
        "restart": OutageKind("restart", CLEAN_RESTART, "clean_restart"),
    }
)


@dataclass(frozen=True)
class Observed:
    """What was noted, and what was found when all writes were read back."""

    watched: Watched
    events: Mapping[str, int]
    """The fault, and what ended it: moments by name, in nanoseconds of the clock of the requests."""
    acknowledged: int
    unknown: int
    at_risk: int
    """Writes that were acknowledged before the fault."""
    findings: list[Finding]
    failure: StoreDied | Refused | Unknown | None = None
    """It did not come back, or what was written could not be read back; there are no findings then."""


class Outage(FaultExperiment[None]):
    """A store of its own, and one fault in the middle of an open loop that goes on until the store is back."""

    recovers_under_load = True

    def __init__(
        self, subject: Subject, kind: OutageKind, layout: Layout, scale: OutageScale, *, connect: Callable[[Address], Session], seed: str
    ) -> None:
        """`connect`: to an address, which the store may change when it starts again."""
        super().__init__(subject)
        self._kind = kind
        self._layout = layout
        self._scale = scale
        self._connect = connect
        self._seed = seed
        self._recorder = Recorder()
        self._address = self.handle.address
        """Where the store is, or last was: a container has no address while it is down, and another one afterwards."""
        self._pacings: list[OpenLoop] = []
        self._events: dict[str, int] = {}
        self._began = self._ended = 0
        """Begin and end of the watch."""
        self._at_risk = 0
        self._findings: list[Finding] = []
        self._failure: StoreDied | Refused | Unknown | None = None

    @property
    def observed(self) -> Observed:
        """What was seen, when it has run."""
        operations = self._recorder.operations()
        struck, *later = self._events.values()
        down = later[0] if later else self._ended  # it could not even be stopped
        requests = [each for pacing in self._pacings for each in pacing.requests if self._began <= each.due < self._ended]
        return Observed(
            Watched(requests, self._began, struck, down, self._ended),
            self._events,
            sum(each.outcome == "ok" for each in operations),
            sum(each.outcome == "unknown" for each in operations),
            self._at_risk,
            self._findings,
            self._failure,
        )

    def setup(self) -> None:
        session = self._open()
        try:
            session.collection(self._layout).prepare()
        finally:
            session.close()

    def rounds(self) -> Iterator[None]:
        yield None

    @contextmanager
    def load(self) -> Iterator[None]:
        """All clients, until the store is back, or cannot come back."""
        clients: list[Client] = []
        try:
            for number in range(CLIENTS):
                seed = f"{self._seed}:{number}"
                self._pacings.append(OpenLoop(self._scale.rate / CLIENTS, f"{seed}:gaps"))
                clients.append(Client(self._open, PutsAndGets(self._layout, self._recorder.client(), seed), self._pacings[-1]))
            with under_load(clients):
                time.sleep(_WARM_UP)
                self._began = monotonic_ns()
                time.sleep(self._scale.before_seconds)
                self._at_risk = self._recorder.acknowledged
                yield
                time.sleep(self._scale.after_seconds)
                self._ended = monotonic_ns()
        finally:
            for client in clients:
                client.close()

    def fault(self) -> None:
        """Strike; what goes wrong is part of what is watched."""
        self._note("fault")
        try:
            if self._kind.fault is PAUSE:
                self._pause()
            else:
                self._kind.fault.strike(self.handle)
        except (StoreDied, Refused, Unknown) as reason:
            self._failure = self.explain(reason) or reason

    def recover(self) -> None:
        """Start it at once, unless it was only halted."""
        if self._failure is not None or self._kind.fault is PAUSE:
            return
        self._note("start")
        try:
            self.handle.start_nowait()
            self._address = self.handle.address
            self.handle.wait_ready()
            self._prepare_again()
        except (StoreDied, Refused, Unknown) as reason:
            self._failure = self.explain(reason) or reason

    def audit(self) -> None:
        if self._failure is None:
            session = self._open()
            try:
                histories = by_place(self._recorder.operations())
                self._findings, _ = audit(session, {self._layout.model.model: self._layout}, histories)
            finally:
                session.close()

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """What was written cannot be read back. Raises where nothing was done to the store yet."""
        if not self._events:
            raise reason
        self._failure = ended or reason

    def _pause(self) -> None:
        """Whatever happens meanwhile, the store goes on."""
        try:
            PAUSE.strike(self.handle)
            time.sleep(PAUSE_SECONDS)
        finally:
            self._note("goes on")
            PAUSE.end(self.handle)

    def _prepare_again(self) -> None:
        """A store that keeps its schema in memory has lost that."""
        session = self._open()
        try:
            collection = session.collection(self._layout)
            try:
                call(collection, self._layout, "get", "c0:0")
            except Refused:
                collection.prepare()
        finally:
            session.close()

    def _open(self) -> Session:
        return self._connect(self._address)

    def _note(self, event: str) -> None:
        self._events[event] = monotonic_ns()
