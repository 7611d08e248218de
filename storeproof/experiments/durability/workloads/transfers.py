"""Transfers between accounts: after a fault each happened whole or not at all, and none that was acknowledged is missing.

Half of the clients are tied to the node that the fault strikes; the others go on where there is a primary afterwards. When the store is
whole again all entries and accounts are read in one snapshot.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from storeproof.check import judge_transfers
from storeproof.check.transfers import JudgedTransfers
from storeproof.contract import Layout
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.strikes.round_clients import Persistent, RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.durability.workloads.transfer_clients import ACCOUNTS, ENTRIES, Ledger
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary, found_in
from storeproof.experiments.fault_experiment import Subject, check_load, without_replies
from storeproof.history import Transfer
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
        self._ledger: Ledger
        """That of this round."""

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:
        """Clients on new accounts, tied to the node that is struck and not."""
        self._ledger = Ledger(self._layouts[ENTRIES], self._layouts[ACCOUNTS], f"round{self.summary.rounds + 1}")

        def opened(choose: Callable[[], str]) -> list[Client]:
            return open_clients(max(1, self._scale.clients // 2), lambda: self._client(strike, choose))

        with RoundClients(
            first=lambda node: self._client(strike, lambda: node), go_on=lambda running, _: running.add(opened(strike.primary))
        ) as running:
            running.add(tied := opened(lambda: strike.struck_node))
            running.follow(following := opened(strike.primary))
            wait_until(lambda: self._ledger.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._subject.handle, [*tied, *following])
            yield running

    def audit(self, strike: Strike) -> int:
        """Read all in one snapshot."""
        strike.make_whole()
        lost_disk = strike.cut_off()
        transfers = without_replies(self._ledger.transfers(), lost_disk)
        snapshots = [each for each in self._ledger.snapshots() if not any(begin <= each.invoked <= end for begin, end in lost_disk)]
        with self._subject.session() as session:
            books = self._ledger.books(session, transfers)
        judged = judge_transfers(transfers, books, snapshots)
        found = found_in(judged, strike.moments.struck, strike.node_of)
        record = strike.record(transfers, _Happened(judged), found.all)
        self.summary.judge_round(strike.name, judged, found, record)
        struck = strike.moments.strike
        return sum(each.outcome == "ok" and each.completed is not None and each.completed < struck for each in transfers)

    def _client(self, strike: Strike, choose: Callable[[], str]) -> Client:
        """One that connects to the node that is chosen then."""
        rng = random.Random(self._subject.rng.getrandbits(64))
        return self._ledger.client(lambda number: strike.connecting(number, choose), rng, Persistent())


class _Happened:
    """What became of acknowledged transfers."""

    def __init__(self, judged: JudgedTransfers) -> None:
        self._lost = set(judged.lost)

    def lost(self, transfer: Transfer, /) -> bool:
        """Whether it is not there."""
        return transfer in self._lost

    def found(self, transfer: Transfer, /) -> bool:
        """Whether it is."""
        return transfer not in self._lost
