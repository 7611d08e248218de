"""The rounds of one guarantee: load, fault, start, read back, check, write again.

The guarantee names the load shapes (see `load_shapes`). In every round its fault strikes once in each shape. What happened is kept as
evidence, from which `replay` comes to the same sums.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic_ns

from storeproof.check import Shape
from storeproof.contract import Layout, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.evidence import AuditEvidence, Broken, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.load_shapes import LoadShapes
from storeproof.experiments.durability.readback import audit, check_usable, read
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.store_files import StoreFiles
from storeproof.faults import Fault
from storeproof.history import Operation, by_place
from storeproof.machine.pressure import machine_is_busy
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale

_FIRST_RECOVERY = 0.05
"""Seconds within which the second fault strikes before any recovery time was measured."""

_PATIENCE_SECONDS = 30.0
"""How long a running store may fail to answer while the audit's reads are its only load."""
_AT_ONCE = 4.0
"""Seconds. Below the timeouts of all adapters: a failure within this time was not a timeout."""


@dataclass(frozen=True)
class Round:
    """One fault."""

    shape: LoadShape
    last: bool
    """Its audit reads the keys of all rounds: what survived an earlier fault must survive the later ones too."""


class Rounds(FaultExperiment[Round]):
    """One store, one fault, many rounds."""

    def __init__(
        self,
        subject: Subject,
        fault: Fault,
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        *,
        load: Sequence[LoadShape] = ("burst", "stream"),
        second_fault: bool = False,
        atomic: frozenset[AtomicWrite] = frozenset(),
        summary: DurabilitySummary | None = None,
    ) -> None:
        """
        Args:
            second_fault: the fault strikes again while the store recovers, except after a burst.
            summary: of earlier rounds, on another store that the machine spoiled; the rounds continue from there.
        """
        super().__init__(subject)
        self.summary = summary if summary is not None else DurabilitySummary()
        self.summary.clients = scale.clients
        self.summary.power_cut_method = self.handle.power_cut_method if fault.cuts_off else None
        self.rounds_seen: list[RoundEvidence] = []
        """What happened in each round so far."""
        self._fault = fault
        self._layouts = layouts
        self._scale = scale
        self._wanted = load
        self._second_fault = second_fault
        self._clients = Clients(subject, layouts, atomic)
        self._recorder = self._clients.recorder
        self._shapes = LoadShapes(self._clients, scale, self.summary)
        self._judge = RoundJudge(self.summary, cuts_off=fault.cuts_off)
        self._period = 0
        """The number of the load period; each period has its own keys."""

    def evidence(self, case: str, seed: str, target: str) -> StoreEvidence:
        """What happened on this store, with its case, the seed of its choices, and its name."""
        return StoreEvidence(case, seed, target, self._fault.cuts_off, self.rounds_seen, self._recorder.operations())

    def setup(self) -> None:
        """Create the collections, determine which load shapes can be tested, and quiesce the store before its power is cut."""
        with self.subject.session() as session:
            self._clients.prepare(session)
            self._tried = [shape for shape in self._wanted if self._can_try(session, shape)]
        if self._fault.cuts_off:
            self.handle.quiesce()  # a power cut at the first start is another experiment

    def rounds(self) -> Iterator[Round]:
        """The scale's number of rounds in each load shape, minus those in the summary; none after the store broke."""
        began = time.monotonic()
        faults = [(number, shape) for number in range(1, self._scale.rounds + 1) for shape in self._tried]
        first = self.summary.rounds
        for done, (number, shape) in enumerate(faults[first:]):
            if self.summary.broken or self.summary.missed:
                return
            left = (time.monotonic() - began) / done * (len(faults) - first - done) if done else 0.0
            self.subject.progress(f"round {number}/{self._scale.rounds}" + (f", about {left:.0f} s left" if left else ""))
            yield Round(shape, last=first + done + 1 == len(faults))

    def run_round(self) -> None:
        """Do not count a round that raises."""
        self.rounds_seen.append(RoundEvidence(self.round.shape, monotonic_ns()))
        self._judge.begin(self._seen)
        try:
            super().run_round()
        except BaseException:
            self._seen.spoiled = True
            self._judge.spoiled(self._seen)
            raise

    @contextmanager
    def load(self) -> Iterator[None]:
        """The load of the shape, on a store with all of its nodes: two nodes killed in a row would be another fault."""
        self._period += 1
        self.handle.wait_whole()
        self._files = StoreFiles(self.handle)
        with self._shapes.load(self.round.shape, self._period):
            if self.round.shape == "stream":  # in the others the moment matters, and a look would give the store time to sync
                self._files.look()
            yield

    def fault(self) -> None:
        """Strike the guarantee's fault."""
        self._seen.struck = self.struck
        self._fault.strike(self.handle)
        self._seen.reach = self._files.reach()

    def recover(self) -> None:
        """Start the store; with `second_fault`, strike again while it recovers."""
        self._seen.load_ended = self.load_ended
        self._judge.struck(self._seen)
        if self._second_fault and self.round.shape != "burst":
            self._seen.second_fault = True
            self._judge.struck_again()
            self.handle.start_nowait()
            recoveries = self.summary.recoveries
            time.sleep(self.subject.rng.uniform(0, recoveries[-1] if recoveries else _FIRST_RECOVERY))
            self._fault.strike(self.handle)
        self._seen.recovered = self._start()
        self._judge.recovered(self._seen)

    def audit(self) -> None:
        """Read back what was written since the last audit, and check that the store works again."""
        try:
            self._read_back(everything=self.round.last)
        except Unknown as reason:
            if self.how_it_ended() is None and self._stays_silent() and self.how_it_ended() is None:
                if busy := machine_is_busy():
                    raise MachineFailed(f"after the start it runs but does not answer, on a busy machine ({busy}): {reason}") from None
                raise StoreDied(f"after the start it runs but does not answer: {reason}", self.handle.log_tail()) from None
            raise
        self._judge.survived(self._seen)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is broken. It needs repair if it starts and then refuses, or ends while it reads its data."""
        if isinstance(reason, StoreDied):
            broken = Broken(reason.reason, reason.log, needs_repair=False)
        elif isinstance(reason, Unknown) and ended is None:
            raise reason
        else:
            broken = Broken(f"after the start it does not work: {reason}", self.handle.log_tail(), needs_repair=True)
        self._seen.broken = broken
        self._judge.broke(self._seen)

    def finish(self) -> None:
        """Count the acknowledged and unknown operations."""
        self._judge.finish(self._recorder.operations())

    @property
    def _seen(self) -> RoundEvidence:
        """What happened in the current round so far."""
        return self.rounds_seen[-1]

    def _can_try(self, session: Session, shape: LoadShape) -> bool:
        """Bursts are only for sudden faults: a store that is asked to stop can finish its writes, so the moment does not matter."""
        if shape == "burst" and not self._fault.sudden:
            return False
        if reason := self._shapes.unsupported_because(session, shape):
            self.summary.without[shape] = reason
        return not reason

    def _read_back(self, *, everything: bool) -> None:
        with self.subject.session() as session:
            moment = monotonic_ns()
            history = self._history(moment)
            due = self._judge.due(history, everything=everything)
            seen, gone = read(session, self._layouts, due)
            self._seen.audit = AuditEvidence(moment, everything, seen, tuple(gone), monotonic_ns())
            self._judge.audited(history, self._seen)
            self._clients.prepare(session)
            self._check_usable(session)

    def _check_usable(self, session: Session) -> None:
        self._period += 1
        check_usable(self._clients, session, self._period, "after the start", self.handle.log_tail)

    def _stays_silent(self) -> bool:
        """Whether repeated attempts get no answer: a slow store answers in the end, one that fails on its data does not."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (began := time.monotonic()) < deadline:
            try:
                with self.subject.session() as session:
                    audit(session, self._layouts, by_place(self._history(monotonic_ns())))
                    self._check_usable(session)
            except (Refused, Unknown, StoreDied):
                if time.monotonic() - began < _AT_ONCE:
                    return True
            else:
                return False
        return True

    def _start(self) -> float:
        """Start from what the fault left; returns the seconds it took.

        Raises:
            StoreDied: it does not start, so that nothing it ever acknowledged can be read.
        """
        try:
            return self.handle.start()
        except StoreDied as reason:
            self._seen.unstartable = monotonic_ns()
            self._judge.not_started(self._recorder.operations(), self._seen)
            raise StoreDied(f"{Shape.UNSTARTABLE}: {reason.reason}", reason.log) from None

    def _history(self, moment: int) -> list[Operation]:
        return self._judge.history(self._recorder.operations(), moment)
