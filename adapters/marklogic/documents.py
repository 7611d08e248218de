"""Documents in MarkLogic: parts of them by patches, searches by structured queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any, Final

from storeproof.adapters.marklogic.link import JSON
from storeproof.adapters.marklogic.query import RangeIndex
from storeproof.adapters.marklogic.record import extracted
from storeproof.adapters.marklogic.records import INEXACT, Records
from storeproof.adapters.marklogic.text import by_index_alone
from storeproof.adapters.marklogic.values import NAME, computation
from storeproof.contract import MISSING, FacetedPage, Json, Key, Missing, Path, Refused, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where

_ALL: Final = 2**31 - 1
"""The page that has everything."""

_ABSENT: Final = 404


class Documents(Records):
    """Documents: parts of them by patches, and searches."""

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        return self.get_paths(key, [path])[0]

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self.set_paths(key, {path: value})

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        """An extraction, in which the parts stand where they were; of a list, only the items on the way are there."""
        if not paths:
            return []
        _check_positions(paths)
        query = {"queries": [{"document-query": {"uri": [self._form.uri(key)]}}]}
        found = self._search(query, 1, extract=self._words.extraction([_within(path) for path in dict.fromkeys(paths)]))
        parts = extracted(found["results"][0]) if found["results"] else None
        return [_part_at(parts, (self._layout.name, "record", *path)) for path in paths]

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """A patch that replaces each property, or inserts it where its object is; an item of a list is replaced."""
        return self._patch(key, *starmap(self._setting, values.items())) if values else self.exists(key)

    def unset_path(self, key: Key, path: Path) -> bool:
        """A patch that deletes the property, if there is one."""
        if not path or isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        return self._patch(key, {"delete": {"select": self._words.place(_within(path)), "cardinality": "?"}})

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        if query.highlight is not None:
            raise Unsupported("a snippet is an excerpt; the whole text with highlighted words is not available")
        if query.ranked and query.sort:
            raise Unsupported("results cannot be sorted by a value and by score")
        extract = None if query.fields == () else self._words.extraction(query.fields)
        if query.fields and any(isinstance(part, int) for path in query.fields for part in path):
            raise Unsupported("an extraction omits the other items of a list, and so their positions")
        found = self._search(
            self._words.query(query.filter),
            _ALL if query.limit is None else query.limit,
            skip=query.skip,
            order=self._words.order(query.sort),  # without one, the best score comes first
            extract=extract,
            filtered=not by_index_alone(query.filter),
        )
        return [(self._form.key(each["uri"]), self._part(each) if extract else {}) for each in found["results"]]

    def count_where(self, where: Where) -> int:
        return self._total(where)

    def browse(self, browse: Browse) -> FacetedPage:
        """A search with constraints that count: total, page and facets in one answer."""
        if not by_index_alone(browse.filter):
            raise Unsupported(INEXACT)
        constraints = [self._words.facet(name, facet) for name, facet in browse.facets.items()]
        found = self._search(self._words.query(browse.filter), browse.limit, order=self._words.order(browse.sort), facets=constraints)
        facets = {name: self._counted(found["facets"][name], self._words.index(facet.path)) for name, facet in browse.facets.items()}
        return FacetedPage(int(found["total"]), [self._form.key(each["uri"]) for each in found.get("results", [])], facets)

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        wanted = computation(self._words, aggregation)
        if not by_index_alone(aggregation.filter):
            raise Unsupported(INEXACT)
        params = {**self._server.target, "format": "json", "view": "aggregate"}
        body = wanted.body(self._words.query(aggregation.filter))
        found = self._by_index(lambda: self._server.ask("POST", f"/v1/values/{NAME}", params=params, json=body, headers=JSON))
        return [wanted.row(found.json())]

    def _counted(self, facet: Mapping[str, Any], index: RangeIndex) -> list[tuple[Json, int]]:
        return [(index.value(each["value"]), int(each["count"])) for each in facet.get("facetValues", [])]

    def _part(self, result: Mapping[str, Any]) -> dict[str, Json]:
        part: dict[str, Json] = extracted(result).get(self._layout.name, {}).get("record", {})
        return part

    def _setting(self, path: Path, value: Json) -> Mapping[str, Any]:
        place = self._words.place(_within(path))
        if isinstance(path[-1], int):
            return {"replace": {"select": place, "cardinality": ".", "content": value}}
        above = self._words.place(path[:-1])
        content = {path[-1]: value}
        return {"replace-insert": {"select": place, "context": above, "position": "last-child", "cardinality": ".", "content": content}}

    def _patch(self, key: Key, *operations: Mapping[str, Any]) -> bool:
        headers = {"Content-Type": "application/json", "X-HTTP-Method-Override": "PATCH"}
        body = json.dumps({"patch": operations}, allow_nan=False)
        return self._status("POST", key, headers=headers, data=body) != _ABSENT


def _check_positions(paths: Sequence[Path]) -> None:
    """Raises `Unsupported` where a list would not tell which of its items an extraction brings."""
    asked: dict[Path, int] = {}
    for path in paths:
        for depth, part in enumerate(path):
            if not isinstance(part, int):
                continue
            whole = any(other == path[: len(other)] for other in paths if len(other) <= depth)
            if whole or asked.setdefault(path[:depth], part) != part:
                raise Unsupported("an extraction omits the other items of a list, and so their positions")


def _part_at(value: Any, path: Path) -> Json | Missing:
    """A part of what was extracted; of a list, that is its only item."""
    for part in path:
        part = 0 if isinstance(part, int) else part
        there = part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int) and bool(value)
        if not there:
            return MISSING
        value = value[part]
    found: Json = value
    return found


def _within(path: Path) -> Path:
    """The path, if it leads anywhere inside a record."""
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    if any(isinstance(part, int) and part < 0 for part in path):
        raise Refused("a list has no negative positions")
    return path
