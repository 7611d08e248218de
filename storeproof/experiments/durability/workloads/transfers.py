"""Transfers between accounts: after a fault each happened whole or not at all, and none that was acknowledged is missing.

Half of the clients are tied to the node that the fault strikes; the others go on where there is a primary afterwards. When the store is
whole again all entries and accounts are read in one snapshot.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from storeproof.contract import Layout
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters.pace import MOST_TRANSFERS, pause_of
from storeproof.experiments.durability.strikes.round_clients import Paced, Persistent, RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES, Ledger
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.history import Operation
from storeproof.spec.scale import DurabilityScale

_BEFORE: Final = 50
"""Acknowledged transfers before the fault."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class Transfers(FaultWorkload[Strike]):
    """The transfers of many rounds; each has its own accounts."""

    summary: TransferSummary

    def __init__(self, subject: Subject, layouts: Mapping[str, Layout], scale: DurabilityScale, summary: TransferSummary) -> None:
        """
        Args:
            layouts: of the models of entries and accounts.
            summary: of earlier rounds, on another store; the rounds continue from there.
        """
        super().__init__(subject, layouts.values(), summary)
        self._layouts = layouts
        self._scale = scale
        self._half = max(1, scale.clients // 2)
        """How many clients are tied to the struck node, and how many are not."""
        self._ledger: Ledger
        """That of this round."""

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:
        """Clients on new accounts, tied to the node that is struck and not."""
        self._ledger = Ledger(self._layouts[ENTRIES], self._layouts[ACCOUNTS], f"round{self.summary.rounds + 1}")

        def opened(choose: Callable[[], str]) -> list[Client]:
            return open_clients(self._half, lambda: self._client(strike, choose))

        with RoundClients(
            first=lambda node: self._client(strike, lambda: node), go_on=lambda running, _: running.add(opened(strike.primary))
        ) as running:
            running.add(tied := opened(lambda: strike.struck_node))
            running.follow(following := opened(strike.primary))
            wait_until(lambda: self._ledger.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._subject.handle, [*tied, *following])
            yield running

    def read_back(self, strike: Strike) -> Sequence[Operation]:  # noqa: ARG002 - its store is whole
        """Read all in one snapshot."""
        with self._subject.session() as session:
            self.round.transfers = self._ledger.evidence(session)
        return ()

    def _client(self, strike: Strike, choose: Callable[[], str]) -> Client:
        """One that connects to the node that is chosen then."""
        rng = random.Random(self._subject.rng.getrandbits(64))
        pause = pause_of(2 * self._half, self.strikes, MOST_TRANSFERS)
        pacing = Paced(pause) if strike.other_nodes else Persistent()
        return self._ledger.client(lambda number: strike.connecting(number, choose), rng, pacing)
