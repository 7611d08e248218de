"""Requests of the query language as MarkLogic's structured queries, sort orders, constraints and extractions.

Words are looked for as `marklogic_text` says.

MarkLogic compares at a path by a range index only: what a property query of its universal index finds may stand at any
depth. So every comparison here names a path range index, whose type is that of the model's field; where the database has
none at the path, the server refuses the request. Range indexes know texts and numbers: null, booleans, whole lists and
objects are not in them, nor can they tell a text from a number that is written alike, so a comparison with a value of
another type than the index is `Unsupported` and not "nothing".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from storeproof.adapters.marklogic.text import OPERATORS as WORDS
from storeproof.adapters.marklogic.text import Words
from storeproof.contract import Json, Path, Unsupported
from storeproof.spec import model as shapes
from storeproof.spec.query import And, Condition, Facet, Filter, Not, Or, SortKey

_CODEPOINT: Final = "http://marklogic.com/collation/codepoint"
_OPERATORS: Final = {"eq": "EQ", "ne": "NE", "lt": "LT", "lte": "LE", "gt": "GT", "gte": "GE"}
_EVERYTHING: Final[dict[str, Any]] = {"and-query": {"queries": []}}
_NOTHING: Final[dict[str, Any]] = {"or-query": {"queries": []}}
_LAST_CODE_POINT: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)


@dataclass(frozen=True)
class RangeIndex:
    path: str
    """XPath, as the database's configuration and every query write it alike."""
    type: str
    """`string`, `double` or `long`."""
    many: bool = False
    """Whether a list is at the path: the index then has its items."""

    @property
    def definition(self) -> dict[str, Any]:
        """As an entry of `range-path-index` in the properties of a database. A value of another type is left out, not refused."""
        return {
            "scalar-type": self.type,
            "path-expression": self.path,
            "collation": _CODEPOINT if self.type == "string" else "",
            "range-value-positions": False,
            "invalid-values": "ignore",
        }

    @property
    def reference(self) -> dict[str, Any]:
        """As queries, sort orders and constraints name it."""
        collation = {"collation": _CODEPOINT} if self.type == "string" else {}
        return {"type": f"xs:{self.type}", "path-index": {"text": self.path, "namespaces": ""}, **collation}

    def suits(self, value: Any) -> bool:
        return type(value) is str if self.type == "string" else type(value) in (int, float)

    def value(self, written: Any) -> Json:
        """A value of the index as the record had it, whose whole numbers and reals are equal."""
        return str(written) if self.type == "string" else float(written)


class Translation:
    """The words of one collection: its name is the root property of its documents, so that its index paths are its own."""

    def __init__(self, name: str, model: shapes.Model) -> None:
        self._name = name
        self._record = model.record
        self._words = Words(model)
        self.key = RangeIndex(f"/{name}/key", "string" if model.key == "text" else "long")

    def index(self, path: Path) -> RangeIndex:
        """The range index that a path has or would have.
        Raises `Unsupported`: there can be none: the model does not name the path, or what it names is neither text nor number."""
        if not path:
            return self.key
        found = _type_at(self._record, path)
        if found is None:
            raise Unsupported(f"a range index at {_shown(path)} is not possible: the model has no text or number there")
        return RangeIndex(f"/{self._name}/record/{'/'.join(map(str, path))}", *found)

    def every_index(self) -> list[RangeIndex]:
        """An index on each path of the model that can have one."""
        return [self.index(path) for path in _paths(self._record)]

    def query(self, wanted: Filter | None) -> dict[str, Any]:
        """The structured query of a filter, over the collection's documents."""
        parts: list[Any] = [{"collection-query": {"uri": [self._name]}}]
        if wanted is not None:
            parts.append(self._filter(wanted))
        return {"queries": [{"and-query": {"queries": parts}}]}

    def compared(self, index: RangeIndex, operator: str, *values: Any) -> dict[str, Any]:
        """The documents that have a value in the index for which the comparison holds with one of those given."""
        if wrong := [value for value in values if not index.suits(value)]:
            raise Unsupported(f"the range index {index.path} is of {index.type}; it cannot be compared with {wrong[0]!r}")
        return {"range-query": {**index.reference, "range-operator": _OPERATORS[operator], "value": list(values)}}

    def begins(self, index: RangeIndex, prefix: str) -> dict[str, Any]:
        """The documents whose text in the index begins with another: a range of it, by code point."""
        parts = [self.compared(index, "gte", prefix)]
        if (end := _behind(prefix)) is not None:
            parts.append(self.compared(index, "lt", end))
        return {"and-query": {"queries": parts}}

    def order(self, keys: Sequence[SortKey]) -> list[dict[str, Any]]:
        return [self._sorted(key) for key in keys]

    def extraction(self, fields: Sequence[Path] | None) -> dict[str, Any]:
        """`extract-document-data`: the whole, or the parts where they were."""
        if fields is None:
            return {"selected": "all"}
        return {"selected": "include-with-ancestors", "extract-path": [self.place(path) for path in fields]}

    def place(self, path: Path) -> str:
        """The XPath of a place in a record: `node("x")` is a property's value as it is, where `x` would be a list's items."""
        return f"/{self._name}/record" + "".join(
            f"/node()[{part + 1}]" if isinstance(part, int) else '/node("{}")'.format(part.replace('"', '""')) for part in path
        )

    def facet(self, name: str, facet: Facet) -> dict[str, Any]:
        """A constraint that only counts."""
        if facet.width is not None or facet.unit is not None:
            raise Unsupported("the buckets of a facet must be listed individually")
        index = self.index(facet.path)
        if index.many != facet.each:
            raise Unsupported(f"a facet of a list needs `each`, and only a list can have it: the range index {index.path}")
        limit = [f"limit={facet.limit}"] if facet.limit is not None else []
        return {"name": name, "range": {"facet": True, **index.reference, "facet-option": ["frequency-order", "descending", *limit]}}

    def _filter(self, wanted: Filter) -> dict[str, Any]:
        match wanted:
            case And(parts=parts):
                return {"and-query": {"queries": [self._filter(part) for part in parts]}} if parts else _EVERYTHING
            case Or(parts=parts):
                return {"or-query": {"queries": [self._filter(part) for part in parts]}} if parts else _NOTHING
            case Not(part=part):
                return {"not-query": self._filter(part)}
        return self._condition(wanted)

    def _condition(self, wanted: Condition) -> dict[str, Any]:
        if wanted.operator in WORDS:
            return self._words.query(wanted)
        index, operator, value = self.index(wanted.path), wanted.operator, wanted.value
        if operator == "eq":
            return self.compared(index, "eq", value)
        if operator == "ne":
            return {"not-query": self.compared(index, "eq", value)}
        if operator == "in":
            return self.compared(index, "eq", *value) if value else _NOTHING
        if index.many:
            if operator == "any":
                return self.compared(index, value.operator, value.value)
            if operator == "all" and value:
                return {"and-query": {"queries": [self.compared(index, "eq", each) for each in value]}}
        elif operator in _OPERATORS:
            return self.compared(index, operator, value)
        elif operator == "prefix" and index.type == "string":
            return self.begins(index, value)
        raise Unsupported(f"no range index answers `{operator}` at {_shown(wanted.path)}")

    def _sorted(self, key: SortKey) -> dict[str, Any]:
        index = self.index(key.path)
        if index.many:
            raise Unsupported(f"{_shown(key.path)} is a list and has no single value to sort by")
        if key.nulls is not None:
            raise Unsupported("a sort order cannot specify the position of documents without a value")
        if key.origin is not None:
            raise Unsupported("results can be sorted by values, not by distance")
        if key.collation is not None:
            raise Unsupported("results are sorted in the collation of the range index")
        return {**index.reference, "direction": "ascending" if key.order == "asc" else "descending"}


