"""The smallest cycle of each kind in a graph of dependencies.

Real time needs no edge for each pair: a transaction leads to the moment at which it completed, a moment to the next, and the last moment
before a transaction was invoked to that transaction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from storeproof.check.isolation.anomaly import Edge, EdgeKind, Kind, Order
from storeproof.check.isolation.dependencies import Dependencies
from storeproof.history import Transaction

Cycle = tuple[Edge, ...]

_ORDERS: Final[Mapping[Order, frozenset[EdgeKind]]] = {
    "item": frozenset(), "process": frozenset({"process"}), "realtime": frozenset({"realtime"})
}  # fmt: skip
_CYCLES: Final[tuple[Kind, ...]] = ("G0", "G1c", "G-single", "G-nonadjacent", "G2-item", "G2")
_DEPENDS: Final[frozenset[EdgeKind]] = frozenset({"ww", "wr"})
_IMPLIED: Final[Mapping[Kind, tuple[Kind, ...]]] = {"G-nonadjacent": ("G0", "G1c", "G-single"), "G2": ("G2-item",)}
"""A kind is not searched for where one of these was found, which is worse and forbidden wherever it is: so every walk that is found is a
simple cycle, and of no worse kind."""


def smallest_cycles(dependencies: Dependencies) -> Iterator[tuple[Kind, Order, Cycle, int]]:
    """The smallest cycle of each kind in the weakest order that has one, the first to complete; and the time at which the first of any size
    was complete."""
    graphs = {order: _Graph(dependencies, kinds) for order, kinds in _ORDERS.items()}
    ends = sorted({dependencies.end(index) for index in dependencies.committed})
    found: dict[Kind, int] = {}
    orders = list(_ORDERS)
    for kind in _CYCLES:
        for rank, order in enumerate(orders):
            graph = graphs[order]
            if any(found.get(worse, len(orders)) <= rank for worse in _IMPLIED.get(kind, ())):
                break
            smallest = graph.smallest(kind, ends[-1] if ends else 0, None)
            if smallest is not None:
                size = len(smallest)
                ended = bisect_left(ends, True, key=lambda end: graph.smallest(kind, end, size) is not None)
                seen = bisect_left(ends, True, key=lambda end: graph.smallest(kind, end, None) is not None)
                first = graph.smallest(kind, ends[ended], size)
                assert first is not None
                found[kind] = rank
                yield kind, order, first, ends[seen]
                break


class _Graph:
    def __init__(self, dependencies: Dependencies, order: frozenset[EdgeKind]) -> None:
        self._order: Final = order
        self._end: Final = {index: dependencies.end(index) for index in dependencies.committed}
        edges = [each for each in dependencies.edges if each.kind in order or each.kind in ("ww", "wr", "rw")]
        after: defaultdict[int, list[Edge]] = defaultdict(list)
        if "realtime" in order:
            edges += self._of_real_time(dependencies.transactions)
        for each in edges:
            after[each.source].append(each)
        self._after: Final = _core(after)

    def _of_real_time(self, transactions: Sequence[Transaction]) -> Iterator[Edge]:
        """Moments are nodes below zero, in order of time."""
        ended = sorted((completed, index) for index in self._end if (completed := transactions[index].completed) is not None)
        times = [completed for completed, _ in ended]
        for moment, (_, index) in enumerate(ended, 1):
            yield Edge(index, -moment, "realtime")
            if moment > 1:
                yield Edge(1 - moment, -moment, "realtime")
        for index in self._end:
            if last := bisect_left(times, transactions[index].invoked):
                yield Edge(-last, index, "realtime")

    def smallest(self, kind: Kind, until: int, most: int | None) -> Cycle | None:
        """The smallest cycle, of at most that many transactions, among those that had completed by then."""
        best: Cycle | None = None
        longest = most if most is not None else len(self._end)
        for way in self._begin(kind, until):
            if (found := self._close(kind, way, until, longest)) is not None:
                best, longest = found, len(found) - 1
        return best

    def _begin(self, kind: Kind, until: int) -> Iterator[Cycle]:
        begins = {"G0": "ww", "G1c": "wr"}.get(kind, "rw")
        for edges in list(self._after.values()):
            for first in edges:
                if (
                    first.kind != begins
                    or max(self._end[first.source], self._end[first.target]) > until
                    or (kind == "G2-item" and first.predicate)
                ):
                    continue
                if kind not in ("G2-item", "G2"):
                    yield (first,)
                    continue
                for second in self._after.get(first.target, ()):
                    if second.kind == "rw" and self._end[second.target] <= until and not (kind == "G2-item" and second.predicate):
                        yield first, second

    def _close(self, kind: Kind, way: Cycle, until: int, longest: int) -> Cycle | None:
        """The shortest way back to where this began, if the cycle then has at most `longest` edges."""
        goal, avoid = way[0].source, way[0].target if len(way) > 1 else None
        if way[-1].target == goal:
            return way if len(way) <= longest else None
        usable = self._order | ({"ww"} if kind == "G0" else _DEPENDS if kind in ("G1c", "G-single") else _DEPENDS | {"rw"})
        begin = way[-1].target, kind == "G-nonadjacent"
        came: dict[tuple[int, bool], tuple[tuple[int, bool], Edge] | None] = {begin: None}
        queue = deque([(begin, len(way))])
        while queue:
            state, length = queue.popleft()
            node, after_rw = state
            for edge in self._after.get(node, ()):
                if edge.kind not in usable or (edge.kind == "rw" and (after_rw or (kind == "G2-item" and edge.predicate))):
                    continue
                target = edge.target, kind == "G-nonadjacent" and edge.kind == "rw"
                entered = length + (node >= 0)
                if target in came or entered > longest or target[0] == avoid or self._end.get(target[0], 0) > until:
                    continue
                came[target] = state, edge
                if target[0] == goal:
                    if target[1]:
                        continue
                    return way + _walked(came, target)
                (queue.append if node >= 0 else queue.appendleft)((target, entered))
        return None


def _core(after: Mapping[int, list[Edge]]) -> dict[int, list[Edge]]:
    """The same without nodes that no cycle can pass: those into which there is no way."""
    ways = Counter(edge.target for edges in after.values() for edge in edges)
    ends = [node for node in after if not ways[node]]
    left = dict(after)
    while ends:
        for edge in left.pop(ends.pop(), ()):
            ways[edge.target] -= 1
            if not ways[edge.target]:
                ends.append(edge.target)
    return left


def _walked(came: Mapping[tuple[int, bool], tuple[tuple[int, bool], Edge] | None], state: tuple[int, bool]) -> Cycle:
    """The edges by which a state was reached, with those over moments as one."""
    found: list[Edge] = []
    target = state[0]
    while (step := came[state]) is not None:
        state, edge = step
        if state[0] >= 0:
            found.append(edge if edge.target == target else Edge(state[0], target, "realtime"))
            target = state[0]
    return tuple(reversed(found))
