"""A client whose requests are transactions, and their histories."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Final

from storeproof.contract import Layout, Session
from storeproof.contract.open_transaction import OpenTransaction, transaction
from storeproof.contract.sessions import Transactions
from storeproof.experiments.client import Strategy
from storeproof.history import Access, RequestOutcome, Transaction
from storeproof.records.self_verifying import write_id
from storeproof.records.versioned.contended_records import ContendedRecords
from storeproof.records.versioned.contents import contents_of
from storeproof.records.versioned.lists import SeenLists
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import TransactionMix

_AT_ONCE: Final = 0.5
"""The share of transactions that write each record after they have read it; the others read all before they write."""
_READ_AT_ONCE: Final = 50
"""Records that a client which does not draw reads in one transaction."""


@dataclass
class TransactionLog:
    """The transactions of one client, in order. Written by one thread; may be read by any."""

    client: int
    transactions: list[Transaction] = field(default_factory=list)
    committed: int = 0
    lists: SeenLists = field(default_factory=SeenLists)
    not_written: list[str] = field(default_factory=list)
    """What it has read, and was written so by no client."""


class Transacting(Strategy):
    """Draws transactions of a mix, and sends them."""

    def __init__(
        self,
        mix: TransactionMix,
        layout: Layout,
        level: Isolation,
        records: ContendedRecords,
        log: TransactionLog,
        rng: random.Random,
        reads: Sequence[str] | None = None,
    ) -> None:
        """`reads`: the records that it reads once each, and no other ones; None: it draws."""
        self._mix = mix
        self._contents = contents_of(mix, layout, log.not_written, log.lists)
        self._level = level
        self._records = records
        self._log = log
        self._rng = rng
        self._reads = reads
        self._sequence = 0
        self._accesses: list[Access] = []
        self._began = 0
        self._opened = OpenTransaction()

    def use(self, session: Session) -> None:
        """Open the collection."""
        self._session = session if isinstance(session, Transactions) else None  # then each transaction is one request
        self._contents.use(session)

    @property
    def exhausted(self) -> bool:
        """Whether it has read all that it has to."""
        return self._reads is not None and not self._reads

    def request(self) -> None:
        """One transaction."""
        if self._reads is not None:
            now, self._reads = self._reads[:_READ_AT_ONCE], self._reads[_READ_AT_ONCE:]
            self._send([(key, False) for key in now], [], [], roll_back=False)
            return
        mix, rng = self._mix, self._rng
        keys = self._records.draw(rng, rng.randint(*mix.reads))
        only_reads = rng.random() < mix.reads_only
        # Writes are in one order: two transactions that cross would each hold what the other waits for.
        replaced = [] if only_reads else sorted(key for key in keys if rng.random() < mix.replaced)
        again = [key for key in keys if rng.random() < mix.read_again]
        self._records.count(replaced)
        if rng.random() < _AT_ONCE:
            self._send([(key, key in replaced) for key in sorted(keys)], [], again, roll_back=rng.random() < mix.rolled_back)
        else:
            self._send([(key, False) for key in keys], replaced, again, roll_back=rng.random() < mix.rolled_back)

    def _send(self, first: Sequence[tuple[str, bool]], then: Sequence[str], again: Sequence[str], *, roll_back: bool) -> None:
        """Read the first records, and replace those with a mark; replace others; read some again."""
        self._accesses, self._opened, self._began = [], OpenTransaction(rolls_back=roll_back), monotonic_ns()
        session = self._session
        if session is None:
            self._send_whole([key for key, _ in first], [*(key for key, replace in first if replace), *then])
            return
        with transaction(session, self._level, self._opened):
            for key, replace in first:
                if not (replace and self._contents.blind):
                    self._read(key)
                if replace:
                    self._write(key)
            for key in then:
                self._write(key)
            for key in again:
                self._read(key)

    def _send_whole(self, keys: Sequence[str], replaced: Sequence[str]) -> None:
        """Read all and replace some by one request: nothing can be read again, or rolled back."""
        self._opened.commits = True
        writes = {key: self._new_id() for key in replaced}
        self._accesses = [Access("write", key, new_id) for key, new_id in writes.items()]  # before, as in `_write`
        self._accesses = [*self._contents.run_whole(keys, writes), *self._accesses]

    def end(self, outcome: RequestOutcome) -> None:
        """Record it."""
        now = monotonic_ns()
        ended: RequestOutcome = outcome if self._opened.commits else "refused"
        self._log.committed += ended == "ok"
        self._log.transactions.append(
            Transaction(
                client=self._log.client,
                invoked=self._began,
                completed=None if ended == "unknown" else now,
                outcome=ended,
                accesses=tuple(self._accesses),
            )
        )

    def _read(self, key: str) -> None:
        searched = self._reads is None and self._rng.random() < self._mix.searched
        self._accesses += self._contents.search(key) if searched else self._contents.read(key)

    def _write(self, key: str) -> None:
        new_id = self._new_id()
        self._accesses.append(Access("write", key, new_id))  # before: it may be there also if its reply is lost
        self._contents.write(key, new_id)

    def _new_id(self) -> str:
        self._sequence += 1
        return write_id(self._log.client, self._sequence)
