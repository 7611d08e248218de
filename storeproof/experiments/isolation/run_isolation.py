"""Has clients send transactions of a mix at one level, and then reads what is there."""

from __future__ import annotations

from time import monotonic
from typing import Final

from storeproof.contract import Layout
from storeproof.evidence import StoreEvidence
from storeproof.experiments.client import Client, open_clients, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.keep_evidence import keep_evidence
from storeproof.experiments.isolation.isolation_summary import LEAST, IsolationSummary
from storeproof.experiments.isolation.transaction_load import TransactionLoad
from storeproof.experiments.struck_stores import seed_of
from storeproof.launch.handle import Handle
from storeproof.spec.cases import isolation_case
from storeproof.spec.isolation import TransactionMix
from storeproof.store_under_test import StoreUnderTest

_LOOK_SECONDS: Final = 0.02
_PATIENCE: Final = 10
"""Times as long as the scale has, or as many transactions, after which it ends all the same: a store may refuse them all, and fast."""


def run_isolation(
    sut: StoreUnderTest, handle: Handle, layout: Layout, mix: TransactionMix, summary: IsolationSummary, attempt: int
) -> None:
    """Keeps the evidence of each attempt. A client that has no answer ends: whether its last transaction happened is unknown.

    Args:
        handle: the store; a cluster, if the mix has readers.
        attempt: its number, from 1.

    Raises:
        Unknown: the store does not answer in the end.
        Breach: an adapter broke the contract.
    """
    seed = seed_of(sut, f"isolation {summary.level} {mix.mix} {attempt - 1}")
    kept = StoreEvidence(isolation_case(summary.level, mix.mix), seed, sut.target.named, cuts_off=False)
    load, nodes = TransactionLoad(layout, summary.level, mix, seed), _nodes(handle, mix)
    refusal = ""
    try:
        refusal = _run(sut, handle, load, mix, nodes)
        load.read_all(lambda: sut.connect(handle))
    finally:
        kept.transactions = load.evidence(refusal)
        kept.transactions.nodes = [_node_of(client, mix, nodes) for client in range(load.clients)] if nodes else []
        keep_evidence(sut, kept)
    summary.judge(kept.transactions)


def _run(sut: StoreUnderTest, handle: Handle, load: TransactionLoad, mix: TransactionMix, nodes: list[str]) -> str:
    """Send as many as the scale has, or as its time allows, and longer if too few are contended; the last refusal of a client."""
    scale, cluster = sut.scale.correctness.isolation, handle.cluster

    def client() -> Client:
        where = cluster.node(_node_of(load.clients, mix, nodes)).address if cluster is not None and nodes else handle
        return load.client(lambda: sut.connect(where), mix=mix if load.clients < mix.clients else mix.reading)

    clients = open_clients(mix.clients + mix.readers, client)
    seconds = scale.seconds / sum(each.of_a_cluster is mix.of_a_cluster for each in sut.spec.mixes.values())
    due = monotonic() + seconds
    with under_load(clients) as running:

        def is_over() -> bool:
            if load.sent >= _PATIENCE * scale.transactions or not running.alive:
                return True
            return (load.sent >= scale.transactions or monotonic() > due) and load.contended >= LEAST

        wait_until(is_over, _PATIENCE * seconds, _LOOK_SECONDS)
    return next((each.ended.refusal for each in clients if each.ended.refusal), "")


def _nodes(handle: Handle, mix: TransactionMix) -> list[str]:
    """Those of a cluster that the mix is sent to, the primary first."""
    if not mix.of_a_cluster:
        return []
    assert handle.cluster is not None, "only a cluster has readers of its own"
    primary = handle.cluster.primary()
    return sorted(handle.cluster.nodes, key=lambda name: name != primary) if mix.across_nodes else [primary]


def _node_of(client: int, mix: TransactionMix, nodes: list[str]) -> str:
    """Those that write, and the one that reads in the end, are at the primary."""
    reader = client - mix.clients
    return nodes[reader % len(nodes) if 0 <= reader < mix.readers else 0]
