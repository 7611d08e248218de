"""Documents of MySQL and MariaDB: a JSON column, and columns of what is indexed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storeproof.adapters.mysql import decimals as decimals
from storeproof.adapters.mysql.changes import added, inserted, length, pulled, pushed, removed, replaced, with_member
from storeproof.adapters.mysql.columns import Column, column
from storeproof.adapters.mysql.indexes import Indexes
from storeproof.adapters.mysql.json import DOC, Dialect, MariaDb, Sql, extract, json_path, sql, to_json
from storeproof.adapters.mysql.link import Link
from storeproof.adapters.mysql.query import Requests
from storeproof.adapters.mysql.records import Records
from storeproof.adapters.mysql.text import Texts
from storeproof.contract import MISSING, Json, Key, Layout, Missing, Path
from storeproof.contract.families import Joined
from storeproof.contract.values import Found
from storeproof.spec.index import Index
from storeproof.spec.query import Aggregation, Browse, Query, TypeName, Where


class Documents(Records):
    """JSON documents: also Paths, PathCounter, Arrays, Find, Lookup, Aggregate, Facets, Bulk, Indexing, Validation."""

    # A row that has the same value in a unique index is a duplicate too, and another record. NULL makes the server refuse.
    _given = "IF(k = VALUES(k), VALUES({0}), NULL)"

    columns: Mapping[str, str] = {"doc": "JSON NOT NULL"}

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str], dialect: Dialect, limits: Mapping[str, str]) -> None:
        self._dialect = dialect
        super().__init__(link, layout, options)
        self._layout_columns = [column(layout, f"x{number}", path) for number, path in enumerate(layout.indexed)]
        self._indexed: dict[Path, Column] = {each.path: each for each in self._layout_columns}
        self._texts = Texts(layout, dialect, link.engine, limits)
        self._later = Indexes(link, layout, dialect)
        self._requests = Requests(self._name, self._text_keys, dialect, self._indexed, self._texts, layout.model.decimals)

    def encode(self, record: dict[str, Json]) -> Sequence[Any]:
        return (to_json(record),)

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        document: dict[str, Json] = decimals.read(columns[0], self._layout.model.decimals)
        return document

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        # SQL's NULL is "no such part"; JSON's null is the text `null`.
        rows = self._ask(sql("SELECT {} FROM {} WHERE k = {}", extract(DOC, path), Sql(self._name), self._key(key)))
        if not rows or rows[0][0] is None:
            return MISSING
        part: Json = decimals.read(rows[0][0], self._layout.model.decimals, path)
        return part

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, replaced(path, value))

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._change(key, removed(path))

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        # The assignments of an UPDATE are made in their order, and the second one sees the sum.
        kept = sql("k = IF(LENGTH(@sum := JSON_EXTRACT(doc, {})) >= 0, k, k)", json_path(path))
        changed = sql("UPDATE {} SET doc = {}, {} WHERE k = {}", Sql(self._name), added(self._dialect, path, by), kept, self._key(key))
        written = self._ask(sql("SET @sum = NULL; {}; SELECT @sum", changed))[0][0]
        total: int | float | None = None if written is None else json.loads(written)
        return total

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, pushed(path, value))

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, inserted(path, value))

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, pulled(self._dialect, path, value))

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        return self._change(key, with_member(self._dialect, path, value))

    def item_count(self, key: Key, path: Path) -> int | Missing:
        rows = self._ask(sql("SELECT {} FROM {} WHERE k = {}", length(path), Sql(self._name), self._key(key)))
        return MISSING if not rows or rows[0][0] is None else int(rows[0][0])

    def find(self, query: Query) -> list[tuple[Key, dict[str, Json]]]:
        return self._requests.records(query, self._ask(self._requests.find(query)))

    def find_joined(self, query: Query, path: Path, fields: Sequence[Path]) -> list[Joined]:
        return self._requests.pairs(query, fields, self._ask(self._requests.joined(query, path, fields)))

    def count_where(self, where: Where) -> int:
        number: int = self._ask(self._requests.count(where))[0][0]
        return number

    def aggregate(self, aggregation: Aggregation) -> list[dict[str, Json]]:
        return self._requests.groups(aggregation, self._ask(self._requests.aggregate(aggregation)))

    def browse(self, browse: Browse) -> Found:
        return self._requests.page(browse, self._ask(self._requests.browse(browse)))

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        request = self._requests.update(where, path, value)
        return self._of_many(request.text, request.values)

    def delete_where(self, where: Where) -> int:
        request = self._requests.delete(where)
        return self._of_many(request.text, request.values)

    def create_index(self, index: Index) -> None:
        # A search by this handle goes by the columns, where the layout has no index of its own on the path.
        self._indexed |= {path: made for path, made in self._later.create(index).items() if path not in self._indexed}

    def drop_index(self, name: str) -> bool:
        there = self._later.drop(name)
        dropped = [path for path, made in self._indexed.items() if made.name.startswith(f"x_{name}_")]
        for path in dropped:
            del self._indexed[path]
        return there

    def index_names(self) -> list[str]:
        return self._later.names()

    def require(self, path: Path, kind: TypeName) -> None:
        self._later.require(path, kind)

    def _ask(self, request: Sql) -> Sequence[tuple[Any, ...]]:
        return self._link.read(request.text, *request.values)

    def _change(self, key: Key, document: Sql) -> bool:
        """Give a record another document; whether there is one."""
        request = sql("UPDATE {} SET doc = {} WHERE k = {}", Sql(self._name), document, self._key(key))
        return self._link.change(request.text, *request.values) == 1

    def _equals(self) -> str:
        # MariaDB keeps JSON as text, in which the order of the fields and the spaces would count.
        return "JSON_EQUALS(doc, %s)" if isinstance(self._dialect, MariaDb) else "doc = JSON_EXTRACT(%s, '$')"

    def _indexes(self) -> Iterator[tuple[str, Sequence[Any]]]:
        for number, indexed in enumerate(self._layout_columns):
            made = indexed.definition(self._dialect)
            yield f"{made.text}, KEY i{number} ({indexed.name})", made.values
        for made in self._texts.definitions():
            yield made.text, made.values
