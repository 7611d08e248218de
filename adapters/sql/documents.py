"""Documents: one row each, JSON in the column `doc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from storeproof.adapters.sql import answers
from storeproof.adapters.sql.records import Records
from storeproof.contract import MISSING, FacetedPage, Json, Key, Missing, Path
from storeproof.contract.families import Joined
from storeproof.spec.query import Aggregation, Browse, Query, Where

Change = Literal["unset", "push", "insert", "pull", "add"]
"""What becomes of a document at a path: a value removed, an item added to a list or taken out of it."""


class Requests(Protocol):
    """The statements of one collection, in the form in which its `_ask` and `_do` send them, and what their rows say."""

    def find(self, query: Query) -> Any:
        """Rows for `answers.records`."""

    def joined(self, query: Query, path: Path, fields: Sequence[Path]) -> Any:
        """Rows for `answers.pairs`."""

    def count(self, where: Where) -> Any:
        """One row, the number."""

    def update(self, where: Where, path: Path, value: Json) -> Any:
        """Refused as a whole where a record that matches has no parent of the path."""

    def delete(self, where: Where) -> Any:
        """All records that match."""

    def aggregate(self, aggregation: Aggregation) -> Any:
        """Rows for `groups`."""

    def groups(self, aggregation: Aggregation, rows: Sequence[Sequence[Any]]) -> list[dict[str, Json]]:
        """What they say."""

    def browse(self, browse: Browse) -> Any:
        """Rows for `page`."""

    def page(self, browse: Browse, rows: Sequence[Sequence[Any]], key_of: Callable[[Any], Key]) -> FacetedPage:
        """What they say."""


class Documents(Records):
    """Paths, SeveralPaths, Arrays, Find, Lookup, Aggregate, Facets, Bulk."""

    _requests: Requests

    def decode(self, columns: Sequence[Any]) -> dict[str, Json]:
        document: dict[str, Json] = self._read(columns[0])
        return document

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        return self.get_paths(key, [path])[0]

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self.set_paths(key, {path: value})

    def get_paths(self, key: Key, paths: Sequence[Path]) -> list[Json | Missing]:
        columns = self._parts(key, paths) if paths else []
        if columns is None:
            return [MISSING] * len(paths)
        # SQL's NULL is "no such part"; JSON's null is the text `null`.
        return [MISSING if column is None else self._read(column, path) for path, column in zip(paths, columns, strict=True)]

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        return self._set(key, values) if values else self.exists(key)

    def unset_path(self, key: Key, path: Path) -> bool:
        return self._change("unset", key, path, None)

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change("push", key, path, value)

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change("insert", key, path, value)

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._change("pull", key, path, value)

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        return self._change("add", key, path, value)

    def find(self, query: Query) -> list[tuple[Key, dict[str, Json]]]:
        return answers.records(query, self._ask(self._requests.find(query)), self._key_of, self._read)

    def find_joined(self, query: Query, path: Path, fields: Sequence[Path]) -> list[Joined]:
        return answers.pairs(query, fields, self._ask(self._requests.joined(query, path, fields)), self._key_of, self._read)

    def count_where(self, where: Where) -> int:
        return int(self._ask(self._requests.count(where))[0][0])

    def aggregate(self, aggregation: Aggregation) -> list[dict[str, Json]]:
        return self._requests.groups(aggregation, self._ask(self._requests.aggregate(aggregation)))

    def browse(self, browse: Browse) -> FacetedPage:
        return self._requests.page(browse, self._ask(self._requests.browse(browse)), self._key_of)

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        return self._do(self._requests.update(where, path, value))

    def delete_where(self, where: Where) -> int:
        return self._do(self._requests.delete(where))

    def _parts(self, key: Key, paths: Sequence[Path]) -> Sequence[str | None] | None:
        """The JSON at each of the paths; None if there is no record."""
        raise NotImplementedError

    def _set(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """Give a document values at paths, all of them in one statement or none; whether there is one."""
        raise NotImplementedError

    def _change(self, change: Change, key: Key, path: Path, value: Json) -> bool:
        """Give a record another document; whether there is one."""
        raise NotImplementedError

    def _read(self, text: str, place: Path = ()) -> Any:
        """JSON, which was at the place in a document."""
        raise NotImplementedError

    def _ask(self, request: Any) -> Sequence[Sequence[Any]]:
        """The rows that a request answers."""
        raise NotImplementedError

    def _do(self, request: Any) -> int:
        """The number of rows that a request changes."""
        raise NotImplementedError
