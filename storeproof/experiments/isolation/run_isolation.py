"""Has clients send transactions of a mix at one level, and then reads what is there."""

from __future__ import annotations

import random
from operator import attrgetter
from time import monotonic
from typing import Final

from storeproof.contract import Layout
from storeproof.evidence import StoreEvidence, TransactionsEvidence
from storeproof.experiments.client import Client, open_clients, raise_failures, raise_unknown, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.keep_evidence import keep_evidence
from storeproof.experiments.isolation.contended_records import ContendedRecords
from storeproof.experiments.isolation.isolation_summary import LEAST, IsolationSummary
from storeproof.experiments.isolation.transacting import Transacting, TransactionLog
from storeproof.experiments.struck_stores import seed_of
from storeproof.launch.handle import Handle
from storeproof.records.versioned.lists import SeenLists
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import TransactionMix
from storeproof.store_under_test import StoreUnderTest

_LOOK_SECONDS: Final = 0.02
_ENOUGH: Final = 2 * LEAST
"""Commits, below which it goes on: not each of them is contended."""
_PATIENCE: Final = 10
"""Times as long as the scale has, after which it ends all the same."""


def run_isolation(
    sut: StoreUnderTest, handle: Handle, layout: Layout, mix: TransactionMix, summary: IsolationSummary, attempt: int
) -> None:
    """Keeps the evidence of each attempt.

    Args:
        handle: the store; a cluster, if the mix has readers.
        attempt: its number, from 1.

    Raises:
        Unknown: a client lost its connection, or the store does not answer.
        Breach: an adapter broke the contract.
    """
    seed = seed_of(sut, f"isolation {summary.level} {mix.mix} {attempt - 1}")
    kept = StoreEvidence(isolation_case(summary.level, mix.mix), seed, sut.target.id, cuts_off=False)
    load = TransactionLoad(sut, handle, layout, summary.level, mix, seed)
    try:
        load.run()
    finally:
        kept.transactions = load.evidence()
        keep_evidence(sut, kept)
    summary.judge(kept.transactions)


class TransactionLoad:
    """The clients of one case, and all that they sent."""

    def __init__(self, sut: StoreUnderTest, handle: Handle, layout: Layout, level: Isolation, mix: TransactionMix, seed: str) -> None:
        """`seed`: of all random choices."""
        self._sut = sut
        self._handle = handle
        self._layout = layout
        self._level = level
        self._mix = mix
        self._seed = seed
        self._records = ContendedRecords(mix)
        self._logs: list[TransactionLog] = []
        self._refusal = ""
        self._nodes: list[str] = []
        """Those of a cluster, the primary first."""
        if mix.readers:
            assert handle.cluster is not None, "only a cluster is read at several nodes"
            primary = handle.cluster.primary()
            self._nodes = sorted(handle.cluster.nodes, key=lambda name: name != primary)

    def evidence(self) -> TransactionsEvidence:
        """All so far."""
        sent = sorted((each for log in self._logs for each in log.transactions), key=attrgetter("invoked"))
        not_written = [each for log in self._logs for each in log.not_written]
        if self._mix.records == "lists":
            lists = SeenLists.together(log.lists for log in self._logs)
            sent, not_written = list(map(lists.told, sent)), [*not_written, *lists.contradictions]
        nodes = [self._node_of(number) for number in range(len(self._logs))] if self._nodes else []
        return TransactionsEvidence(self._level, self._mix.mix, sent, not_written, self._refusal, nodes)

    def run(self) -> None:
        """Send as many as the scale has, or as its time allows, and longer if that is too few to say anything; then read all records.

        Raises:
            Unknown: a client lost its connection, or the store does not answer.
            Breach: an adapter broke the contract.
        """
        scale = self._sut.scale.correctness.isolation
        clients = open_clients(self._mix.clients + self._mix.readers, self._client)
        due = monotonic() + scale.seconds
        with under_load(clients) as load:

            def is_over() -> bool:
                enough = self._committed >= _ENOUGH and (self._sent >= scale.transactions or monotonic() > due)
                return enough or not load.alive

            wait_until(is_over, _PATIENCE * scale.seconds, _LOOK_SECONDS)
        raise_unknown(clients)
        self._refusal = next((each.ended.refusal for each in clients if each.ended.refusal), "")
        self._read_all()

    def _read_all(self) -> None:
        """In transactions of their own, so that the last version of each record is known."""
        reader = self._client(self._records.keys)
        try:
            while reader.step():
                pass
        finally:
            reader.close()
        raise_failures([reader])
        raise_unknown([reader])

    @property
    def _sent(self) -> int:
        return sum(len(log.transactions) for log in self._logs)

    @property
    def _committed(self) -> int:
        return sum(log.committed for log in self._logs)

    def _client(self, reads: tuple[str, ...] | None = None) -> Client:
        """Another one; clients are opened by one thread. `reads`: the records that it only reads, a few at a time."""
        self._logs.append(TransactionLog(len(self._logs)))
        log, cluster = self._logs[-1], self._handle.cluster
        where = self._handle if cluster is None or not self._nodes else cluster.node(self._node_of(log.client)).address
        mix = self._mix if log.client < self._mix.clients else self._mix.reading
        rng = random.Random(f"{self._seed} {log.client}")
        strategy = Transacting(mix, self._layout, self._level, self._records, log, rng, reads)
        return Client(lambda: self._sut.connect(where), strategy)

    def _node_of(self, client: int) -> str:
        """Those that write, and the one that reads in the end, are at the primary."""
        reader = client - self._mix.clients
        return self._nodes[reader % len(self._nodes) if 0 <= reader < self._mix.readers else 0]
