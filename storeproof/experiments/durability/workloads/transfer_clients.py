"""Clients that transfer amounts between the accounts of a round, each in a transaction, and sometimes read all in a snapshot."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from time import monotonic_ns
from typing import Final

from storeproof.check import Books
from storeproof.contract import Layout, Session, call
from storeproof.contract.open_transaction import transaction
from storeproof.evidence import TransferEvidence
from storeproof.experiments.client import Client, Pacing, Strategy
from storeproof.experiments.durability.readback import read
from storeproof.history import ABSENT, Balances, Observation, RequestOutcome, Transfer
from storeproof.records.self_verifying import record, write_id

ENTRIES: Final = "single_key"
"""The model of entries."""
ACCOUNTS: Final = "counter"
"""The model of accounts."""
TRANSACTIONS: Final = ("transactions.commit", "transactions.no-read-skew")
"""The capabilities that transfers need: atomic commits, and snapshots."""
_ACCOUNTS: Final = 10
"""More clients than there are pairs of accounts would mostly wait for each other."""
_MOST: Final = 9
"""The largest amount."""
_SNAPSHOTS: Final = 0.1
"""The share of transactions that read all accounts."""


@dataclass
class Log:
    """The transactions of one client, in order. Written by one thread; may be read by any."""

    client: int
    transfers: list[Transfer] = field(default_factory=list)
    """One that is in flight is unknown."""
    snapshots: list[Balances] = field(default_factory=list)
    acknowledged: int = 0
    """Transfers."""


class Ledger:
    """The accounts of one round, and all that was sent to them."""

    def __init__(self, entries: Layout, accounts: Layout, name: str) -> None:
        """`name`: of the round; the collections exist, and have nothing under keys that begin with it."""
        self.entries = entries
        self.accounts = accounts
        self.name = name
        self.names = [f"{name}:account{number}" for number in range(_ACCOUNTS)]
        self._logs: list[Log] = []

    def client(self, connect: Callable[[int], Callable[[], Session]], rng: random.Random, pacing: Pacing) -> Client:
        """Another client, which is connected by its number; clients are opened by one thread."""
        self._logs.append(Log(len(self._logs)))
        return Client(connect(self._logs[-1].client), Transferring(self, self._logs[-1], rng), pacing)

    @property
    def acknowledged(self) -> int:
        """Transfers, so far."""
        return sum(log.acknowledged for log in self._logs)

    def evidence(self, session: Session) -> TransferEvidence:
        """All that was sent so far, with its entries and all accounts as one snapshot shows them.

        Raises:
            Refused, Unknown: the store does not answer.
        """
        sent = sorted((each for log in self._logs for each in log.transfers), key=attrgetter("invoked"))
        snapshots = sorted((each for log in self._logs for each in log.snapshots), key=attrgetter("invoked"))
        places = [*((ENTRIES, each.entry) for each in sent), *((ACCOUNTS, name) for name in self.names)]
        with transaction(session, "repeatable_read"):
            seen, _ = read(session, {ENTRIES: self.entries, ACCOUNTS: self.accounts}, places)
        entries, balances = dict[str, Observation](), dict.fromkeys(self.names, 0)
        for (model, key), found in seen.items():
            if model == ENTRIES:
                entries[str(key)] = found if isinstance(found, Observation) else ABSENT
            elif isinstance(found, int):
                balances[str(key)] = found
        return TransferEvidence(self.entry(""), sent, snapshots, Books(entries, balances))

    def entry(self, new_id: str) -> str:
        """The key of the entry with that write id."""
        return f"{self.name}:entry:{new_id}"


class Transferring(Strategy):
    """Transfers between two accounts, and snapshots of all of them."""

    def __init__(self, ledger: Ledger, log: Log, rng: random.Random) -> None:
        self._ledger = ledger
        self._log = log
        self._rng = rng
        self._reading = False
        self._shown: Balances | None = None

    def use(self, session: Session) -> None:
        """Open both collections."""
        self._session = session
        self._entries = session.collection(self._ledger.entries)
        self._accounts = session.collection(self._ledger.accounts)

    def request(self) -> None:
        """One transaction."""
        self._reading = self._rng.random() < _SNAPSHOTS
        if self._reading:
            self._look()
        else:
            self._transfer()

    def end(self, outcome: RequestOutcome) -> None:
        """Record it. A snapshot counts only if its transaction was committed."""
        now = monotonic_ns()
        if not self._reading:
            ended = replace(self._log.transfers[-1], completed=None if outcome == "unknown" else now, outcome=outcome)
            self._log.transfers[-1] = ended
            self._log.acknowledged += outcome == "ok"
        elif outcome == "ok" and self._shown is not None:
            self._log.snapshots.append(self._shown)

    def _transfer(self) -> None:
        # In one order: two that cross would each hold what the other waits for.
        pair = sorted(self._rng.sample(self._ledger.names, 2))
        amount = self._rng.choice((-1, 1)) * self._rng.randint(1, _MOST)
        new_id = write_id(self._log.client, len(self._log.transfers) + 1)
        entry = self._ledger.entry(new_id)
        sent = Transfer(
            client=self._log.client,
            entry=entry,
            write_id=new_id,
            source=pair[0],
            target=pair[1],
            amount=amount,
            invoked=monotonic_ns(),
        )
        self._log.transfers.append(sent)
        with transaction(self._session, "read_committed"):
            call(self._accounts, self._ledger.accounts, "increment", sent.source, -amount)
            call(self._entries, self._ledger.entries, "put", entry, record(self._ledger.entries.model, entry, new_id))
            call(self._accounts, self._ledger.accounts, "increment", sent.target, amount)

    def _look(self) -> None:
        self._shown, began = None, monotonic_ns()
        with transaction(self._session, "repeatable_read"):
            shown = {name: call(self._accounts, self._ledger.accounts, "get", name) or 0 for name in self._ledger.names}
        self._shown = Balances(client=self._log.client, invoked=began, shown=shown)
