"""Indexes on paths of documents, and what Tarantool finds by them.

Without SQL, whose columns do not reach into a map, Tarantool's own query is the select: one index, a key or the first parts of
one, and a direction. So a filter is taken where one live index answers all of it: equalities on its first paths, and bounds on
the next one. It does not look through records that no index names, and does not sort.

A partial index is a functional one, whose function gives no key for the records that are left out (memtx only).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, Protocol

from storeproof.adapters.tarantool.notation import notation
from storeproof.contract import Json, Key, Path, Refused, Unsupported
from storeproof.spec.model import Index
from storeproof.spec.place import PLACES
from storeproof.spec.query import And, Comparing, Condition, Filter, Not, Or, Query, Where

_BOUNDS: Final = frozenset({"lt", "lte", "gt", "gte", "prefix"})

_SCALARS: Final = (bool, int, float, str, Decimal)
"""What an index of the type `scalar` holds, except null: null and nothing are one to it."""


class _Called(Protocol):
    _name: str

    def _call(self, function: str, *args: Any) -> Any: ...


class Indexed:
    """The part of a collection of documents that makes indexes and selects by them."""

    def create_index(self: _Called, index: Index) -> None:
        """space:create_index, which comes back when it is built; of one that is refused nothing is left."""
        parts = [{"field": 2, "type": "scalar", "path": _written(path, index.each), "is_nullable": True} for path in index.paths]
        if index.filter is None:
            self._call("create_index", self._name, index.name, index.unique, parts)
            return
        if index.each:
            raise Unsupported("a partial index needs a functional index, which cannot have a path through a list")
        if not self._call("create_partial", self._name, index.name, index.unique, list(map(list, index.paths)), _tree(index.filter))[0]:
            raise Unsupported("a partial index needs a functional index, which Vinyl does not have")

    def drop_index(self: _Called, name: str) -> bool:
        return bool(self._call("drop_index", self._name, name)[0])

    def index_names(self: _Called) -> Sequence[str]:
        """space.index, without those of `prepare`."""
        return sorted(self._call("index_names", self._name)[0])

    def find(self: _Called, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """index:pairs over the part of the index that matches."""
        if query.ranked or query.highlight:
            raise Unsupported("Tarantool has no text search")
        if query.sort:
            raise Unsupported("Tarantool sorts in SQL, whose columns cannot be inside a map; a select has the order of its index")
        if any(isinstance(part, int) for path in query.fields or () for part in path):
            raise Unsupported("a projection cannot return a list item at its position")
        fields = None if query.fields is None else list(map(list, query.fields))
        found = self._call("find", self._name, _asked(query), query.skip, query.limit, fields)
        if not found:
            raise Unsupported(_NO_INDEX)
        return [(key, {} if record is None else record) for key, record in found[0]]

    def count_where(self: _Called, where: Where) -> int:
        found = self._call("count_where", self._name, _asked(where))
        if not found:
            raise Unsupported(_NO_INDEX)
        return int(found[0])


_NO_INDEX: Final = "Tarantool selects with one index, and no index of the collection covers the whole filter"


def _written(path: Path, each: bool = False) -> str:
    """A path as an index has it, with all items of a list where `each` asks for them."""
    try:
        return notation(path) + ("[*]" if each else "")
    except Refused as reason:
        raise Unsupported(str(reason)) from reason


def _asked(where: Where) -> list[list[Json]]:
    """What is asked of each path: the path, the operator, the value."""
    wanted = _wanted(where.filter)
    if not wanted:
        raise Unsupported("a select without a key uses no index; use `scan` to read all records, `count` to count them")
    return wanted


def _wanted(asked: Filter | None) -> list[list[Json]]:
    if asked is None:
        return []
    if isinstance(asked, And):
        return [each for part in asked.parts for each in _wanted(part)]
    if isinstance(asked, (Or, Not)):
        raise Unsupported(
            f"Tarantool's select knows no `{'or' if isinstance(asked, Or) else 'not'}`: it uses one key or range of one index"
        )
    if asked.operator in PLACES:
        raise Unsupported("Tarantool's RTREE indexes a column with a list of plane coordinates, not a path in a map")
    each = asked.operator == "any"
    operator, value = (asked.value.operator, asked.value.value) if isinstance(asked.value, Comparing) else (asked.operator, asked.value)
    if operator == "eq" or (operator in _BOUNDS and not each):
        if not isinstance(value, _SCALARS):
            raise Unsupported(f"Tarantool's indexes on paths contain scalars only, and treat null as missing; found {value!r}")
        return [[_written(asked.path, each), operator, value]]
    raise Unsupported(f"Tarantool's select has no `{asked.operator}{f' {operator}' if each else ''}`: an index supports a key or a range")


def _tree(asked: Filter) -> list[Any]:
    """The filter of a partial index, of which the store makes a Lua function."""
    if isinstance(asked, Condition):
        if asked.operator != "eq" or not isinstance(asked.value, _SCALARS):
            raise Unsupported(f"a partial index supports only `eq` with scalars; found `{asked.operator}` {asked.value!r}")
        return ["eq", list(asked.path), asked.value]
    if isinstance(asked, Not):
        return ["not", _tree(asked.part)]
    return ["and" if isinstance(asked, And) else "or", *map(_tree, asked.parts)]
