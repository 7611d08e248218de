"""The rounds of one guarantee: load, fault, start, read back, judge, write again.

The guarantee names the shapes of load (see `load_shapes`), and its fault strikes once in each shape in every round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from time import monotonic_ns

from storeproof.check import Anomaly, Shape, judge_groups, losses, unstartable
from storeproof.contract import Key, Layout, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.load_shapes import LoadShapes
from storeproof.experiments.durability.readback import audit, try_writes
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, without_replies
from storeproof.faults import Fault
from storeproof.history import Operation, by_place
from storeproof.machine.pressure import machine_is_busy
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale

_FIRST_RECOVERY = 0.05
"""Seconds within which the second fault strikes while no recovery was measured yet."""

_PATIENCE_SECONDS = 30.0
"""How long a store that runs may be silent where nothing but our reads is asked of it."""
_AT_ONCE = 4.0
"""Seconds, below the time limits of all adapters: it was no such limit that ended the wait for the answer."""


@dataclass(frozen=True)
class Round:
    """One fault."""

    shape: LoadShape
    last: bool
    """Its audit reads the keys of all rounds: what an earlier fault left must survive the later ones too."""


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
            summary: of the rounds that were done on another store, before the machine spoiled that; these go on where they ended.
        """
        super().__init__(subject)
        self.summary = summary if summary is not None else DurabilitySummary()
        self.summary.clients = scale.clients
        self.summary.power_cut_method = self.handle.power_cut_method if fault.cuts_off else None
        self._fault = fault
        self._layouts = layouts
        self._scale = scale
        self._wanted = load
        self._second_fault = second_fault
        self._clients = Clients(subject, layouts, atomic)
        self._recorder = self._clients.recorder
        self._shapes = LoadShapes(self._clients, scale, self.summary)
        self._period = 0
        """Keys of different periods of load differ."""
        self._before = 0
        self._at_risk = 0
        """Operations that were acknowledged before the fault of this round."""
        self._harmed: set[tuple[str, Key]] = set()
        """Keys that were found harmed: each is counted once."""
        self._audited = 0
        """When the last audit was done: what was written since is read after the next fault."""
        self._cut_off: list[tuple[int, int]] = []
        """From when to when the store had no disk any longer: what it answered in between is unknown."""

    def setup(self) -> None:
        """Make the collections, see which shapes of load can be tried, and let the store settle before its power is cut."""
        with self.subject.session() as session:
            self._clients.prepare(session)
            self._tried = [shape for shape in self._wanted if self._can_try(session, shape)]
        if self._fault.cuts_off:
            self.handle.quiesce()  # a cut at the first start is another experiment
            self.summary.since_restart = 0

    def rounds(self) -> Iterator[Round]:
        """As many as the scale says in each shape, less what the summary has; none after the store broke."""
        began = time.monotonic()
        faults = [(number, shape) for number in range(1, self._scale.rounds + 1) for shape in self._tried]
        first = self.summary.rounds
        for done, (number, shape) in enumerate(faults[first:]):
            if self.summary.broken:
                return
            left = (time.monotonic() - began) / done * (len(faults) - first - done) if done else 0.0
            self.subject.progress(f"round {number}/{self._scale.rounds}" + (f", about {left:.0f} s left" if left else ""))
            yield Round(shape, last=first + done + 1 == len(faults))

    def run_round(self) -> None:
        """A round that raises is not counted."""
        self.summary.count(self.round.shape)
        try:
            super().run_round()
        except BaseException:
            self.summary.count(self.round.shape, -1)
            raise

    def load(self) -> AbstractContextManager[None]:
        """That of the shape, on a store of which no node is missing: two nodes killed in a row would be another fault."""
        self._period += 1
        self._before = self._recorder.acknowledged
        self.handle.wait_whole()
        return self._shapes.load(self.round.shape, self._period)

    def fault(self) -> None:
        """That of the guarantee."""
        self._fault.strike(self.handle)

    def recover(self) -> None:
        """Start it, and strike once more meanwhile where that is asked for."""
        if self._fault.cuts_off:
            self._cut_off.append((self.struck, self.load_ended))
        self._at_risk = self._recorder.acknowledged - self._before
        if self._second_fault and self.round.shape != "burst":
            self.summary.second_faults += 1
            self.handle.start_nowait()
            recoveries = self.summary.recoveries
            time.sleep(self.subject.rng.uniform(0, recoveries[-1] if recoveries else _FIRST_RECOVERY))
            self._fault.strike(self.handle)
        self.summary.recoveries.append(self._start())

    def audit(self) -> None:
        """Read back what was written since the last audit, and see whether the store can be used again."""
        try:
            self._read_back(everything=self.round.last)
        except Unknown as reason:
            if self.handle.alive() and self._stays_silent():
                if busy := machine_is_busy():
                    raise MachineFailed(f"after the start it runs, and does not answer, on a busy machine ({busy}): {reason}") from None
                raise StoreDied(f"after the start it runs, and does not answer: {reason}", self.handle.log_tail()) from None
            raise
        if not self._at_risk:
            self.summary.idle.append(f"nothing was acknowledged before fault {self.summary.rounds}")

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is broken; it wants to be repaired where it starts and then refuses, or ends at what it holds."""
        if isinstance(reason, StoreDied):
            self.summary.breaks(reason.reason, reason.log)
        elif isinstance(reason, Unknown) and ended is None:
            raise reason
        else:
            self.summary.needs_repair = True
            self.summary.breaks(f"after the start it does not work: {reason}", self.handle.log_tail())

    def finish(self) -> None:
        """Add up what was acknowledged."""
        operations = self._history()
        self.summary.acknowledged += sum(each.outcome == "ok" for each in operations)
        self.summary.unknown += sum(each.outcome == "unknown" for each in operations)

    def _can_try(self, session: Session, shape: LoadShape) -> bool:
        """A store that is asked to stop gets no burst: it knows, so that no moment is worse than another."""
        if shape == "burst" and not self._fault.sudden:
            return False
        if reason := self._shapes.unsupported_because(session, shape):
            self.summary.without[shape] = reason
        return not reason

    def _read_back(self, *, everything: bool) -> None:
        with self.subject.session() as session:
            histories = by_place(self._history())
            fresh = {
                place: each
                for place, each in histories.items()
                if place not in self._harmed and (everything or each[-1].invoked >= self._audited)
            }
            findings, gone = audit(session, self._layouts, fresh)
            # Groups with a harmed record were judged when it was found.
            looked_at = (each for place, each in histories.items() if place in fresh or place in self._harmed)
            findings += judge_groups(chain.from_iterable(looked_at), findings)
            self.summary.gone.update(gone)
            self.summary.add(findings, losses(findings, self.struck))
            self._harmed |= {(finding.collection, finding.key) for finding in findings if finding.anomaly is not Anomaly.OK}
            self._clients.prepare(session)
            self._audited = monotonic_ns()
            self._check_usable(session)

    def _check_usable(self, session: Session) -> None:
        """Whether the store takes writes again and answers them; they are at risk in the next round.

        Raises:
            StoreDied: it does not; though it runs, it is of no use.
        """
        self._period += 1
        tried = try_writes(self._clients, session, self._period)
        if not tried.acknowledged:
            raise StoreDied(f"after the start it takes no writes: {tried.refusal}", self.handle.log_tail())
        if tried.wrong:
            raise StoreDied(f"after the start it does not answer what is written: {tried.wrong[0]}", self.handle.log_tail())

    def _stays_silent(self) -> bool:
        """Whether no answer comes however often one asks: a slow store answers in the end, one that ends at what it holds does not."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (began := time.monotonic()) < deadline:
            try:
                with self.subject.session() as session:
                    audit(session, self._layouts, by_place(self._history()))
                    self._check_usable(session)
            except (Refused, Unknown, StoreDied):
                if time.monotonic() - began < _AT_ONCE:
                    return True
            else:
                return False
        return True

    def _start(self) -> float:
        """Start on what the fault left; the seconds that took.

        Raises:
            StoreDied: it does not start, so that all it ever acknowledged cannot be read.
        """
        try:
            return self.handle.start()
        except StoreDied as reason:
            ends = [each.completed for each in self._recorder.operations() if each.outcome == "ok" and each.completed is not None]
            self.summary.losses.append(unstartable(len(ends), min(ends, default=monotonic_ns()), monotonic_ns()))
            raise StoreDied(f"{Shape.UNSTARTABLE}: {reason.reason}", reason.log) from None

    def _history(self) -> list[Operation]:
        return without_replies(self._recorder.operations(), self._cut_off)
