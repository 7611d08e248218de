"""The cycles of a history by their definition: every simple cycle of its dependencies, one after the other."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

from storeproof.check.isolation.anomaly import Edge
from storeproof.check.isolation.dependencies import Dependencies
from storeproof.history import Access, Transaction
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder
from tests.check.transactions import Behaviour, SimulatedStore

WORSE: dict[AnomalyKind, tuple[AnomalyKind, ...]] = {"G-nonadjacent": ("G0", "G1c", "G-single"), "G2": ("G2-item",)}
ORDERS = get_args(AnomalyOrder)


def kind_of(cycle: Sequence[Edge]) -> AnomalyKind:
    """The name of a cycle, by its `rw` edges."""
    rw = [each.kind == "rw" for each in cycle]
    if not any(rw):
        return "G1c" if any(each.kind == "wr" for each in cycle) else "G0"
    if sum(rw) == 1:
        return "G-single"
    if any(one and other for one, other in zip(rw, [*rw[1:], rw[0]], strict=True)):
        return "G2" if any(each.predicate for each in cycle) else "G2-item"
    return "G-nonadjacent"


def simple_cycles(edges: Sequence[Edge]) -> Iterator[tuple[Edge, ...]]:
    """Each once, from its lowest transaction."""
    leaving: defaultdict[int, list[Edge]] = defaultdict(list)
    for each in edges:
        leaving[each.source].append(each)

    def walk(path: list[Edge], passed: set[int]) -> Iterator[tuple[Edge, ...]]:
        for each in leaving[path[-1].target]:
            if each.target == path[0].source:
                yield (*path, each)
            elif each.target > path[0].source and each.target not in passed:
                yield from walk([*path, each], passed | {each.target})

    for each in edges:
        if each.target > each.source:
            yield from walk([each], {each.target})


def cycles_by_definition(transactions: Sequence[Transaction]) -> set[tuple[AnomalyKind, AnomalyOrder, int, int, int]]:
    """Kind, order, size, when the first of this size was complete, and `after`."""
    dependencies = Dependencies(transactions)
    commits = sorted(each.completed for each in transactions if each.outcome == "ok" and each.completed is not None)
    real_time = [
        Edge(before, after, "realtime")
        for before in dependencies.committed
        for after in dependencies.committed
        if (ended := transactions[before].completed) is not None and ended < transactions[after].invoked
    ]
    items = [each for each in dependencies.edges if each.kind != "process"]
    found: dict[AnomalyKind, tuple[int, int, int, int]] = {}
    for rank, edges in enumerate((items, dependencies.edges, items + real_time)):
        sizes: defaultdict[AnomalyKind, list[tuple[int, int]]] = defaultdict(list)
        for cycle in simple_cycles(edges):
            if any(each.kind not in ("process", "realtime") for each in cycle):
                sizes[kind_of(cycle)].append((len(cycle), max(dependencies.end(each.source) for each in cycle)))
        for kind, of_kind in sizes.items():
            seen = bisect_right(commits, min(end for _, end in of_kind))
            found.setdefault(kind, (rank, *min(of_kind), seen))
    return {
        (kind, ORDERS[rank], size, end, seen)
        for kind, (rank, size, end, seen) in found.items()
        if not any(worse in found and found[worse][0] <= rank for worse in WORSE.get(kind, ()))
    }


def any_history(seed: int) -> list[Transaction]:
    """A few transactions: of a simulated store, or with reads of any version."""
    chance = random.Random(seed)
    if chance.random() < 0.3:
        return SimulatedStore(chance.choice(get_args(Behaviour)), seed, clients=4, keys=2).run(6)
    writes: dict[str, list[str | None]] = {"x": [None], "y": [None], "z": [None]}
    plans: list[list[tuple[str, str, str | None, bool]]] = []
    forks = chance.random() < 0.2  # of the kinds that need four transactions there would be few
    for _ in range(chance.randint(4, 6) if forks else chance.randint(2, 5)):
        plans.append([])
        shape = chance.choice([["write"], ["read", "read"]] if forks else [None])
        for how in shape or chance.choices(["read", "write", "update"], k=chance.randint(1, 3)):
            key, written = chance.choice("xy" if forks else "xyz"), f"v{sum(map(len, writes.values()))}"
            if how != "write":
                plans[-1].append(("read", key, None, chance.random() < 0.3))
            if how != "read":
                plans[-1].append(("write", key, written, False))
                writes[key].append(written)
    found, free = [], [0, 0, 0]
    for plan in plans:
        client = chance.randrange(3)
        own: dict[str, str | None] = {}
        accesses = []
        for action, key, version, predicate in plan:
            if action == "write":
                own[key] = version
                accesses.append(Access("write", key, version))
            else:
                others = [each for each in writes[key] if each is None or each not in [one[2] for one in plan]]
                accesses.append(Access("read", key, own.get(key, chance.choice(others)), predicate))
        outcome = chance.choices(["ok", "unknown", "refused"], [18, 1, 1])[0]
        invoked = free[client] + chance.randint(1, 6)
        free[client] = invoked + chance.randint(0, 8)
        found.append(Transaction(client, invoked, None if outcome == "unknown" else free[client], outcome, tuple(accesses)))  # type: ignore[arg-type]
    return found
