"""Records that clients write and delete through a fault of a cluster, and that are read back when it is whole again.

Half of the clients are tied to the primary that the fault strikes; the others go on at the new primary. See `ClusterStrike`.

A round ends at the primary that the cluster has in the end. If the fault loses a node, all is also read while that node is gone.

What clients read during the fault is looked at too: see `RegisterReads`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic_ns
from typing import Final

from storeproof.contract import Layout, Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.evidence import Broken, ClusterEvidence, NodeAudit
from storeproof.experiments.client import Client, ClosedLoop, Pacing, open_clients
from storeproof.experiments.client_threads import Running, wait_until
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clusters.alike import unlike
from storeproof.experiments.durability.clusters.pace import MOST_WRITES, pause_of
from storeproof.experiments.durability.clusters.register_reads import RegisterReads
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.round_judge import RoundJudge
from storeproof.experiments.durability.strikes.cluster import ClusterStrike
from storeproof.experiments.durability.strikes.round_clients import Paced, RoundClients
from storeproof.experiments.durability.workloads.records import Records
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.result.measured.cluster_round import SetAside
from storeproof.spec.scale import DurabilityScale

_LOOK_SECONDS: Final = 0.02
_WRITES: Final = 100
"""Acknowledged writes before the fault; fewer might be all replicated by chance."""
_WAIT_SECONDS: Final = 30.0


class ClusterRecords(Records[ClusterStrike]):
    """The records of many rounds of a cluster."""

    def __init__(
        self,
        subject: Subject,
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        summary: DurabilitySummary,
        rounds: int,
        *,
        stale_possible: bool,
        atomic: frozenset[AtomicWrite] = frozenset(),
    ) -> None:
        """
        Args:
            summary: of earlier rounds, on another cluster that the machine spoiled; the rounds continue from there.
            rounds: the number of all: what clients write in them is read back by the last.
            stale_possible: whether the variant says that its reads may be stale.
        """
        super().__init__(subject, layouts, scale, RoundJudge(summary, stale_possible=stale_possible), atomic)
        assert subject.handle.cluster is not None, "see `FaultMeans.CLUSTER`"
        self._cluster = subject.handle.cluster
        self._half = max(1, scale.clients // 2)
        """How many clients are tied to the primary, and how many follow it."""
        self._pause = pause_of(2 * self._half, rounds, MOST_WRITES)
        self._register = RegisterReads.of(layouts, subject.rng, rounds)
        self._files: set[Path] = set()
        """Rollback files already counted in earlier rounds."""
        self._clients_before = 0
        """The number of the first client of this round: what those before it wrote, earlier audits have read."""

    @contextmanager
    def clients(self, strike: ClusterStrike) -> Iterator[RoundClients]:
        """Clients on the whole cluster, half of them tied to its primary. They go on through the fault, and after it: until then a primary
        that was replaced may have acknowledged writes."""
        self._period += 1
        strike.note(self.round)
        primary = strike.struck_node
        with RoundClients(first=partial(self._first, strike), go_on=partial(self._go_on, strike)) as running:
            tied = open_clients(self._half, partial(self._tied, strike, primary))
            running.add(tied)
            following = open_clients(self._half, partial(self._follower, strike, primary))
            running.follow(following)
            watched = self._watch(strike, running)
            self._wait_for_writes()
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._subject.handle, [*tied, *following])
            if watched is not None:
                watched.end()  # nothing writes it at the moment of the fault: what is unknown is never stale
            yield running

    def audit(self, strike: ClusterStrike) -> None:
        """Read all back from the primary: without the lost node, and from the whole cluster."""
        if self._register is not None:
            self._cluster_seen.reads = self._register.operations()
        self._judge.came_back(self.round, self.operations)
        if strike.gone:
            with self._subject.session() as session:
                self._cluster_seen.without = self._read_back(session, everything=False, first=self._clients_before)
        strike.make_whole()
        with self._subject.session() as session:
            self.round.audit = self._read_back(session, everything=strike.last, first=self._clients_before)
            self._compare_nodes(strike)
            self._clients_before = self._recorder.clients
            self._clients.prepare(session)
            self._check_usable(session, "after the fault")
        self._judge.end(self.round)

    def broken(self, strike: ClusterStrike, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Count it, unless it says nothing of the store."""
        died, needs_repair = strike.why_broken(reason, ended)
        self.round.broken = Broken(died.reason, died.log, needs_repair)
        self._judge.end(self.round)

    @property
    def _cluster_seen(self) -> ClusterEvidence:
        assert self.round.cluster is not None
        return self.round.cluster

    def _compare_nodes(self, strike: ClusterStrike) -> None:
        """Whether the others show what the primary has just shown."""
        assert self.round.audit is not None, "it was read"
        seen, self._cluster_seen.primary = self.round.audit.seen, self._cluster.primary()
        for name in self._cluster.nodes:
            if name != self._cluster_seen.primary:
                shown = unlike(strike.at(name), self._layouts, seen)
                self._cluster_seen.others.append(NodeAudit(name, shown, monotonic_ns()))
        self.round.audit = replace(self.round.audit, ended=monotonic_ns())
        self._judge.compared(self._recorder.operations(self._clients_before), self.round, list(self._set_aside()))

    def _set_aside(self) -> Iterator[SetAside]:
        """What nodes undid in this round."""
        for node, files in self._cluster.set_aside().items():
            found = {path: records for path, records in files.items() if path not in self._files}
            self._files |= found.keys()
            if found:
                sizes = sum(path.stat().st_size for path in found)
                yield SetAside(node=node, files=len(found), bytes=sizes, records=sum(found.values()))

    def _go_on(self, strike: ClusterStrike, running: RoundClients, primary: str) -> None:
        """Half of the clients."""
        clients = open_clients(self._half, partial(self._follower, strike, primary))
        if self._register is not None:
            clients.append(self._register.writer(self._subject.open))
        running.add(clients)

    def _first(self, strike: ClusterStrike, node: str) -> Client:
        """A client of this period that asks a node again and again whether it takes writes: its first acknowledgement is the failover."""
        return self._writer(strike, lambda: node, ClosedLoop())

    def _tied(self, strike: ClusterStrike, node: str) -> Client:
        """A client of this period that always connects to this node."""
        return self._writer(strike, lambda: node, Paced(self._pause))

    def _follower(self, strike: ClusterStrike, primary: str) -> Client:
        """A client of this period that connects to this primary at first, and later to the one that there is then: asking for it takes
        half a second for each node that does not answer, in which no client would write."""
        first = [primary]
        return self._writer(strike, lambda: first.pop() if first else self._cluster.primary(), Paced(self._pause))

    def _writer(self, strike: ClusterStrike, choose: Callable[[], str], pacing: Pacing) -> Client:
        log = self._recorder.client()
        return self._clients.writer(self._period, log, connect=strike.connecting(log.client, choose), pacing=pacing)

    def _watch(self, strike: ClusterStrike, running: RoundClients) -> Running | None:
        """Begin to write a key at the primary, and to read it there and at another node; returns its writer."""
        if self._register is None:
            return None
        self._register.begin()
        nodes = (strike.struck_node, strike.other_nodes[0])
        running.add([self._register.reader(strike.at(node)) for node in nodes])
        return running.add([self._register.writer(strike.at(strike.struck_node))])

    def _wait_for_writes(self) -> None:
        wanted = self._recorder.acknowledged + _WRITES
        wait_until(lambda: self._recorder.acknowledged >= wanted, _WAIT_SECONDS, _LOOK_SECONDS)
