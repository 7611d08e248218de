"""The rounds of a guarantee on a cluster: load, fault, failover, heal, wait until it is whole, and read everything back.

Half of the clients are tied to the primary that the fault strikes, as drivers without discovery are: clients that follow the primary leave
it before it acknowledges what will be rolled back. The others go on at the new primary.

A round ends at the primary that the cluster has in the end. If the fault loses a node, all is also read while that node is gone.

What clients read during the fault is looked at too: see `RegisterReads`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import monotonic_ns
from typing import Final

from storeproof.check import Audits, Finding, losses
from storeproof.contract import Address, Layout, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.client import ClosedLoop, open_clients, under_load
from storeproof.experiments.client_threads import Running, wait_until
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.clusters.alike import unlike
from storeproof.experiments.durability.clusters.register_reads import RegisterReads
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.readback import check_usable, read
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, check_load
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.history import Place, Seen, as_of
from storeproof.launch.handle import RunningCluster
from storeproof.launch.readiness import timeout_error
from storeproof.machine.deadline import Deadline
from storeproof.machine.pressure import machine_is_busy
from storeproof.spec.scale import DurabilityScale

_LOOK_SECONDS: Final = 0.02
_WRITES: Final = 100
"""Acknowledged writes before the fault; fewer might be all replicated by chance."""
_WAIT_SECONDS: Final = 30.0
_REFUSED_SECONDS: Final = 0.05
_SIDES_SECONDS: Final = 2.0
"""How long both sides of a partition take writes after the failover."""
_DEPOSED_SECONDS: Final = 2.0
"""How long the load goes on after the end of a partition or a pause: a primary that was replaced may not know it yet."""
_SURVIVORS_SECONDS: Final = 0.5
"""How long the load goes on after a failover without the lost node."""


@dataclass(frozen=True)
class ClusterRound:
    """One fault."""

    fault: ClusterFault
    last: bool
    """Its audit reads the keys of all rounds: what survived an earlier fault must survive the later ones too."""


class Persistent(ClosedLoop):
    """A client that connects again after a lost connection, and pauses after a write that was not acknowledged: a node that was replaced
    may refuse thousands in a second."""

    def __init__(self) -> None:
        super().__init__(reconnects=True)

    def replied(self, *, ok: bool) -> None:
        """Pause after anything but an acknowledgement."""
        if not ok:
            time.sleep(_REFUSED_SECONDS)


class ClusterRounds(FaultExperiment[ClusterRound]):
    """One cluster, one guarantee, its faults in turns."""

    recovers_under_load = True

    def __init__(
        self,
        subject: Subject,
        faults: Sequence[ClusterFault],
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        *,
        connect_to: Callable[[Address], Session],
        stale_possible: bool,
        atomic: frozenset[AtomicWrite] = frozenset(),
        summary: DurabilitySummary | None = None,
    ) -> None:
        """
        Args:
            faults: each strikes in as many rounds as the scale has.
            connect_to: opens a session with one node, for clients that are tied to it.
            stale_possible: whether the variant says that its reads may be stale.
            summary: of earlier rounds, on another cluster that the machine spoiled; the rounds continue from there.
        """
        super().__init__(subject)
        self.summary = summary if summary is not None else DurabilitySummary()
        self.summary.clients = scale.clients
        assert subject.handle.cluster is not None, "see `Capability.CLUSTER`"
        self._cluster: RunningCluster = subject.handle.cluster
        self._faults = faults
        self._layouts = layouts
        self._scale = scale
        self._connect_to = connect_to
        self._stale_possible = stale_possible
        self._clients = Clients(subject, layouts, atomic)
        self._recorder = self._clients.recorder
        self._register = RegisterReads.of(layouts, subject.rng)
        self._audits = Audits()
        self._period = 0
        """The number of the load period; each period has its own keys."""
        self._before = 0
        self._at_risk = 0
        """Operations that were acknowledged before the fault of this round."""
        self._struck_node = ""
        """The primary that clients of this round are tied to."""
        self._gone = ""
        """The node that is lost now."""
        self._seen: Mapping[Place, Seen] = {}
        """What the primary showed at the last audit."""
        self._followers: Running | None = None
        self._register_writer: Running | None = None
        self._all_load = ExitStack()

    def setup(self) -> None:
        """Create the collections."""
        with self.subject.session() as session:
            self._clients.prepare(session)

    def rounds(self) -> Iterator[ClusterRound]:
        """The scale's number of rounds for each fault, minus those in the summary; none after the store broke."""
        total = self._scale.rounds * len(self._faults)
        for number in range(self.summary.rounds + 1, total + 1):
            if self.summary.broken:
                return
            fault = self._faults[(number - 1) % len(self._faults)]
            self.subject.progress(f"{fault.name} · round {number}/{total}")
            yield ClusterRound(fault, last=number == total)

    def run_round(self) -> None:
        """Do not count a round that raises."""
        self.summary.count("stream")
        self.summary.striking = self.round.fault.name
        try:
            super().run_round()
        except BaseException:
            self.summary.count("stream", -1)
            raise
        self.summary.strikes[self.summary.striking] += 1

    def load(self) -> AbstractContextManager[None]:
        """Clients on the whole cluster, half of them tied to its primary."""
        self._period += 1
        self._before = self._recorder.acknowledged
        self._cluster.wait_whole()
        self._struck_node = self._cluster.primary()
        return self._clients_at(self._struck_node)

    def fault(self) -> None:
        """Strike, and end the clients that follow the primary: they go on once there is another."""
        if (primary := self._cluster.primary()) != self._struck_node:
            raise Unknown(f"before the fault {primary} took the place of {self._struck_node}, to which half of the clients are tied")
        if self.round.fault.loses_node:
            self._gone = self._struck_node
        if self._register_writer is not None:
            self._register_writer.end()  # so that its last write is acknowledged: what is unknown is never stale
        self.round.fault.strike(self.handle)
        self.struck = monotonic_ns()
        self._at_risk = self._recorder.acknowledged - self._before
        if self._followers is not None:
            self._followers.stop.set()

    def recover(self) -> None:
        """Wait for the failover, all the while under load; end a fault that loses no node."""
        took = self._fail_over()
        if took is not None:
            self.summary.failovers.append(took)
        else:
            self.summary.without_failover += 1
        if self.round.fault.loses_node:
            time.sleep(_SURVIVORS_SECONDS)
            return
        time.sleep(_SIDES_SECONDS)
        self.round.fault.end(self.handle)
        time.sleep(_DEPOSED_SECONDS)
        self.struck = monotonic_ns()  # until here a replaced primary may have acknowledged writes

    def audit(self) -> None:
        """Read all back from the primary: without the lost node, and from the whole cluster."""
        findings: list[Finding] = []
        if self._register is not None:
            self.summary.read(self._register.seen(), stale_possible=self._stale_possible)
        try:
            if self.round.fault.loses_node:
                with self.subject.session() as session:
                    findings += self._read_back(session, everything=False)
                self._gone = ""
                self.round.fault.end(self.handle)
            self._cluster.wait_whole()
            with self.subject.session() as session:
                findings += self._read_back(session, everything=self.round.last)
                self._compare_nodes()
                self._audits.ended(monotonic_ns())
                self._clients.prepare(session)
                self._period += 1
                check_usable(self._clients, session, self._period, "after the fault", self.handle.log_tail)
        finally:
            if findings:  # a loss that was seen counts, whatever the machine does next
                self.summary.add(findings, losses(findings, self.struck))
        if not self._at_risk:
            self.summary.idle.append(f"nothing was acknowledged before fault {self.summary.rounds}")

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """A cluster whose servers run, and which is not whole, or takes no writes, has broken a promise; only a server that ended by itself
        is a failure without one. No answer says nothing, and neither does a busy machine."""
        died = reason if isinstance(reason, StoreDied) else StoreDied(f"after the fault it does not work: {reason}", self.handle.log_tail())
        if ended is None and self.how_it_ended() is None:
            if isinstance(reason, Unknown):
                raise reason
            if busy := machine_is_busy():
                raise MachineFailed(f"{died.reason}, on a busy machine ({busy})")
            self.summary.needs_repair = True
        self.summary.breaks(died.reason, died.log)

    def how_it_ended(self) -> StoreDied | None:
        """As of any store, without the node that the fault has killed."""
        try:
            for name in self._cluster.nodes:
                if name != self._gone:
                    self._cluster.node(name).check_alive()
        except StoreDied as ended:
            return ended
        return None

    def finish(self) -> None:
        """Count the operations, and end what a round that failed has left of its fault."""
        with suppress(MachineFailed):  # the network is removed with the store
            self._cluster.network.heal_all()
        operations = self._recorder.operations()
        self.summary.acknowledged += sum(each.outcome == "ok" for each in operations)
        self.summary.unknown += sum(each.outcome == "unknown" for each in operations)

    def _read_back(self, session: Session, *, everything: bool) -> list[Finding]:
        """The findings of the keys that were written since the last audit, or of all keys."""
        history = as_of(self._recorder.operations(), monotonic_ns())
        seen, gone = read(session, self._layouts, self._audits.due(history, everything=everything))
        self._seen = seen
        self.summary.gone.update(gone)
        findings, _ = self._audits.judge(history, seen, self.struck)
        return findings

    def _compare_nodes(self) -> None:
        """Whether the others show what the primary has just shown."""
        primary = self._cluster.primary()
        for name in self._cluster.nodes:
            if name != primary:
                self.summary.compare(name, unlike(self._at(name), self._layouts, self._seen))

    def _fail_over(self) -> float | None:
        """Wait until another primary acknowledges a write; return the seconds since the fault, or None if the topology's time is over.

        Raises:
            StoreDied: it is over, and the node is gone: no node serves what it had; or a node that was not struck has ended.
            MachineFailed: the same on a busy machine; or such a node was killed from outside.
        """
        deadline = Deadline(self._cluster.settle_seconds, lambda: None)
        self._cluster.fail_over()
        missing = "the others name no other primary"
        while not deadline.has_passed():
            try:
                primary = self._cluster.primary()
                if primary != self._struck_node and (at := self._first_acknowledgement(primary)) is not None:
                    clients = open_clients(self._half, lambda: self._clients.writer(self._period, pacing=Persistent()))
                    if self._register is not None:
                        clients.append(self._register.writer(self.subject.open))
                    self._all_load.enter_context(under_load(clients))
                    return (at - self.struck) / 1e9
            except (Unknown, Refused) as reason:
                missing = str(reason)
            time.sleep(_LOOK_SECONDS)
        if (ended := self.how_it_ended()) is not None:
            raise ended
        if self.round.fault.loses_node:
            what = f"with {self._struck_node} gone, no other node acknowledged a write within"
            raise timeout_error(deadline, what, missing, lambda text: StoreDied(text, self.handle.log_tail()))
        return None

    def _first_acknowledgement(self, node: str) -> int | None:
        """Write at a node until a write is acknowledged; return that moment, or None if it answers otherwise."""
        client = self._clients.writer(self._period, connect=self._at(node))
        try:
            while client.step():
                if client.acknowledged:
                    return monotonic_ns()
        finally:
            client.close()
        return None

    @property
    def _half(self) -> int:
        """How many clients are tied to the primary, and how many follow it."""
        return max(1, self._scale.clients // 2)

    def _at(self, node: str) -> Callable[[], Session]:
        """What opens a session with that node, also when it is the primary no more."""
        address = self._cluster.node(node).address
        return lambda: self._connect_to(address)

    @contextmanager
    def _clients_at(self, primary: str) -> Iterator[None]:
        with ExitStack() as self._all_load:
            connect = self._at(primary)
            tied = open_clients(self._half, lambda: self._clients.writer(self._period, connect=connect, pacing=Persistent()))
            self._all_load.enter_context(under_load(tied))
            following = open_clients(self._half, lambda: self._clients.writer(self._period))
            self._followers = self._all_load.enter_context(under_load(following))
            self._watch(primary)
            self._wait_for_writes()
            time.sleep(self.subject.rng.uniform(*self._scale.load_seconds))
            check_load(self.handle, [*tied, *following])
            yield

    def _watch(self, primary: str) -> None:
        """Begin to write a key at that node, and to read it there and at another."""
        if self._register is None:
            return
        self._register.begin()
        other = next(name for name in self._cluster.nodes if name != primary)
        readers = [self._register.reader(self._at(node)) for node in (primary, other)]
        self._all_load.enter_context(under_load(readers))
        self._register_writer = self._all_load.enter_context(under_load([self._register.writer(self._at(primary))]))

    def _wait_for_writes(self) -> None:
        wanted = self._recorder.acknowledged + _WRITES
        wait_until(lambda: self._recorder.acknowledged >= wanted, _WAIT_SECONDS, _LOOK_SECONDS)
