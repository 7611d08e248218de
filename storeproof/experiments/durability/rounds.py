"""The rounds of one guarantee: load, fault, start, read back, judge, go on writing.

The guarantee names the shapes of load. A *stream*: concurrent clients, the fault at a random moment. A *burst*: a few dozen
acknowledged writes, then the fault on the last acknowledgement, because a long stream may by luck have been synced just before the
fault. A store that is asked to stop gets no burst: it is told, so that no moment is worse than another. The others are in `shapes`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic_ns
from typing import Protocol

from storeproof.check import Anomaly, Shape, judge_groups, losses, unstartable
from storeproof.contract import Key, Layout, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.client_threads import Running, running
from storeproof.experiments.durability.atomic_groups import Way
from storeproof.experiments.durability.clients import Client
from storeproof.experiments.durability.durability_summary import Tally
from storeproof.experiments.durability.load_shapes import FurtherShapes, still_there
from storeproof.experiments.durability.readback import audit, by_key
from storeproof.experiments.durability.writers import raise_failures, write_some
from storeproof.faults import Fault
from storeproof.history import Operation, Recorder
from storeproof.launch.handle import Handle
from storeproof.machine.pressure import machine_is_busy
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale

_BURST = 50
_BURST_SECONDS = 5.0
"""A store whose syncs take long gets fewer."""

_FIRST_RECOVERY = 0.05
"""Seconds within which the second fault strikes while no recovery was measured yet."""

_IDLE_SECONDS = 10.0
"""How long the first acknowledgement may take."""
_LOOK_SECONDS = 0.002

_PATIENCE_SECONDS = 30.0
"""How long a store that runs may be silent where nothing but our reads is asked of it."""
_AT_ONCE = 4.0
"""Seconds, below the time limits of all adapters: it was no such limit that ended the wait for the answer."""

_AFTERWARDS = 20
"""Operations by which a store shows that it accepts writes again."""


class Connect(Protocol):
    """Opens a session, as a trial does."""

    def __call__(self, where: Handle, /) -> Session: ...


class Rounds:
    """One store, one fault, many rounds. `run` answers once."""

    def __init__(
        self,
        handle: Handle,
        fault: Fault,
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        *,
        connect: Connect,
        rng: random.Random,
        load: Sequence[LoadShape] = ("burst", "stream"),
        second_fault: bool = False,
        ways: frozenset[Way] = frozenset(),
        progress: Callable[[str], None] = lambda _: None,
        tally: Tally | None = None,
    ) -> None:
        """`tally`: of the rounds that were done on another store, before the machine spoiled that; these go on where they ended."""
        self._handle = handle
        self._fault = fault
        self._layouts = layouts
        self._scale = scale
        self._connect = connect
        self._rng = rng
        self._load = load
        self._second_fault = second_fault
        self._ways = ways
        self._progress = progress
        self._recorder = Recorder()
        self._tally = tally if tally is not None else Tally()
        self._tally.clients = scale.clients
        self._tally.cut_by = handle.cut_by if fault.cuts_off else None
        self._period = 0
        self._harmed: set[tuple[str, Key]] = set()
        """Keys that were found harmed: each is counted once."""
        self._audited = 0
        """When the last audit was done: what was written since is read after the next fault."""
        self._cut_off: list[tuple[int, int]] = []
        """From when to when the store had no disk any longer: what it answered in between is unknown."""

    def run(self) -> Tally:
        """Strike as often as the scale says, less what the tally has.

        Raises:
            MachineFailed, Unknown: a round says nothing, and nothing of it is in the tally: the machine failed, or no answer came.
            WrongReply: it served what is no record.
            Breach: the adapter broke the contract.
        """
        session = self._connect(self._handle)
        try:
            self._prepare(session)
            shapes = self._shapes(session)
        finally:
            session.close()
        if self._fault.cuts_off:
            self._handle.quiesce()  # a cut while the store creates itself is another trial
            self._tally.since_restart = 0
        began = time.monotonic()
        faults = [(number, name) for number in range(1, self._scale.rounds + 1) for name in shapes]
        first = self._tally.rounds
        try:
            for done, (number, name) in enumerate(faults[first:]):
                left = (time.monotonic() - began) / done * (len(faults) - first - done) if done else 0.0
                self._progress(f"round {number}/{self._scale.rounds}" + (f", about {left:.0f} s left" if left else ""))
                # Whatever an earlier fault left must outlive the later ones too: the last audit reads the keys of all rounds.
                if not self._strike(name, shapes[name], everything=first + done + 1 == len(faults)):
                    break
        finally:
            self._add_up()
        return self._tally

    def _shapes(self, session: Session) -> dict[LoadShape, Callable[[], int]]:
        """Those of the guarantee that the store has something for; the tally has the reasons for the others."""
        further = FurtherShapes(
            self._handle,
            self._fault,
            self._layouts,
            connect=self._connect,
            recorder=self._recorder,
            rng=self._rng,
            tally=self._tally,
            ways=self._ways,
        )
        known: dict[LoadShape, Callable[[], int]] = {
            "burst": self._burst,
            "stream": self._stream,
            "bulk": lambda: further.bulk(self._period),
            "compaction": lambda: further.compaction(self._period),
        }
        shapes = {}
        for name in self._load:
            if name == "burst" and not self._fault.sudden:
                continue
            if reason := further.lacking(session, name):
                self._tally.without[name] = reason
            else:
                shapes[name] = known[name]
        return shapes

    def _strike(self, name: LoadShape, shape: Callable[[], int], *, everything: bool) -> bool:
        """One fault with its load and its audit; False when the store is broken. What it raises is in no tally."""
        self._tally.count(name)
        try:
            return self._strike_once(name, shape, everything=everything)
        except BaseException:
            self._tally.count(name, -1)
            raise

    def _strike_once(self, name: LoadShape, shape: Callable[[], int], *, everything: bool) -> bool:
        self._period += 1
        before = self._recorder.acknowledged
        try:
            # A node that an earlier fault killed is there again: two of them in a row would be another fault.
            self._handle.wait_whole()
            struck = shape()
            if self._fault.cuts_off:
                self._cut_off.append((struck, monotonic_ns()))
            at_risk = self._recorder.acknowledged - before
            if self._second_fault and name != "burst":
                self._tally.second_faults += 1
                self._handle.start_nowait()
                time.sleep(self._rng.uniform(0, self._tally.recoveries[-1] if self._tally.recoveries else _FIRST_RECOVERY))
                self._fault.strike(self._handle)
            self._tally.recoveries.append(self._start())
            try:
                self._audit(struck, everything=everything)
            except Unknown as reason:
                if self._handle.alive() and self._stays_so():
                    if busy := machine_is_busy():
                        raise MachineFailed(f"after the start it runs, and does not answer, on a busy machine ({busy}): {reason}") from None
                    raise StoreDied(f"after the start it runs, and does not answer: {reason}", self._handle.log_tail()) from None
                raise
        except StoreDied as reason:
            self._tally.breaks(reason.reason, reason.log)
            return False
        except Unknown as reason:
            try:
                self._handle.check_alive()
            except StoreDied:  # of what it found after the fault
                self._unusable(reason)
                return False
            raise
        except Refused as reason:
            self._unusable(reason)
            return False
        if not at_risk:
            self._tally.idle.append(f"nothing was acknowledged before fault {self._tally.rounds}")
        return True

    def _stream(self) -> int:
        """Concurrent clients; answers the moment of the fault."""
        clients = self._clients(self._scale.clients)
        with running([client.run for client in clients]) as load:
            self._wait_for_load(load)
            time.sleep(self._rng.uniform(*self._scale.load_seconds))
            still_there(self._handle, clients)
            struck = monotonic_ns()
            self._fault.strike(self._handle)
        raise_failures(clients)
        return struck

    def _burst(self) -> int:
        """One client, as fast as it can; the fault comes on its last acknowledgement."""
        client = self._client()
        try:
            deadline = time.monotonic() + _BURST_SECONDS
            goes_on = True
            for _ in range(_BURST):
                goes_on = client.step()
                if not goes_on or time.monotonic() > deadline:
                    break
            if not goes_on:
                still_there(self._handle, [client])
            struck = monotonic_ns()
            self._fault.strike(self._handle)
        finally:
            client.close()
        raise_failures([client])
        return struck

    def _audit(self, struck: int, *, everything: bool) -> None:
        session = self._connect(self._handle)
        try:
            operations = self._history()
            history = by_key(operations)
            fresh = {
                name: each
                for name, each in history.items()
                if name not in self._harmed and (everything or each[-1].invoked >= self._audited)
            }
            findings, gone = audit(session, self._layouts, fresh)
            findings += judge_groups(operations, findings)
            self._tally.gone.update(gone)
            self._tally.add(findings, losses(findings, struck))
            self._harmed |= {(finding.collection, finding.key) for finding in findings if finding.anomaly is not Anomaly.OK}
            self._prepare(session)
            self._audited = monotonic_ns()
            self._works(session)
        finally:
            session.close()

    def _stays_so(self) -> bool:
        """Whether no answer comes however often one asks: who was only slow answers in the end, who fell over what it holds does not."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (began := time.monotonic()) < deadline:
            try:
                session = self._connect(self._handle)
                try:
                    audit(session, self._layouts, by_key(self._history()))
                    self._works(session)
                finally:
                    session.close()
            except (Refused, Unknown, StoreDied):
                if time.monotonic() - began < _AT_ONCE:
                    return True
            else:
                return False
        return True

    def _works(self, session: Session) -> None:
        """Whether the store takes writes again and answers them; they are at risk in the next round.

        Raises:
            StoreDied: it does not; though it runs, it is of no use.
        """
        self._period += 1
        client = self._client()
        write_some(client, _AFTERWARDS)
        if not client.acknowledged:
            raise StoreDied(f"after the start it takes no writes: {client.ended.refusal}", self._handle.log_tail())
        written = by_key(client.operations())
        findings, _ = audit(session, self._layouts, written)
        wrong = [finding for finding in findings if finding.anomaly is not Anomaly.OK]
        if wrong:
            raise StoreDied(f"after the start it does not answer what is written: {wrong[0]}", self._handle.log_tail())

    def _prepare(self, session: Session) -> None:
        for layout in self._layouts.values():
            session.collection(layout).prepare()

    def _wait_for_load(self, load: Running) -> None:
        """Until something is at risk: a fault before the first acknowledgement, on a slow disk, would show nothing."""
        before, deadline = self._recorder.acknowledged, time.monotonic() + _IDLE_SECONDS
        while self._recorder.acknowledged == before and time.monotonic() < deadline and load.alive:
            time.sleep(_LOOK_SECONDS)

    def _clients(self, number: int) -> list[Client]:
        clients: list[Client] = []
        try:
            while len(clients) < number:
                clients.append(self._client())
        except BaseException:
            for client in clients:
                client.close()
            raise
        return clients

    def _client(self) -> Client:
        rng = random.Random(self._rng.getrandbits(64))
        return Client(self._connect(self._handle), self._layouts, self._recorder.client(), self._period, rng, self._ways)

    def _start(self) -> float:
        """Start on what the fault left; the seconds that took.

        Raises:
            StoreDied: it does not start, so that all it ever acknowledged cannot be read.
        """
        try:
            return self._handle.start()
        except StoreDied as reason:
            ends = [each.completed for each in self._recorder.operations() if each.outcome == "ok" and each.completed is not None]
            self._tally.losses.append(unstartable(len(ends), min(ends, default=monotonic_ns()), monotonic_ns()))
            raise StoreDied(f"{Shape.UNSTARTABLE}: {reason.reason}", reason.log) from None

    def _unusable(self, reason: Refused | Unknown) -> None:
        self._tally.needs_repair = True
        self._tally.breaks(f"after the start it does not work: {reason}", self._handle.log_tail())

    def _history(self) -> list[Operation]:
        """What the clients did, without what a store answered that had lost its disk already."""
        return [
            replace(each, completed=None, outcome="unknown")
            if each.completed is not None and any(begin <= each.completed <= end for begin, end in self._cut_off)
            else each
            for each in self._recorder.operations()
        ]

    def _add_up(self) -> None:
        operations = self._history()
        self._tally.acknowledged += sum(each.outcome == "ok" for each in operations)
        self._tally.unknown += sum(each.outcome == "unknown" for each in operations)
