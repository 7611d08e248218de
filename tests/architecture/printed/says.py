"""What README.md and docs/findings/ say in numbers: each sentence with what computes its numbers from the published results.

A text has `{}` for each number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from storeproof.report.parts.roles import lacks
from tests.architecture.printed.mutants import more_than
from tests.architecture.printed.published import lost, number, run, store, struck, times
from tests.shipped import SHIPPED


class Says(NamedTuple):
    """A piece of a page."""

    text: str
    values: Callable[[], tuple[Any, ...]]


CLUSTERS = (
    "postgresql-nodes", "tarantool-nodes", "etcd-nodes", "mongodb-nodes", "mongodb-linearizable-nodes", "galera-nodes", "mysql-group-nodes",
    "mysql-replicas-nodes", "redis-nodes", "redis-wait-nodes", "postgresql-remote-nodes", "mongodb-majority-reads-nodes",
    "redis-min-replicas-nodes", "ndb-nodes",
)  # fmt: skip
"""The runs on clusters, as the first table names them."""
DURABILITY = ("durability-keys", "durability-databases", "durability-repeated")


def variants() -> int:
    """Those whose durability was tried."""
    return sum(len(run(name).stores) for name in DURABILITY)


def only_by_power() -> int:
    """Variants that 20 kills did not harm, and a power cut did."""
    pairs = [
        (struck(name, f"{each.store}:{each.variant}", "process_crash"), struck(name, f"{each.store}:{each.variant}", "power_loss"))
        for name in DURABILITY
        for each in run(name).stores
    ]
    return sum(kill.rounds == 20 and not kill.faults_with_loss and power.lost > 0 for kill, power in pairs)


def _against_redis(other: str) -> str:
    return f"{times('speeds-again', 'redis:aof-always', other, 'hash10-put'):.1f}"


_OTHERS = ("postgresql:synchronous-commit-on", "mariadb:innodb-flush-1", "mongodb:journaled", "mysql:innodb")
_NOT_WAITING = (
    ("postgresql-nodes", "postgresql:standbys-local"), ("tarantool-nodes", "tarantool:three-instances"),
    ("mongodb-nodes", "mongodb:three-members-w-1"), ("mysql-replicas-nodes", "mysql:replicas"), ("redis-nodes", "redis:sentinel"),
    ("redis-min-replicas-nodes", "redis:sentinel-min-replicas-1"), ("redis-min-replicas-nodes", "valkey:sentinel"),
)  # fmt: skip


def _cluster_share(name: str, target: str) -> float:
    told = [lost(name, target, guarantee) for guarantee in ("node_loss", "partition")]
    return 100 * sum(each.operations for each in told) / sum(each.acknowledged for each in told)


def _all_clusters() -> dict[str, float]:
    return {
        f"{each.store}:{each.variant}": _cluster_share(name, f"{each.store}:{each.variant}")
        for name in CLUSTERS
        for each in run(name).stores
    }


def without_waiting() -> tuple[str, str]:
    """The least and the most that those lost which wait for no other node, in percent."""
    shares = [_cluster_share(*each) for each in _NOT_WAITING]
    return f"{min(shares):.0f}", f"{max(shares):.0f}"


def _kept_by_waiting() -> int:
    waiting = _all_clusters().keys() - {target for _, target in _NOT_WAITING}
    return sum(_all_clusters()[each] == 0 for each in waiting)


def word(count: int) -> str:
    """A small number."""
    return (["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"])[count]


README = [
    Says(
        "MongoDB fills {} of five roles",
        lambda: (word(sum(each.verdict == "conforms" for each in store("databases", "mongodb:journaled").profiles)),),
    ),
    Says(
        "Redis without modules lacks {} things of a document store",
        lambda: (len(lacks(next(each for each in store("keys", "redis:aof-always").profiles if each.profile == "document_store"))),),
    ),
    Says("Of {} variants, {} lost nothing in 20 kills, and acknowledged writes in a power cut.", lambda: (variants(), only_by_power())),
    Says(
        "lost {} of the acknowledged writes in {} power cuts",
        lambda: (_tarantool("keys").percent, struck("keys", "tarantool:memtx-tree-fsync", "power_loss").rounds),
    ),
    Says("Redis writes hashes {} to {} times as fast", lambda: (_against_redis(_OTHERS[0]), _against_redis(_OTHERS[-1]))),
    Says(
        "{} clients wrote {} times as many a second as to PostgreSQL, {} as to MariaDB, {} as to MongoDB, {} as to MySQL",
        lambda: (number("speeds-again", "redis:aof-always", "hash10-put").clients, *map(_against_redis, _OTHERS)),
    ),
    Says(
        "Of {} settings seven do not wait, and lost {} to {} % of the acknowledged writes; of the others, {} lost nothing.",
        lambda: (len(_all_clusters()), *without_waiting(), _kept_by_waiting()),
    ),
    Says(
        "{} capabilities in {} cases",
        lambda: (len(SHIPPED.capabilities), sum(len(each.cases) for each in SHIPPED.capabilities.values())),
    ),
    Says("more than {} [deliberately wrong stores]", lambda: (more_than(),)),
]


def _tarantool(name: str, index: str = "tree") -> Any:
    return lost(name, f"tarantool:memtx-{index}-fsync", "power_loss")


def _harmed(name: str, index: str = "tree") -> int:
    return struck(name, f"tarantool:memtx-{index}-fsync", "power_loss").faults_with_loss


def _snapshots() -> int:
    """Power cuts during a snapshot, in the runs of memtx with fsync; the detail of a guarantee names all faults that cost something."""
    chosen = (("keys", "tree"), ("durability-databases", "tree"), ("durability-databases", "hash"))
    records = [struck(name, f"tarantool:memtx-{index}-fsync", "power_loss") for name, index in chosen]
    for each in records:
        costly = re.findall(r"fault \d+, (\w+): ", each.detail)
        assert len(costly) == each.faults_with_loss
        assert "compaction" not in costly
    return sum(each.faults_by_load["compaction"] for each in records)


TARANTOOL = [
    Says("of the {} during a snapshot in the published runs of the memtx variants with `fsync` none lost any", lambda: (_snapshots(),)),
    Says(
        "{} acknowledged operations ({}) lost, in {} of 20 power cuts",
        lambda: (_tarantool("keys").counts, _tarantool("keys").percent, _harmed("keys")),
    ),
    Says(
        "{} ({}), in {} of 20 |",
        lambda: (_tarantool("durability-databases").counts, _tarantool("durability-databases").percent, _harmed("durability-databases")),
    ),
    Says(
        "{} ({}) lost, in {} of 20 power cuts of that run",
        lambda: (
            _tarantool("durability-databases", "hash").counts,
            _tarantool("durability-databases", "hash").percent,
            _harmed("durability-databases", "hash"),
        ),
    ),
]
