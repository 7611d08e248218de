"""Documents in RedisJSON, and what RediSearch finds among them.

Each collection has one index, which its records are in from their writing on. Fields of their own it has only of the paths that carry an
index, and of texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from time import sleep
from typing import Any, Final, cast

from storeproof.adapters.redis.collection import Named
from storeproof.adapters.redis.link import RedisLink
from storeproof.adapters.redis.scripts import Script
from storeproof.adapters.redis_stack.filter import schema
from storeproof.adapters.redis_stack.notation import written
from storeproof.adapters.redis_stack.path import DOCUMENT, stored
from storeproof.adapters.redis_stack.query import Command, Grouping, counting, facet_value, faceting, finding, found, highlighting
from storeproof.adapters.redis_stack.text import beside, derived
from storeproof.contract import MISSING, Attempts, FacetedPage, Json, Key, Layout, Missing, Path, Record, Refused, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where


def _script(*names: str) -> Script:
    return Script(*names, package=__package__)


GET_AND_SET: Final = _script("get_and_set.lua")
COMPARE_AND_SET: Final = _script("compare_and_set.lua")
SET_PATHS: Final = _script("set_paths.lua")
INSERT_MANY: Final = _script("insert_many.lua")
UNSET: Final = _script("unset.lua")
INCREMENT: Final = _script("increment.lua")
PUSH: Final = _script("list.lua", "push.lua")
INSERT: Final = _script("list.lua", "insert.lua")
PULL: Final = _script("list.lua", "pull.lua")
ADD_TO_SET: Final = _script("list.lua", "add_to_set.lua")


_LOOK: Final = 0.005
"""Seconds between two looks at an index in the making."""
_INDEXING_SECONDS: Final = 300.0


class Documents(Named):
    unsupported_because: Mapping[str, str] = {
        **{family: reason for family, reason in Named.unsupported_because.items() if family != "Count"},
        "Bulk": "RediSearch finds records but cannot change them",
        **dict.fromkeys(
            ("Expiry", "ExpiryControl", "SweptExpiry"),
            "JSON.SET keeps the expiry of an existing key, so a record that replaces another would inherit it",
        ),
        "Indexing": "a query names its index, and a field cannot be removed from an index",
        "Lookup": "a query uses one index and cannot join",
        "StoredSearches": "RediSearch cannot store searches",
        "Validation": "RedisJSON accepts any JSON",
    }

    def __init__(self, session: RedisLink, layout: Layout) -> None:
        super().__init__(session, layout)
        self._layout = layout

    def prepare(self) -> None:
        """FT.CREATE. What is there already the server takes into the index in the background: this is waited for."""
        if self._layout.name.encode() not in self._run("FT._LIST"):
            language = ["LANGUAGE_FIELD", '$["r"]["l"]'] if self._layout.model.language else []
            kind = ["ON", "JSON", "PREFIX", 1, self._prefix, *language, "STOPWORDS", 0]
            self._run("FT.CREATE", self._layout.name, *kind, "SCHEMA", *schema(self._layout))
        looks = Attempts(f"the end of the indexing of {self._layout.name}", _INDEXING_SECONDS, math.inf)
        while int(self._told("indexing")):
            looks.count()
            sleep(_LOOK)

    def clear(self) -> None:
        if self._layout.name.encode() in self._run("FT._LIST"):
            self._run("FT.DROPINDEX", self._layout.name)
        super().clear()

    def describe(self) -> Mapping[str, str]:
        """By FT.INFO: a path that carries an index has a field of numbers and one of texts."""
        fields = [dict(zip(each[::2], each[1::2], strict=False)) for each in self._told("attributes")]
        return {"indexes": str(sum(field[b"attribute"].startswith(b"t") for field in fields))}

    def delete(self, key: Key) -> bool:
        return bool(self._run("DEL", f"{self._prefix}{key}") == 1)

    def exists(self, key: Key) -> bool:
        return bool(self._run("EXISTS", f"{self._prefix}{key}") == 1)

    def count(self) -> int:
        return self.count_where(Where())

    def get(self, key: Key) -> Record | None:
        return _document(self._run("JSON.GET", f"{self._prefix}{key}", DOCUMENT))

    def put(self, key: Key, record: Record) -> None:
        self._run("JSON.SET", f"{self._prefix}{key}", "$", self._stored(record))

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """JSON.GET and JSON.SET in one script."""
        return _document(self._script(GET_AND_SET, key, self._stored(record)))

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        replies = self._run("JSON.MGET", *[f"{self._prefix}{key}" for key in keys], DOCUMENT) if keys else []
        return [_document(reply) for reply in replies]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if records:
            triples = [(f"{self._prefix}{key}", "$", self._stored(record)) for key, record in records.items()]
            self._run("JSON.MSET", *[word for triple in triples for word in triple])

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """EXISTS of each, then JSON.MSET, in one script."""
        documents = [self._stored(record) for record in records.values()]
        return not records or bool(self._session.script(INSERT_MANY, [f"{self._prefix}{key}" for key in records], documents) == 1)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._run("JSON.SET", f"{self._prefix}{key}", "$", self._stored(record), "NX") is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """The two documents are compared in one script."""
        assert isinstance(expected, dict)
        return bool(self._script(COMPARE_AND_SET, key, written(cast("Json", expected)), self._stored(record)) == 1)

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        reply = self._run("JSON.GET", f"{self._prefix}{key}", stored(path))
        values: list[Json] = json.loads(reply) if reply is not None else []
        return values[0] if values else MISSING

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        name = f"{self._prefix}{key}"
        try:
            done = self._run("JSON.SET", name, self._written_path(path), written(value))
        except Refused as reason:
            if "must be created at the root" in str(reason):
                return False
            raise
        if done is None:
            raise Refused("there is no object to set the value in")
        return True

    def unset_path(self, key: Key, path: Path) -> bool:
        """JSON.DEL and EXISTS in one script."""
        return bool(self._script(UNSET, key, self._written_path(path)) == 1)

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        """JSON.GET, which answers an object of the paths where they are two or more."""
        places = [stored(path) for path in paths]
        asked = list(dict.fromkeys(places))
        reply = self._run("JSON.GET", f"{self._prefix}{key}", *asked) if asked else None
        if reply is None:
            return [MISSING] * len(paths)
        answer = json.loads(reply)
        found: Mapping[str, list[Json]] = answer if len(asked) > 1 else {asked[0]: answer}
        return [found[place][0] if found[place] else MISSING for place in places]

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """JSON.MSET in a script: alone it passes over a path where there is nothing to set the value in, and sets the others."""
        if not values:
            return self.exists(key)
        # An item must be there itself, and around a field an object.
        needed = [stored(path if isinstance(path[-1], int) else path[:-1]) for path in values]
        settings = [(need, self._written_path(path), written(value)) for need, (path, value) in zip(needed, values.items(), strict=True)]
        return bool(self._script(SET_PATHS, key, *[word for setting in settings for word in setting]) == 1)

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """JSON.NUMINCRBY in a script: it does not begin where nothing is, and its integers wrap."""
        reply = self._script(INCREMENT, key, self._written_path(path), written(by))
        if reply is None:
            return None
        number: int | float = json.loads(reply)[0]
        return number

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """JSON.ARRAPPEND; the script tells an absent record from an absent list."""
        return bool(self._script(PUSH, key, self._written_path(path), written(value)) == 1)

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        return bool(self._script(INSERT, key, self._written_path(path[:-1]), written(value), path[-1]) == 1)

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        return bool(self._script(PULL, key, self._written_path(path), written(value)) == 1)

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """JSON.ARRAPPEND, if no item is equal."""
        return bool(self._script(ADD_TO_SET, key, self._written_path(path), written(value)) == 1)

    def item_count(self, key: Key, path: Path) -> int | Missing:
        try:
            lengths = self._run("JSON.ARRLEN", f"{self._prefix}{key}", stored(path))
        except Refused as reason:
            if "doesn't exist" in str(reason):
                return MISSING
            raise
        return MISSING if not lengths or lengths[0] is None else int(lengths[0])

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """FT.AGGREGATE, or FT.SEARCH where words are to be marked."""
        if query.highlight is not None:
            reply = self._run(*highlighting(query, self._layout))
            return [(self._key(name), {"highlight": fields[1].decode()}) for name, fields in zip(reply[1::2], reply[2::2], strict=True)]
        return [(self._key(row["__key"]), found(query, row)) for row in self._rows(finding(query, self._layout))]

    def count_where(self, where: Where) -> int:
        return _counted(self._rows(counting(where, self._layout)))

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        """FT.AGGREGATE with GROUPBY; of no records it has no group."""
        grouping = Grouping(aggregation, self._layout)
        return [grouping.row(row) for row in self._rows(grouping.command())] or grouping.nothing()

    def browse(self, browse: Browse) -> FacetedPage:
        """FT.AGGREGATE for the total, the page and each facet, in one MULTI: one request, and one state of the data."""
        page = Query(filter=browse.filter, sort=browse.sort, limit=browse.limit or 1, fields=())
        facets = [faceting(facet, browse, self._layout) for facet in browse.facets.values()]
        commands = [counting(browse, self._layout), finding(page, self._layout), *[each for part in facets for each in part]]
        total, keys, *rest = map(_rows, self._session.together(commands))
        counts: dict[str, list[tuple[Json, int]]] = {}
        for (name, facet), part in zip(browse.facets.items(), facets, strict=True):
            rows, others, rest = rest[0], rest[1 : len(part)], rest[len(part) :]
            if any(map(_counted, others)):
                raise Unsupported("RediSearch indexes a list as delimited text, and some items contain the delimiters")
            counts[name] = [facet_value(facet, row) for row in rows]
        return FacetedPage(_counted(total), [self._key(row["__key"]) for row in keys][: browse.limit], counts)

    def _told(self, name: str) -> Any:
        """What FT.INFO says under the name."""
        told = self._run("FT.INFO", self._layout.name)
        return told[told.index(name.encode()) + 1]

    def _rows(self, command: Command) -> list[dict[str, bytes]]:
        return _rows(self._run(*command))

    def _script(self, script: Script, key: Key, *args: Any) -> Any:
        return self._session.script(script, [f"{self._prefix}{key}"], args)

    def _key(self, name: bytes) -> Key:
        text = name[len(self._prefix) :].decode()
        return int(text) if self._numbered else text

    def _stored(self, record: Record) -> str:
        assert isinstance(record, dict)
        return written({"r": {"k": 1, "e": [], **beside(self._layout, record), "d": cast("Json", record)}})

    def _written_path(self, path: Path) -> str:
        if derived(self._layout, path):
            raise Unsupported("the index has an encoded copy of this part, which is written only with the whole record")
        return stored(path)


def _rows(reply: Sequence[Any]) -> list[dict[str, bytes]]:
    """Rows come behind a number that means nothing; null is no value."""
    return [{name.decode(): value for name, value in zip(row[::2], row[1::2], strict=True) if value is not None} for row in reply[1:]]


def _counted(rows: Sequence[Mapping[str, bytes]]) -> int:
    return int(rows[0]["n"]) if rows else 0


def _document(reply: bytes | None) -> dict[str, Json] | None:
    found: list[dict[str, Json]] = json.loads(reply) if reply is not None else []
    return found[0] if found else None
