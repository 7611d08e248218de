"""The smallest cycle of each kind among dependencies. The compiled part searches: `native/src/isolation/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from storeproof.check.isolation.anomaly import Edge, EdgeKind
from storeproof.check.isolation.dependencies import Dependencies
from storeproof.native_support import require
from storeproof.spec.isolation import AnomalyKind, AnomalyOrder

_NUMBERS: Final[Mapping[EdgeKind, int]] = {"ww": 0, "wr": 1, "rw": 2, "process": 4}
_RW_BY_PREDICATE: Final = 3


def smallest_cycles(dependencies: Dependencies) -> Iterator[tuple[AnomalyKind, AnomalyOrder, tuple[Edge, ...], int]]:
    """The smallest cycle of each kind in the weakest order that has one, and when the first of any size was complete.

    Of equally small ones it is the first to complete. A kind is left out where another one shows it: `G-nonadjacent` beside `G0`, `G1c` and
    `G-single`, `G2` beside `G2-item`.

    Raises:
        NotAvailable: the compiled part is not installed.
    """
    require("a check of isolation")
    from storeproof import native  # here, because the compiled part is optional

    nodes = sorted(dependencies.committed, key=dependencies.end)
    places = {index: place for place, index in enumerate(nodes)}
    times = [(each.invoked, each.completed) for each in map(dependencies.transactions.__getitem__, nodes)]
    edges = [
        (places[each.source], places[each.target], _RW_BY_PREDICATE if each.predicate else _NUMBERS[each.kind])
        for each in dependencies.edges
    ]
    for kind, order, cycle, last in native.smallest_cycles(times, edges):
        found = (
            Edge(nodes[source], nodes[target], "realtime") if edge is None else dependencies.edges[edge] for source, target, edge in cycle
        )
        yield kind, order, tuple(found), dependencies.end(nodes[last])
