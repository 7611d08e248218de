"""The rounds of a guarantee on a cluster: load, fault, failover, heal, wait until it is whole, and read everything back.

Half of the clients are tied to the primary that the fault strikes; the others go on at the new primary. See `ClusterStrike`.

A round ends at the primary that the cluster has in the end. If the fault loses a node, all is also read while that node is gone.

What clients read during the fault is looked at too: see `RegisterReads`. What happened is kept as evidence, which `ClusterJudge` judges in
the run and again in `replay_cluster`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic_ns
from typing import Final

from storeproof.contract import Address, Layout, Refused, Session, Unknown
from storeproof.errors import StoreDied
from storeproof.evidence import AuditEvidence, Broken, ClusterEvidence, NodeAudit, RoundEvidence, StoreEvidence
from storeproof.experiments.client import Client, ClosedLoop, Pacing, open_clients
from storeproof.experiments.client_threads import Running, wait_until
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.clusters.alike import unlike
from storeproof.experiments.durability.clusters.cluster_judge import ClusterJudge
from storeproof.experiments.durability.clusters.pace import MOST_WRITES, pause_of
from storeproof.experiments.durability.clusters.register_reads import RegisterReads
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.readback import check_usable, read
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.strikes.round_clients import Paced, RoundClients
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, check_load
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.result.measured.cluster_round import SetAside
from storeproof.spec.scale import DurabilityScale

_LOOK_SECONDS: Final = 0.02
_WRITES: Final = 100
"""Acknowledged writes before the fault; fewer might be all replicated by chance."""
_WAIT_SECONDS: Final = 30.0


class ClusterRounds(FaultExperiment[ClusterStrike]):
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
            faults: the first strikes in as many rounds as the scale has.
            connect_to: opens a session with one node, for clients that are tied to it.
            stale_possible: whether the variant says that its reads may be stale.
            summary: of earlier rounds, on another cluster that the machine spoiled; the rounds continue from there.
        """
        super().__init__(subject)
        self._turns = scale.turns(faults)
        self._connect_to = connect_to
        assert subject.handle.cluster is not None, "see `Capability.CLUSTER`"
        self._cluster = subject.handle.cluster
        self.summary = summary if summary is not None else DurabilitySummary()
        self.summary.clients = scale.clients
        self._layouts = layouts
        self._scale = scale
        self.rounds_seen: list[RoundEvidence] = []
        """What happened in each round so far."""
        self._judge = ClusterJudge(self.summary, stale_possible=stale_possible)
        self._clients = Clients(subject, layouts, atomic)
        self._recorder = self._clients.recorder
        self._pause = pause_of(2 * self._half, len(self._turns), MOST_WRITES)
        self._register = RegisterReads.of(layouts, subject.rng, len(self._turns))
        self._files: set[Path] = set()
        """Rollback files already counted in earlier rounds."""
        self._period = 0
        """The number of the load period; each period has its own keys."""
        self._clients_before = 0
        """The number of the first client of this round: what those before it wrote, earlier audits have read."""
        self._register_writer: Running | None = None
        self._running: RoundClients
        self._last = False
        """Whether the audit of this round reads the keys of all rounds: what survived an earlier fault must survive the later ones too."""

    def evidence(self, case: str, seed: str, target: str) -> StoreEvidence:
        """What happened on this cluster, with its case, the seed of its choices, and its name."""
        return StoreEvidence(case, seed, target, cuts_off=False, rounds=self.rounds_seen, operations=self._recorder.operations())

    def setup(self) -> None:
        """Create the collections."""
        with self.subject.session() as session:
            self._clients.prepare(session)

    def rounds(self) -> Iterator[ClusterStrike]:
        """All turns that are not in the summary; none after the store broke, or a fault missed its files."""
        total = len(self._turns)
        while not (self.summary.broken or self.summary.missed) and (number := self.summary.rounds + 1) <= total:
            fault = self._turns[number - 1]
            self.subject.progress(f"{fault.name} · round {number}/{total}")
            self._last = number == total
            yield ClusterStrike(self.subject, fault, self._connect_to)

    def run_round(self) -> None:
        """Do not count a round that raises."""
        fault = self.round.fault
        self.rounds_seen.append(RoundEvidence("stream", monotonic_ns(), cluster=ClusterEvidence(fault.name, fault.lasts is not None)))
        self._judge.begin(self._seen)
        try:
            super().run_round()
        except BaseException:
            self._seen.spoiled = True
            self._judge.spoiled(self._seen)
            self.round.clean_up()
            raise

    def load(self) -> AbstractContextManager[None]:
        """Clients on the whole cluster, half of them tied to its primary."""
        self._period += 1
        self.round.begin()
        self.round.note(self._seen)
        return self._clients_at(self.round.struck_node)

    def fault(self) -> None:
        """Strike, while nothing writes the key that is watched: what is unknown is never stale."""
        if self._register_writer is not None:
            self._register_writer.end()
        self.round.strike(self._running)

    def recover(self) -> None:
        """Under load, also after the fault: until then a replaced primary may have acknowledged writes."""
        self.round.recover(self._running, lambda: None)

    def _go_on(self, running: RoundClients, primary: str) -> None:
        """Half of the clients."""
        clients = open_clients(self._half, partial(self._follower, primary))
        if self._register is not None:
            clients.append(self._register.writer(self.subject.open))
        running.add(clients)

    def audit(self) -> None:
        """Read all back from the primary: without the lost node, and from the whole cluster."""
        self.round.moments.ended = monotonic_ns()
        self.round.note(self._seen)
        if self._register is not None:
            self._cluster_seen.reads = self._register.operations()
        self._judge.load_ended(self._seen)
        try:
            if self.round.gone:
                with self.subject.session() as session:
                    self._cluster_seen.without = self._read_back(session, everything=False)
                self.round.replace_lost()
            self._cluster.wait_whole()
            with self.subject.session() as session:
                self._seen.audit = self._read_back(session, everything=self._last)
                self._compare_nodes()
                self._clients_before = self._recorder.clients
                self._clients.prepare(session)
                self._period += 1
                check_usable(self._clients, session, self._period, "after the fault", self.handle.log_tail)
        finally:
            self._judge.end(self._seen)
        self._judge.survived(self._recorder.operations(), self._seen)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Count it; there are no further rounds on it."""
        died, needs_repair = self.round.why_broken(reason, ended)
        self._seen.broken = Broken(died.reason, died.log, needs_repair)
        self._judge.broke(self._seen)
        self.round.clean_up()

    def finish(self) -> None:
        """Count the operations."""
        self._judge.finish(self._recorder.operations())

    def how_it_ended(self) -> StoreDied | None:
        """Without the node that the fault has killed."""
        return self.round.how_it_ended()

    @property
    def _seen(self) -> RoundEvidence:
        """What happened in the current round so far."""
        return self.rounds_seen[-1]

    @property
    def _cluster_seen(self) -> ClusterEvidence:
        assert self._seen.cluster is not None
        return self._seen.cluster

    def _read_back(self, session: Session, *, everything: bool) -> AuditEvidence:
        """Read the keys that were written since the last audit, or all keys."""
        operations, moment = self._recorder.operations(0 if everything else self._clients_before), monotonic_ns()
        due = self._judge.due(operations, moment, everything=everything)
        seen, gone = read(session, self._layouts, due)
        audit = AuditEvidence(moment, everything, seen, tuple(gone), monotonic_ns())
        self._judge.audited(operations, audit, self._seen)
        return audit

    def _compare_nodes(self) -> None:
        """Whether the others show what the primary has just shown."""
        assert self._seen.audit is not None, "it was read"
        seen, self._cluster_seen.primary = self._seen.audit.seen, self._cluster.primary()
        for name in self._cluster.nodes:
            if name != self._cluster_seen.primary:
                shown = unlike(self.round.at(name), self._layouts, seen)
                self._cluster_seen.others.append(NodeAudit(name, shown, monotonic_ns()))
        self._seen.audit = replace(self._seen.audit, ended=monotonic_ns())
        self._judge.compared(self._recorder.operations(self._clients_before), self._seen, list(self._set_aside()))

    def _set_aside(self) -> Iterator[SetAside]:
        """What nodes undid in this round."""
        for node, files in self._cluster.set_aside().items():
            found = {path: records for path, records in files.items() if path not in self._files}
            self._files |= found.keys()
            if found:
                sizes = sum(path.stat().st_size for path in found)
                yield SetAside(node=node, files=len(found), bytes=sizes, records=sum(found.values()))

    def _first(self, node: str) -> Client:
        """A client of this period that asks a node again and again whether it takes writes: its first acknowledgement is the failover."""
        return self._writer(lambda: node, ClosedLoop())

    def _tied(self, node: str) -> Client:
        """A client of this period that always connects to this node."""
        return self._writer(lambda: node, Paced(self._pause))

    def _follower(self, primary: str) -> Client:
        """A client of this period that connects to this primary at first, and later to the one that there is then: asking for it takes
        half a second for each node that does not answer, in which no client would write."""
        first = [primary]
        return self._writer(lambda: first.pop() if first else self._cluster.primary(), Paced(self._pause))

    def _writer(self, choose: Callable[[], str], pacing: Pacing) -> Client:
        log = self._recorder.client()
        return self._clients.writer(self._period, log, connect=self.round.connecting(log.client, choose), pacing=pacing)

    @property
    def _half(self) -> int:
        """How many clients are tied to the primary, and how many follow it."""
        return max(1, self._scale.clients // 2)

    @contextmanager
    def _clients_at(self, primary: str) -> Iterator[None]:
        with RoundClients(first=self._first, go_on=self._go_on) as self._running:
            tied = open_clients(self._half, partial(self._tied, primary))
            self._running.add(tied)
            following = open_clients(self._half, partial(self._follower, primary))
            self._running.follow(following)
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
        self._running.add([self._register.reader(self.round.at(node)) for node in (primary, self.round.other_nodes[0])])
        self._register_writer = self._running.add([self._register.writer(self.round.at(primary))])

    def _wait_for_writes(self) -> None:
        wanted = self._recorder.acknowledged + _WRITES
        wait_until(lambda: self._recorder.acknowledged >= wanted, _WAIT_SECONDS, _LOOK_SECONDS)
