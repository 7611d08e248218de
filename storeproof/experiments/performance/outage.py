"""One outage: an open loop of clients, a fault in the middle of it, and a store that is to come back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic_ns
from types import MappingProxyType
from typing import Final, Literal

from storeproof.check import Finding
from storeproof.contract import Address, Layout, Refused, Session, Unknown, call
from storeproof.errors import StoreDied
from storeproof.experiments.client_threads import running
from storeproof.experiments.durability.readback import audit, by_key
from storeproof.experiments.performance.open_loop_client import Caller
from storeproof.faults import Fault, find
from storeproof.faults.pause import FAULT as PAUSE
from storeproof.history import Operation, Recorder
from storeproof.launch.handle import Handle
from storeproof.spec.guarantee import GuaranteeName
from storeproof.spec.scale import OutageScale
from storeproof.stats.unavailability import Watched

CLIENTS: Final = 8
PAUSE_SECONDS: Final = 1.0
_LEAD_IN: Final = 0.3
"""Seconds before the watch begins: a store that was just started is slow with its first requests."""

Name = Literal["crash", "pause", "restart"]


@dataclass(frozen=True)
class Kind:
    """One way to fail."""

    name: Name
    fault: Fault
    guarantee: GuaranteeName | None
    """Who claims it loses nothing by this; None: nobody may."""


KINDS: Final[Mapping[Name, Kind]] = MappingProxyType(
    {
        "crash": Kind("crash", find("process_kill"), "process_crash"),
        "pause": Kind("pause", PAUSE, None),
        "restart": Kind("restart", find("clean_restart"), "clean_restart"),
    }
)


@dataclass(frozen=True)
class Seen:
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


class Outage:
    """A store of its own, and one fault. `run` answers once."""

    def __init__(
        self, handle: Handle, kind: Kind, layout: Layout, scale: OutageScale, *, connect: Callable[[Address], Session], seed: str
    ) -> None:
        self._handle = handle
        self._kind = kind
        self._layout = layout
        self._scale = scale
        self._connect = connect
        self._recorder = Recorder()
        self._address = handle.address
        """Where the store is, or last was: a container has no address while it is down, and another one afterwards."""
        self._callers = [
            Caller(self._session, layout, self._recorder.client(), scale.rate / CLIENTS, f"{seed}:{number}") for number in range(CLIENTS)
        ]
        self._events: dict[str, int] = {}

    def run(self) -> Seen:
        """Put the load on, strike, watch, and read back.

        Raises:
            Unknown, Refused: the store does not answer before anything was done to it, or takes no requests.
            Breach: the adapter broke the contract.
        """
        session = self._session()
        try:
            session.collection(self._layout).prepare()
        finally:
            session.close()
        began, at_risk, ended, failure = self._watch()
        for caller in self._callers:
            if caller.failure is not None:
                raise caller.failure
        requests = [each for caller in self._callers for each in caller.requests if began <= each.due < ended]
        operations = self._recorder.operations()
        findings: list[Finding] = []
        if failure is None:
            try:
                findings = self._read_back(operations)
            except (Refused, Unknown) as reason:
                failure = self._explained(reason)
        struck, *later = self._events.values()
        down = later[0] if later else ended  # it could not even be stopped
        return Seen(
            Watched(requests, began, struck, down, ended),
            self._events,
            sum(each.outcome == "ok" for each in operations),
            sum(each.outcome == "unknown" for each in operations),
            at_risk,
            findings,
            failure,
        )

    def _watch(self) -> tuple[int, int, int, StoreDied | Refused | Unknown | None]:
        """When the watch began, how many writes were acknowledged before the fault, when the watch ended, and why it did not come back."""
        failure = None
        try:
            for caller in self._callers:
                caller.open()
            with running([caller.run for caller in self._callers]):
                time.sleep(_LEAD_IN)
                began = monotonic_ns()
                time.sleep(self._scale.before_seconds)
                at_risk = self._recorder.acknowledged
                self._note("fault")
                try:
                    if self._kind.fault is PAUSE:
                        self._pause()
                    else:
                        self._start_again()
                except (StoreDied, Refused, Unknown) as reason:
                    failure = self._explained(reason)
                time.sleep(self._scale.after_seconds)
                return began, at_risk, monotonic_ns(), failure
        finally:
            for caller in self._callers:
                caller.close()

    def _pause(self) -> None:
        """Whatever happens meanwhile, the store goes on."""
        try:
            PAUSE.strike(self._handle)
            time.sleep(PAUSE_SECONDS)
        finally:
            self._note("goes on")
            PAUSE.end(self._handle)

    def _start_again(self) -> None:
        self._kind.fault.strike(self._handle)
        self._note("start")
        self._handle.start_nowait()
        self._address = self._handle.address
        self._handle.wait_ready()
        self._prepare_again()

    def _prepare_again(self) -> None:
        """A store that keeps its schema in memory too has lost that."""
        session = self._session()
        try:
            collection = session.collection(self._layout)
            try:
                call(collection, self._layout, "get", "c0:0")
            except Refused:
                collection.prepare()
        finally:
            session.close()

    def _read_back(self, operations: Sequence[Operation]) -> list[Finding]:
        session = self._session()
        try:
            findings, _ = audit(session, {self._layout.model.model: self._layout}, by_key(operations))
        finally:
            session.close()
        return findings

    def _explained(self, reason: StoreDied | Refused | Unknown) -> StoreDied | Refused | Unknown:
        """A store that did not answer may have ended. Raises `MachineFailed` where it was killed from outside."""
        if isinstance(reason, Unknown):
            try:
                self._handle.check_alive()
            except StoreDied as ended:
                return ended
        return reason

    def _session(self) -> Session:
        return self._connect(self._address)

    def _note(self, event: str) -> None:
        self._events[event] = monotonic_ns()
