"""A strike of a store that is one server for its clients: it ends, and is started on what it left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from time import monotonic_ns
from typing import Final

from storeproof.contract import Refused, Session, Unknown
from storeproof.errors import StoreDied
from storeproof.evidence import RoundEvidence
from storeproof.experiments.durability.clusters.round_record import Moments
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.fault_experiment import Subject, how_it_ended
from storeproof.experiments.store_files import StoreFiles
from storeproof.faults import Fault
from storeproof.history import Reach

_SERVER: Final = "the server"


class ServerStrike:
    """One fault of it. Its clients end with it: what they are answered after the strike says nothing if it has lost its disk."""

    struck_node = _SERVER
    other_nodes: Sequence[str] = ()

    def __init__(
        self,
        subject: Subject,
        fault: Fault,
        *,
        again_within: Callable[[], float] | None = None,
        after_the_last: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Args:
            again_within: the fault strikes again within these seconds from the start, while the store recovers; not after a burst.
            after_the_last: called when the store has recovered from the last strike.
        """
        self.moments = Moments()
        self.last = False
        self._subject = subject
        self._handle = subject.handle
        self._fault = fault
        self._again_within = again_within
        self._after_the_last = after_the_last
        self._files: StoreFiles
        self._reach: Reach | None = None
        self._second_fault = False
        self._recovered: float | None = None
        """Seconds."""
        self._unstartable: int | None = None
        """When it was given up to start it."""

    @property
    def cuts_off(self) -> bool:
        """As its fault."""
        return self._fault.cuts_off

    @property
    def name(self) -> str:
        """That of the fault."""
        return self._fault.name

    def primary(self) -> str:
        """The server."""
        return _SERVER

    def at(self, node: str) -> Callable[[], Session]:  # noqa: ARG002 - there is one
        """What opens a session."""
        return self._subject.open

    def connecting(self, client: int, choose: Callable[[], str]) -> Callable[[], Session]:  # noqa: ARG002 - there is one
        """What opens a session."""
        return self._subject.open

    def asks(self, client: int, node: str) -> None:
        """Nothing is noted: there is one."""

    def set_up(self) -> None:
        """Quiesce the store before its power is cut: a power cut at the first start is another experiment."""
        if self._fault.cuts_off:
            self._handle.quiesce()

    def begin(self) -> None:
        """Two servers of a composite killed in a row would be another fault."""
        self._handle.wait_whole()
        self._files = StoreFiles(self._handle)
        self.moments.began = monotonic_ns()

    def strike(self, clients: RoundClients) -> None:
        """Strike, and wait until all clients have ended."""
        if clients.shape == "stream":  # in the others the moment matters, and a look would give the store time to sync
            self._files.look()
        clients.strike_comes()
        self.moments.strike = monotonic_ns()
        self._fault.strike(self._handle)
        self.moments.struck = monotonic_ns()
        self._reach = self._files.reach()
        clients.end()
        self.moments.ended = monotonic_ns()

    def recover(self, clients: RoundClients, prepare: Callable[[], None]) -> None:
        """Start it, and have the clients go on."""
        if self._again_within is not None and clients.shape != "burst":
            self._second_fault = True
            self._handle.start_nowait()
            time.sleep(self._subject.rng.uniform(0, self._again_within()))
            self._fault.strike(self._handle)
        try:
            self._recovered = self._handle.start()
        except StoreDied:
            self._unstartable = monotonic_ns()
            raise
        prepare()
        clients.go_on(_SERVER)
        if self.last:
            self._after_the_last()

    def note(self, round_: RoundEvidence) -> None:
        """Write into the evidence of the round what happened from the strike to the recovery."""
        round_.struck, round_.load_ended, round_.reach = self.moments.strike, self.moments.ended, self._reach
        round_.second_fault, round_.recovered, round_.unstartable = self._second_fault, self._recovered, self._unstartable

    def make_whole(self) -> None:
        """It is, since it answers."""

    def missed(self, records: int) -> str:
        """Why nothing of its files was struck."""
        assert self._reach is not None, "it has struck"
        return self._reach.missed(records)

    def how_it_ended(self) -> StoreDied | None:
        """As of any store."""
        return how_it_ended(self._handle)

    def broken(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> Exception:
        """That it has ended, or else what it answered."""
        return ended or reason

    def clean_up(self) -> None:
        """Nothing is left of a fault that has struck."""
