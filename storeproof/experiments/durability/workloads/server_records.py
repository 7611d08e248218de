"""Records that clients write and delete, under each load shape, and that are read back after a fault of one server.

The guarantee names the load shapes (see `load_shapes`). In every round its fault strikes once in each shape.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic_ns
from typing import Final

from storeproof.check import Shape
from storeproof.contract import Layout, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.evidence import Broken
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.load_shapes import LoadShapes
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.records import Records
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults import Fault
from storeproof.history import by_place
from storeproof.machine.deadline import machine_is_busy
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale

_SINCE: Final = "after the start"
_FIRST_RECOVERY: Final = 0.05
"""Seconds within which a second fault strikes before any recovery time was measured."""
_PATIENCE_SECONDS: Final = 30.0
"""How long a running store may fail to answer while the audit's reads are its only load."""
_AT_ONCE: Final = 4.0
"""Seconds. Below the timeouts of all adapters: a failure within this time was not a timeout."""


class ServerRecords(Records[ServerStrike]):
    """The records of many rounds of one server."""

    def __init__(
        self,
        subject: Subject,
        fault: Fault,
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        summary: DurabilitySummary,
        *,
        load: Sequence[LoadShape] = ("burst", "stream"),
        atomic: frozenset[AtomicWrite] = frozenset(),
    ) -> None:
        """
        Args:
            fault: that of all strikes.
            summary: of earlier rounds, on another store that the machine spoiled; the rounds continue from there.
            load: the shapes that are wanted.
        """
        super().__init__(subject, layouts, scale, RoundJudge(summary, cuts_off=fault.cuts_off), atomic)
        self.summary.power_cut_method = subject.handle.power_cut_method if fault.cuts_off else None
        self._fault = fault
        self._wanted = load
        self._tried: list[LoadShape] = []
        self._shapes = LoadShapes(self._clients, scale, self.summary)

    def last_recovery(self) -> float:
        """The seconds that it took: a second fault within them strikes before the store answers."""
        return self.summary.recoveries[-1] if self.summary.recoveries else _FIRST_RECOVERY

    def set_up(self) -> None:
        """Create the collections, and determine which load shapes can be tested."""
        with self._subject.session() as session:
            self._clients.prepare(session)
            self._tried = [shape for shape in self._wanted if self._can_try(session, shape)]
        self.shapes = len(self._tried)

    def prepare(self) -> None:
        """Nothing after a recovery: whether the collections are there is read back."""

    @property
    def shape(self) -> LoadShape:
        """The shapes take turns."""
        return self._tried[self.summary.rounds % self.shapes]

    @contextmanager
    def clients(self, strike: ServerStrike) -> Iterator[RoundClients]:
        """The load of the shape."""
        self._period += 1
        try:
            with RoundClients(shape=self.round.shape) as running:
                running.enter(self._shapes.load(self.round.shape, self._period))
                yield running
        finally:
            strike.note(self.round)
            self._judge.came_back(self.round, self._recorder.operations)

    def audit(self, strike: ServerStrike) -> None:
        """Read back what was written since the last audit, and check that the store works again."""
        try:
            with self._subject.session() as session:
                self.round.audit = self._read_back(session, everything=strike.last)
                self._clients.prepare(session)
                self._check_usable(session, _SINCE)
        except Unknown as reason:
            if strike.how_it_ended() is None and self._stays_silent() and strike.how_it_ended() is None:
                if busy := machine_is_busy():
                    raise MachineFailed(f"after the start it runs but does not answer, on a busy machine ({busy}): {reason}") from None
                raise StoreDied(f"after the start it runs but does not answer: {reason}", self._log_tail()) from None
            raise
        self._judge.end(self.round)

    def broken(self, strike: ServerStrike, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:  # noqa: ARG002
        """It needs repair if it starts and then refuses, or ends while it reads its data."""
        if isinstance(reason, StoreDied):
            why = f"{Shape.UNSTARTABLE}: {reason.reason}" if self.round.unstartable is not None else reason.reason
            self.round.broken = Broken(why, reason.log, needs_repair=False)
        elif isinstance(reason, Unknown) and ended is None:
            raise reason
        else:
            self.round.broken = Broken(f"after the start it does not work: {reason}", self._log_tail(), needs_repair=True)
        self._judge.end(self.round)

    def _can_try(self, session: Session, shape: LoadShape) -> bool:
        """Bursts are only for sudden faults: a store that is asked to stop can finish its writes, so the moment does not matter."""
        if shape == "burst" and not self._fault.sudden:
            return False
        if reason := self._shapes.unsupported_because(session, shape):
            self.summary.without[shape] = reason
        return not reason

    def _stays_silent(self) -> bool:
        """Whether repeated attempts get no answer: a slow store answers in the end, one that fails on its data does not."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (began := time.monotonic()) < deadline:
            try:
                with self._subject.session() as session:
                    audit(session, self._layouts, by_place(self._judge.history(self._recorder.operations(), monotonic_ns())))
                    self._check_usable(session, _SINCE)
            except (Refused, Unknown, StoreDied):
                if time.monotonic() - began < _AT_ONCE:
                    return True
            else:
                return False
        return True
