"""What Couchbase does by SQL++, beside what it does by key: counting, ordered scans, filters, groups, facets, bulk writes.

A query's own writes know no durability level. Where the variant has one, the statement runs as a transaction of its own
(`tximplicit`), which does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from couchbase.cluster import Cluster
from couchbase.n1ql import QueryScanConsistency
from couchbase.options import QueryOptions

from storeproof.adapters.couchbase.indexes import Indexes
from storeproof.adapters.couchbase.models import Counters, Documents, Hashes, Rows, Values, path_of
from storeproof.adapters.couchbase.query import Statement, quoted
from storeproof.adapters.couchbase.records import Place, Records, run
from storeproof.contract import FacetedPage, Json, Key, Layout, Path, Record, Refused, Unknown, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where

_LEVELS: Final = {
    "majority": "majority",
    "majority_and_persist_active": "majorityAndPersistActive",
    "persist_to_majority": "persistToMajority",
}
"""The query service's words for the levels of the option `durability`."""


class Keyspace:
    """A collection, as the query service knows it."""

    def __init__(self, cluster: Cluster, bucket: str, scope: str, name: str, durability: str) -> None:
        self._cluster = cluster
        self._safely: dict[str, Any] = {}
        if durability in _LEVELS:
            self._safely = {"tximplicit": True, "durability_level": _LEVELS[durability]}
        names = {"bucket": bucket, "scope": scope, "collection": name}
        self.indexes = Indexes(cluster, names)
        self.name = ".".join(map(quoted, names.values()))

    def rows(self, text: str, parameters: Mapping[str, Any]) -> list[Any]:
        """The answer of a statement that writes nothing."""
        options = QueryOptions(named_parameters=dict(parameters), scan_consistency=QueryScanConsistency.REQUEST_PLUS, read_only=True)
        return run(lambda: list(self._cluster.query(text, options).rows()))

    def changed(self, text: str, parameters: Mapping[str, Any]) -> int:
        """How many documents a statement wrote."""
        options = QueryOptions(
            named_parameters=dict(parameters), scan_consistency=QueryScanConsistency.REQUEST_PLUS, metrics=True, raw=self._safely
        )

        def ask() -> int:
            result = self._cluster.query(text, options)
            list(result.rows())
            metrics = result.metadata().metrics()
            if metrics is None:
                raise Unknown("the query service does not report how many documents it changed")
            return int(metrics.mutation_count())

        return run(ask)


class Queried(Records):
    """Records that are also reached by queries; every one can be counted."""

    def __init__(self, place: Place, keyspace: Keyspace, layout: Layout, durability: str) -> None:
        super().__init__(place, layout, durability)
        self._queries = keyspace

    def prepare(self) -> None:
        super().prepare()
        self._queries.indexes.make(self._layout.indexed)

    def clear(self) -> None:
        self._queries.indexes.drop()
        super().clear()

    def describe(self) -> Mapping[str, str]:
        return {**super().describe(), "indexes": str(self._queries.indexes.secondary())}

    def count(self) -> int:
        return int(self._rows(self._statement(), Statement.count, Where())[0])

    def _statement(self) -> Statement:
        return Statement(self._queries.name, integer_keys=self._layout.model.key == "integer")

    def _rows(self, statement: Statement, make: Any, *args: Any) -> list[Any]:
        return self._queries.rows(make(statement, *args), statement.parameters)

    def _key(self, name: str) -> Key:
        return int(name) if self._layout.model.key == "integer" else name


class QueriedJson(Queried):
    """Records in JSON, which queries can answer whole. Raw bytes they cannot."""

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """`USE KEYS`: the client's own multi-get is as many requests as keys."""
        if not keys:
            return []
        rows = self._rows(self._statement(), Statement.get_many, [self.name(key) for key in dict.fromkeys(keys)])
        found = {row["k"]: self.decode(row["r"]) for row in rows}
        return [found.get(self.name(key)) for key in keys]

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """In the order of the ids, by code point; of integer keys in that of the numbers."""
        return self._records(Statement.scan, start, count, backwards)

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        if self._layout.model.key == "integer":
            raise Unsupported("a number has no prefix")
        return self._records(Statement.scan_prefix, prefix, count)

    def _records(self, make: Any, *args: Any) -> list[tuple[Key, Record]]:
        return [(self._key(row["k"]), self.decode(row["r"])) for row in self._rows(self._statement(), make, *args)]


class QueriedValues(Queried, Values):
    """Opaque values."""


class QueriedCounters(Queried, Counters):
    """Numbers."""


class QueriedHashes(QueriedJson, Hashes):
    """Hashes."""


class QueriedRows(QueriedJson, Rows):
    """Rows."""


class QueriedDocuments(QueriedJson, Documents):
    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        return [(self._key(row["k"]), row["r"]) for row in self._rows(self._statement(), Statement.find, query)]

    def count_where(self, where: Where) -> int:
        return int(self._rows(self._statement(), Statement.count, where)[0])

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        return self._rows(self._statement(), Statement.aggregate, aggregation)

    def browse(self, browse: Browse) -> FacetedPage:
        (found,) = self._rows(self._statement(), Statement.browse, browse)
        facets = {name: [(row["v"], int(row["n"])) for row in rows] for name, rows in found["facets"].items()}
        return FacetedPage(int(found["total"]), [self._key(str(key)) for key in found["keys"]], facets)

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        statement = self._statement()
        return self._queries.changed(statement.update(where, path, value), statement.parameters)

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """UPDATE of one document: by key, Couchbase removes items by position alone."""
        return self._to_list(Statement.pull, key, path, value)

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """UPDATE of one document: by key, Couchbase compares plain values alone."""
        return self._to_list(Statement.add_to_set, key, path, value)

    def _to_list(self, make: Any, key: Key, path: Path, value: Json) -> bool:
        statement = self._statement()
        if self._queries.changed(make(statement, self.name(key), path, value), statement.parameters):
            return True
        if self.exists(key):
            raise Refused(f"there is no list at {path_of(path)}")
        return False

    def delete_where(self, where: Where) -> int:
        statement = self._statement()
        return self._queries.changed(statement.delete(where), statement.parameters)
