"""Transfers between accounts through a fault of a cluster: afterwards each happened whole or not at all, and none that was acknowledged is
missing.

Half of the clients are tied to the primary that the fault strikes; the others go on at the new primary. See `ClusterExperiment`. When the
cluster is whole again all entries and accounts are read in one snapshot.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic_ns
from typing import Final

from storeproof.check import judge_transfers
from storeproof.check.transfers import Judged
from storeproof.contract import Address, Layout, Session
from storeproof.experiments.client import Client, open_clients, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters.cluster_experiment import ClusterExperiment, Persistent
from storeproof.experiments.durability.clusters.transfer_summary import TransferSummary, found_in
from storeproof.experiments.durability.clusters.transfers import ACCOUNTS, ENTRIES, Ledger
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.history import Transfer
from storeproof.spec.scale import DurabilityScale

_BEFORE: Final = 50
"""Acknowledged transfers before the fault."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class ClusterTransfers(ClusterExperiment):
    """One cluster, the faults of one guarantee, many rounds."""

    def __init__(
        self,
        subject: Subject,
        faults: Sequence[ClusterFault],
        layouts: Mapping[str, Layout],
        scale: DurabilityScale,
        *,
        connect_to: Callable[[Address], Session],
        summary: TransferSummary,
    ) -> None:
        """
        Args:
            layouts: of the models of entries and accounts.
            connect_to: opens a session with one node, for clients that are tied to it.
            summary: of earlier rounds, on another cluster; the rounds continue from there.
        """
        super().__init__(subject, scale.turns(faults), connect_to)
        self.summary = summary
        self._layouts = layouts
        self._scale = scale
        self._ledger: Ledger
        """That of this round."""
        self._all_load = ExitStack()

    def setup(self) -> None:
        """Create the collections."""
        with self.subject.session() as session:
            for layout in self._layouts.values():
                session.collection(layout).prepare()

    def done(self) -> int:
        """Those that were judged."""
        return self.summary.rounds

    @contextmanager
    def load(self) -> Iterator[None]:
        """Clients on new accounts, tied to the primary and not."""
        self.begin()
        self._ledger = Ledger(self._layouts[ENTRIES], self._layouts[ACCOUNTS], f"round{self.done() + 1}")
        half, struck = max(1, self._scale.clients // 2), self._struck_node
        with ExitStack() as self._all_load:
            tied = open_clients(half, lambda: self._client(lambda: struck))
            self._all_load.enter_context(under_load(tied))
            following = open_clients(half, lambda: self._client(self._cluster.primary))
            self._followers = self._all_load.enter_context(under_load(following))
            wait_until(lambda: self._ledger.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self.subject.rng.uniform(*self._scale.load_seconds))
            check_load(self.handle, [*tied, *following])
            yield

    def first_client(self, node: str) -> Client:
        """A client of the same accounts."""
        return self._client(lambda: node)

    def go_on(self, primary: str) -> None:  # noqa: ARG002 - its clients ask for it
        """Half of the clients."""
        clients = open_clients(max(1, self._scale.clients // 2), lambda: self._client(self._cluster.primary))
        self._all_load.enter_context(under_load(clients))

    def audit(self) -> None:
        """Wait until the cluster is whole, and read all in one snapshot."""
        self._moments.ended = monotonic_ns()
        self.make_whole()
        transfers, snapshots = self._ledger.transfers(), self._ledger.snapshots()
        with self.subject.session() as session:
            books = self._ledger.books(session, transfers)
        judged = judge_transfers(transfers, books, snapshots)
        found = found_in(judged, self.struck, self._connections.node_of)
        self.summary.judge_round(judged, found, self.recorded(transfers, _Happened(judged), wrong=[*found.halves, *found.losses]))

    def _client(self, choose: Callable[[], str]) -> Client:
        """One that connects to the node that is chosen then."""
        rng = random.Random(self.subject.rng.getrandbits(64))
        return self._ledger.client(lambda number: self.connecting(number, choose), rng, Persistent())


class _Happened:
    """What became of acknowledged transfers."""

    def __init__(self, judged: Judged) -> None:
        self._lost = set(judged.lost)

    def lost(self, transfer: Transfer, /) -> bool:
        """Whether it is not there."""
        return transfer in self._lost

    def found(self, transfer: Transfer, /) -> bool:
        """Whether it is."""
        return transfer not in self._lost
