"""Transactions of a mix through a fault: what they see before and after it is one history, at the level that the store guarantees.

Half of the clients are tied to the node that the fault strikes; the others go on where there is a primary afterwards. When the store is
whole again all records are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from storeproof.contract import Layout, Refused
from storeproof.experiments.client import Client, ClosedLoop, open_clients
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters.pace import pause_of
from storeproof.experiments.durability.strikes.round_clients import Paced, RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.durability.workloads.isolation_rounds import IsolationRounds
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.experiments.isolation.transaction_load import TransactionLoad
from storeproof.history import Operation
from storeproof.spec.isolation import TransactionMix

_BEFORE: Final = (150, 300)
"""Commits before the fault, at least and at most: as many as show the differences between the levels of one engine."""
_MOST: Final = 30_000
"""Transactions of all clients of a cluster, in all rounds of a guarantee."""
_APART: Final = 10_000
"""Numbers of records from one round to the next."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.005


class StruckTransactions(FaultWorkload[Strike]):
    """The transactions of many rounds; each has its own records."""

    summary: IsolationRounds

    def __init__(self, subject: Subject, layout: Layout, mix: TransactionMix, clients: int, summary: IsolationRounds) -> None:
        """
        Args:
            mix: `MIX`.
            clients: half of them are tied to the struck node.
            summary: of earlier rounds, on another store; the rounds continue from there.
        """
        super().__init__(subject, [layout], summary)
        self._layout = layout
        self._mix = mix
        self._half = max(1, clients // 2)
        self._load: TransactionLoad
        """That of this round."""

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:
        """Clients on new records, tied to the node that is struck and not."""
        rng, first = self._subject.rng, _APART * (self.summary.rounds + 1)
        self._load = TransactionLoad(self._layout, self.summary.level, self._mix, str(rng.getrandbits(64)), first)
        writes = self._mix.model_copy(update={"reads_only": 0.0, "replaced": 1.0, "rolled_back": 0.0})

        def opened(choose: Callable[[], str]) -> list[Client]:
            return open_clients(self._half, lambda: self._client(strike, choose, self._mix))

        with RoundClients(
            first=lambda node: self._client(strike, lambda: node, writes),
            go_on=lambda running, _: running.add(opened(strike.primary)),
        ) as running:
            running.add(tied := opened(lambda: strike.struck_node))
            running.follow(following := opened(strike.primary))
            wanted = rng.uniform(*_BEFORE)
            wait_until(lambda: self._load.committed >= wanted, _WAIT_SECONDS, _LOOK_SECONDS)
            check_load(self._subject.handle, [*tied, *following])
            yield running

    def read_back(self, strike: Strike) -> Sequence[Operation]:  # noqa: ARG002 - its store is whole
        """Read all records; what was seen of them is the last part of the history."""
        if refusal := self._load.read_all(self._subject.open):
            raise Refused(refusal)
        self.round.transactions = self._load.evidence()
        return ()

    def _client(self, strike: Strike, choose: Callable[[], str], mix: TransactionMix) -> Client:
        """One that connects to the node that is chosen then."""
        pause = pause_of(2 * self._half, self.strikes, _MOST)
        pacing = Paced(pause) if strike.other_nodes else ClosedLoop(reconnects=True)
        return self._load.client(strike.connecting(self._load.clients, choose), mix=mix, pacing=pacing)
