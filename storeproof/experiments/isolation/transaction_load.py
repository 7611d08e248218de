"""The clients of one history of transactions, and all that they sent."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import attrgetter

from storeproof.check import contended
from storeproof.contract import Layout, Session
from storeproof.evidence import TransactionsEvidence
from storeproof.experiments.client import Client, Pacing, raise_failures, raise_unknown
from storeproof.experiments.isolation.transacting import Transacting, TransactionLog
from storeproof.records.versioned.contended_records import ContendedRecords
from storeproof.records.versioned.lists import SeenLists
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import TransactionMix


class TransactionLoad:
    """Clients are opened by one thread, and numbered on."""

    def __init__(self, layout: Layout, level: Isolation, mix: TransactionMix, seed: str, first: int = 0) -> None:
        """`seed`: of all random choices; `first`: the number of the first record."""
        self._layout = layout
        self._level = level
        self._mix = mix
        self._seed = seed
        self._records = ContendedRecords(mix, first)
        self._logs: list[TransactionLog] = []

    @property
    def clients(self) -> int:
        """So far."""
        return len(self._logs)

    @property
    def sent(self) -> int:
        return sum(len(log.transactions) for log in self._logs)

    @property
    def committed(self) -> int:
        return sum(log.committed for log in self._logs)

    @property
    def contended(self) -> int:
        """Of those so far that were committed."""
        return contended([each for log in self._logs for each in log.transactions])

    def client(
        self,
        connect: Callable[[], Session],
        *,
        mix: TransactionMix | None = None,
        reads: tuple[str, ...] | None = None,
        pacing: Pacing | None = None,
    ) -> Client:
        """Another one.

        Args:
            mix: in place of that of the load.
            reads: the records that it only reads, a few at a time; None: it draws.
        """
        self._logs.append(TransactionLog(len(self._logs)))
        log = self._logs[-1]
        rng = random.Random(f"{self._seed} {log.client}")
        return Client(connect, Transacting(mix or self._mix, self._layout, self._level, self._records, log, rng, reads), pacing)

    def read_all(self, connect: Callable[[], Session]) -> str:
        """Read all records in transactions of their own, so that the last version of each is known.

        Returns:
            Why the last of them was refused; empty if none was.

        Raises:
            Unknown: its connection was lost.
            Breach: the adapter broke the contract.
        """
        reader = self.client(connect, reads=self._records.keys)
        try:
            while reader.step():
                pass
        finally:
            reader.close()
        raise_failures([reader])
        raise_unknown([reader])
        return reader.ended.refusal

    def evidence(self, refusal: str = "") -> TransactionsEvidence:
        """All so far. `refusal`: the last one of a client."""
        sent = sorted((each for log in self._logs for each in log.transactions), key=attrgetter("invoked"))
        not_written = [each for log in self._logs for each in log.not_written]
        if self._mix.records == "lists":
            lists = SeenLists.together(log.lists for log in self._logs)
            sent, not_written = list(map(lists.told, sent)), [*not_written, *lists.contradictions]
        return TransactionsEvidence(self._level, self._mix.mix, sent, not_written, refusal)
