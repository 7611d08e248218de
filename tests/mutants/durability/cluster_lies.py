"""Lies of real clusters: each claims that acknowledged writes survive the loss of a node, or a partition.

Their settings are read back from each node, and are what the file says: only the fault reveals the lie. The honest twins are the clusters
of the stores' own files, with all faults; their results are published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storeproof.spec import SPEC_ROOT
from storeproof.spec.reading.source import values
from tests.mutants.durability import archiver, emptiest, unread_wait
from tests.mutants.durability.lie import LATE, Lie

_OWN = ("title", "product", "adapter", "requires", "launch", "topologies")


def _cluster(store: str, variant: str, guarantee: str, **changed: Any) -> dict[str, Any]:
    """A store's file with one of its variants, which claims to survive this.

    Args:
        changed: what is otherwise than in its file: fields of the store, and of the variant.
    """
    told: dict[str, Any] = values(SPEC_ROOT / "stores" / f"{store}.yaml")
    described = told["variants"][variant]
    kept = {name: described[name] for name in ("topology", "settings", "options", "guarantee") if name in described}
    own = {name: changed.pop(name, told.get(name)) for name in _OWN}
    return {
        **{name: value for name, value in own.items() if value is not None},
        "variant": {**kept, "survives": [guarantee], "stale_reads": "possible", **changed},
        "claims": {"models": ["single_key"], "capabilities": {}},
    }


def _archived() -> dict[str, Any]:
    """A tool of PostgreSQL, which receives the log, syncs it and says so, counts as a standby where any name does."""
    told = values(SPEC_ROOT / "stores" / "postgresql.yaml")
    topology = told["topologies"]["standbys"]
    server = topology["services"]["postgres"]
    port, user, password = (server[name] for name in ("port", "user", "password"))
    login = f"host=${{address}} port={port} user={user} password={password}"
    service = {
        "binary": "${python}",
        "install": server["install"],
        "port": port + 1,
        "command": [archiver.__file__, "${address}", str(port), "--directory=${data}", "--synchronous", f"--dbname={login}"],
    }
    nodes = {name: [*services, "archiver"] for name, services in topology["nodes"].items()}
    settings = {**told["variants"]["standbys-on"]["settings"], "synchronous_standby_names": "ANY 1 (*)"}
    return _cluster(
        "postgresql",
        "standbys-on",
        "node_loss",
        topologies={"standbys": {**topology, "nodes": nodes, "services": {**topology["services"], "archiver": service}}},
        settings=settings,
    )


def _lie(name: str, says: str, guarantee: str, store: Mapping[str, Any]) -> Lie:
    return Lie(name, says, guarantee, store, beside=LATE, load=("stream",))


LIES = (
    _lie(
        "mongodb-one-member", "Acknowledges what one member has (w: 1)", "node_loss", _cluster("mongodb", "three-members-w-1", "node_loss")
    ),
    _lie(
        "postgresql-archived",
        "pg_receivewal on the primary's own node acknowledges in place of a standby",
        "node_loss",
        _archived(),
    ),
    _lie(
        "postgresql-emptiest",
        "Its failover promotes the standby that has least",
        "node_loss",
        _cluster("postgresql", "standbys-on", "node_loss", adapter=emptiest.__file__),
    ),
    _lie(
        "redis-unread-wait",
        "Its client sends WAIT, and does not look at the reply",
        "partition",
        _cluster("redis", "sentinel", "partition", adapter=unread_wait.__file__),
    ),
)