def search(
    query: Mapping[str, Any],
    results: bool,
    order: Sequence[Mapping[str, Any]],
    extract: Mapping[str, Any] | None,
    facets: Sequence[Mapping[str, Any]],
    *,
    filtered: bool = False,
) -> dict[str, Any]:
    """The body of a search, a combined query.

    It is resolved in the indexes (`unfiltered`) where every part of the query is in one, and so the total is exact.
    """
    options: dict[str, Any] = {
        "search-option": ["filtered" if filtered else "unfiltered"],
        "return-results": results,
        "return-facets": bool(facets),
        "return-metrics": False,
        "transform-results": {"apply": "empty-snippet"},
    }
    optional = {"sort-order": list(order), "extract-document-data": extract, "constraint": list(facets)}
    return {"search": {"query": query, "options": options | {name: value for name, value in optional.items() if value}}}


def _type_at(record: Any, path: Path) -> tuple[str, bool] | None:
    """Type of the index at a path, and whether it is one of items; a list is not passed through."""
    if isinstance(record, shapes.RowRecord):
        return ("double", False) if path in (("integer",), ("real",)) else None
    if isinstance(record, shapes.Hash):
        return ("string", False) if len(path) == 1 and path[0] in record.fields else None
    shape: Any = getattr(record, "shape", None)
    for part in path:
        shape = shape.object.get(part) if isinstance(shape, shapes.Object) and isinstance(part, str) else None
    many = isinstance(shape, shapes.List)
    scalar = _type_of(shape.of if isinstance(shape, shapes.List) else shape)
    return None if scalar is None else (scalar, many)


def _type_of(shape: Any) -> str | None:
    if isinstance(shape, shapes.Text):
        return "string"
    if isinstance(shape, shapes.Integer):
        return "long" if shape.integer == 64 else "double"  # a double has all integers of 53 bits, and takes 6.5 in a comparison
    return "double" if isinstance(shape, shapes.Real) else None


def _paths(record: Any) -> list[Path]:
    """All paths of a model that can have an index."""
    if isinstance(record, shapes.RowRecord):
        return [("integer",), ("real",)]
    if isinstance(record, shapes.Hash):
        return [(field,) for field in record.fields]
    return _inner(record.shape.object, ()) if isinstance(record, shapes.Document) else []


def _inner(fields: Mapping[str, Any], above: Path) -> list[Path]:
    found: list[Path] = []
    for name, shape in fields.items():
        path = (*above, name)
        if isinstance(shape, shapes.Object):
            found.extend(_inner(shape.object, path))
        elif _type_of(shape.of if isinstance(shape, shapes.List) else shape) is not None:
            found.append(path)
    return found


def _behind(prefix: str) -> str | None:
    """The first text, by code point, behind all that begin with another; None if there is none."""
    kept = prefix.rstrip(chr(_LAST_CODE_POINT))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES[1] + 1 if following == _SURROGATES[0] else following)


def _shown(path: Path) -> str:
    return ".".join(map(str, path)) or "the key"
