"""Documents of MySQL and MariaDB: a JSON column, and columns of what is indexed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storeproof.adapters.mysql import decimals as decimals
from storeproof.adapters.mysql.changes import CHANGES, added, length, replaced
from storeproof.adapters.mysql.columns import Column, column
from storeproof.adapters.mysql.indexes import Indexes
from storeproof.adapters.mysql.json import DOC, Dialect, MariaDb, Sql, extract, joined, json_path, sql, to_json
from storeproof.adapters.mysql.link import Link
from storeproof.adapters.mysql.query import Requests
from storeproof.adapters.mysql.records import Records
from storeproof.adapters.mysql.text import Texts
from storeproof.adapters.sql import documents
from storeproof.adapters.sql.documents import Change
from storeproof.contract import MISSING, Json, Key, Layout, Missing, Path
from storeproof.spec.model import Index
from storeproof.spec.query import TypeName


class Documents(Records, documents.Documents):
    """JSON documents: also PathCounter, Indexing, Validation."""

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

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        # The assignments of an UPDATE are made in their order, and the second one sees the sum.
        kept = sql("k = IF(LENGTH(@sum := JSON_EXTRACT(doc, {})) >= 0, k, k)", json_path(path))
        changed = sql("UPDATE {} SET doc = {}, {} WHERE k = {}", Sql(self._name), added(self._dialect, path, by), kept, self._key(key))
        written = self._ask(sql("SET @sum = NULL; {}; SELECT @sum", changed))[0][0]
        total: int | float | None = None if written is None else json.loads(written)
        return total

    def item_count(self, key: Key, path: Path) -> int | Missing:
        rows = self._ask(sql("SELECT {} FROM {} WHERE k = {}", length(path), Sql(self._name), self._key(key)))
        return MISSING if not rows or rows[0][0] is None else int(rows[0][0])

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

    def _read(self, text: str, place: Path = ()) -> Any:
        return decimals.read(text, self._layout.model.decimals, place)

    def _ask(self, request: Sql) -> Sequence[tuple[Any, ...]]:
        return self._link.read(request.text, *request.values)

    def _do(self, request: Sql) -> int:
        return self._of_many(request.text, request.values)

    def _parts(self, key: Key, paths: Sequence[Path]) -> Sequence[str | None] | None:
        parts = joined(", ", (extract(DOC, path) for path in paths))
        rows = self._ask(sql("SELECT {} FROM {} WHERE k = {}", parts, Sql(self._name), self._key(key)))
        return rows[0] if rows else None

    def _set(self, key: Key, values: Mapping[Path, Json]) -> bool:
        return self._update(key, replaced(values))

    def _change(self, change: Change, key: Key, path: Path, value: Json) -> bool:
        return self._update(key, CHANGES[change](self._dialect, path, value))

    def _update(self, key: Key, document: Sql) -> bool:
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
