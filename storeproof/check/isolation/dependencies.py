"""Which transactions certainly come before which: Adya's dependencies, as far as the reads tell the order of versions.

A store does not say in which order it installed the versions of a record. What a transaction read before it wrote says it in part:

* *T read u of x, and then wrote w.* Then u precedes w: were it the other way round, T would overwrite what it depends on (`ww` from T to
  the writer of u, and `wr` back), a G1c, which every level here forbids. So `ww` from the writer of u to T is certain. u need not be the
  version right before w: the edge then stands for a path of `ww` edges, which changes the kind of no cycle for the worse.
* *T and S both read u, and then wrote w and s* (a lost update). Nothing says whether w or s came first, so there is no `ww` between them:
  the versions of a record form a tree.
* *R read u, and T replaced it by w, as above.* Then R comes before T: by `rw` to the writer of the version right after u, then perhaps `ww`
  on to T; or, if R itself wrote that version, by `ww` alone, which makes any cycle a worse one. So `rw` from R to T is no exaggeration. If
  R replaced u too, it is left out: the lost update says all there is to say.
* *T wrote w blindly*, without a read of x before. Then w has no known predecessor, unless it was recorded with one; but a transaction that
  found no record of x comes before T, since records are not deleted.

A path may stand for an edge, as a simple cycle with as few `rw`, and none adjacent that was not, can be found in any closed walk.

What counts as committed: what was acknowledged, and unknown transactions of which such a one read a version, or wrote after one that was
seen before its own; if they were rolled back after all, that was a G1a. Versions of refused transactions and intermediate ones have no
place in the order: to read them is G1a or G1b, and no edge comes of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from storeproof.check.isolation.anomaly import Edge
from storeproof.history import Access, Transaction
from storeproof.spec.isolation import AnomalyKind

Version = tuple[str, str | None]
"""A key and a write id, or None for no record."""

_MOST_FOLLOWERS: Final = 8
"""Of the many that a store without isolation lets replace one version, the first to complete: edges from each reader to each would be too
many."""


class Dependencies:
    """Edges between the committed transactions of a history, and the anomalies that need no cycle.

    Raises:
        ValueError: two writes of one version, a read of one that no transaction wrote, or a client with two transactions at a time.
    """

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        self.transactions: Final = transactions
        self._writers: dict[Version, int] = {}
        self._installed: set[Version] = set()
        for index, each in enumerate(transactions):
            self._enter_writes(index, each)
        for each in transactions:
            self._look_up_reads(each)
        self.committed: Final = self._find_committed()
        """Indexes, in the order of invocation."""
        self.found: Final[list[tuple[AnomalyKind, tuple[Edge, ...]]]] = []
        """Anomalies that need no cycle, with the edges that show them."""
        self.edges: Final[list[Edge]] = []
        """All but those of real time, of which there are too many: whatever completed before another was invoked."""
        self._readers: defaultdict[Version, dict[int, bool]] = defaultdict(dict)
        """Who read a version before any write of the key, and whether by conditions alone."""
        self._updated: defaultdict[Version, dict[int, str]] = defaultdict(dict)
        """Who read a version last before writing the key, and what remained of these writes."""
        self._followed: defaultdict[Version, dict[int, str]] = defaultdict(dict)
        """Whose write is known to come after a version, and after no later one."""
        self._blind: defaultdict[str, dict[int, str]] = defaultdict(dict)
        """Whose write is not known to come after any."""
        for index in self.committed:
            self._follow(index, transactions[index].accesses)
        self.edges.extend(chain(self._of_versions(), self._of_clients()))
        self._find_lost_updates()

    def _enter_writes(self, index: int, transaction: Transaction) -> None:
        last: dict[str, str | None] = {}
        for each in transaction.accesses:
            if each.action == "write":
                version = each.key, each.version
                if version in self._writers:
                    raise ValueError(f"each version is written once; found {each.version} of {each.key} twice")
                self._writers[version] = index
                last[each.key] = each.version
        self._installed.update(last.items())

    def _look_up_reads(self, transaction: Transaction) -> None:
        for each in transaction.accesses:
            for version in (each.version, each.after):
                if version is not None and (each.key, version) not in self._writers:
                    raise ValueError(f"no transaction wrote {version} of {each.key}, which another one read or replaced")

    def _find_committed(self) -> list[int]:
        found = {index for index, each in enumerate(self.transactions) if each.outcome == "ok"}
        left = list(found)
        while left:
            for access in self.transactions[left.pop()].accesses:
                seen = access.version if access.action == "read" else access.after
                if seen is not None:
                    writer = self._writers[access.key, seen]
                    if writer not in found and self.transactions[writer].outcome == "unknown":
                        found.add(writer)
                        left.append(writer)
        return sorted(found, key=lambda index: self.transactions[index].invoked)

    def _follow(self, index: int, accesses: Sequence[Access]) -> None:
        """Hold what a committed transaction read against what it could have read, and note what it saw and replaced."""
        seen: dict[str, str | None] = {}
        known: set[str] = set()
        """Keys of which the version that it saw has a place in the order."""
        told: dict[str, str] = {}
        own: dict[str, str] = {}
        for access in accesses:
            key, version = access.key, access.version
            if access.action == "write":
                assert version is not None
                if key not in own and access.after is not None and not self._dirty(self._writers[key, access.after], (key, access.after)):
                    told[key] = access.after
                own[key] = version
                continue
            writer = None if version is None else self._writers[key, version]
            if key in own or writer == index:
                if own.get(key) != version:
                    self.found.append(("own-writes", (Edge(index, index, "wr", key, version, own.get(key)),)))
                continue
            if seen.setdefault(key, version) != version:
                self.found.append(("fuzzy-read", (Edge(index, index, "rw", key, seen[key], version),)))
                seen[key] = version
            known.discard(key)
            if writer is not None and (dirty := self._dirty(writer, (key, version))):
                self.found.append((dirty, (Edge(writer, index, "wr", key, version, version),)))
                continue
            known.add(key)
            readers = self._readers[key, version]
            readers[index] = access.predicate and readers.get(index, True)
        for key, version in own.items():
            if key in known:
                self._updated[key, seen[key]][index] = version
            after = told.get(key, seen[key] if key in known else None)
            if after is None and key not in known:
                self._blind[key][index] = version
            else:
                self._followed[key, after][index] = version

    def _dirty(self, writer: int, version: Version) -> AnomalyKind | None:
        """What it is to read this version of another transaction, if it is not what remained of a committed one."""
        if self.transactions[writer].outcome == "refused":
            return "G1a"
        return None if version in self._installed else "G1b"

    def _of_versions(self) -> Iterator[Edge]:
        for key, version in dict.fromkeys(chain(self._readers, self._followed)):
            readers, later = self._readers.get((key, version), {}), self._followed.get((key, version), {})
            if version is not None:
                writer = self._writers[key, version]
                yield from (Edge(writer, reader, "wr", key, version, version) for reader in readers)
                yield from (Edge(writer, target, "ww", key, version, written) for target, written in later.items())
            else:
                later = later | self._blind.get(key, {})
            first = sorted(later, key=self.end)[:_MOST_FOLLOWERS]
            for reader, predicate in readers.items():
                if reader not in later:
                    yield from (Edge(reader, target, "rw", key, version, later[target], predicate) for target in first)

    def _of_clients(self) -> Iterator[Edge]:
        """A client's order; what it sent after a transaction without a reply may take effect before that one."""
        last: dict[int, int] = {}
        for index in self.committed:
            each = self.transactions[index]
            before = last.get(each.client)
            if before is not None:
                if (self.transactions[before].completed or 0) > each.invoked:
                    raise ValueError(f"client {each.client} has two transactions at a time: {before} and {index}")
                yield Edge(before, index, "process")
            if each.outcome == "ok":
                last[each.client] = index

    def _find_lost_updates(self) -> None:
        for (key, version), updated in self._updated.items():
            if len(updated) > 1:
                first, second = sorted(updated, key=self.end)[:2]
                self.found.append(("lost-update", (
                    Edge(first, second, "rw", key, version, updated[second]),
                    Edge(second, first, "rw", key, version, updated[first]),
                )))  # fmt: skip

    def end(self, index: int) -> int:
        """When it completed; an unknown one had at the earliest when it was invoked."""
        each = self.transactions[index]
        return each.invoked if each.completed is None else each.completed
