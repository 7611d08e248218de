"""The query language's requests as FT.AGGREGATE and FT.SEARCH. Pure: commands as lists of words, and what their replies mean.

In dialect 3 a loaded value is answered as the JSON of what its path leads to, a list. RediSearch prints the doubles that it computes
itself with twelve digits; so that none is lost, a computed number comes in three parts, which are exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from storeproof.adapters.redis_stack.filter import Selection, load
from storeproof.adapters.redis_stack.path import DOCUMENT, asked, inside, of_type, stored, there
from storeproof.contract import Json, Layout, Path, Unsupported
from storeproof.spec.query import Aggregation, And, Bucket, Condition, Facet, Filter, Measure, Not, Or, Query, SortKey, Where

Command = list[Any]

_MANY: Final = (1 << 31) - 1
"""Without a limit of its own, what is sorted ends after ten."""
_PART: Final = 1 << 32
_UNITS: Final = {"year": (4, "-01-01T00:00:00Z"), "month": (7, "-01T00:00:00Z"), "day": (10, "T00:00:00Z"), "hour": (13, ":00:00Z")}
"""How much of a date's text names its unit, and what makes that the unit's first second."""
_SIGNS: Final = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_SPLIT: Final = "[,\\u0022\\u005B\\u005D\\u005C]"
"""What an item must not have in it to be told from its neighbours in the text of a list."""


def _command(layout: Layout, selection: Selection, steps: Command, dialect: int = 3, scored: bool = False) -> Command:
    """No time limit: beyond one RediSearch answers what it has, and does not say so. The client has one."""
    first = ["FT.AGGREGATE", layout.name, selection.query, *(["ADDSCORES"] if scored else []), *selection.language]
    return [*first, *selection.steps, *steps, "TIMEOUT", 0, *selection.parameters, "DIALECT", dialect]


def counting(where: Where, layout: Layout) -> Command:
    """One row with `n`; none where nothing matches."""
    return _command(layout, Selection(layout).narrow(where.filter), ["GROUPBY", 0, "REDUCE", "COUNT", 0, "AS", "n"])


def finding(query: Query, layout: Layout) -> Command:
    """Rows of `__key`, and of `d`, the document, or of the `p0`, `p1` ... that are asked for."""
    selection = Selection(layout).narrow(query.filter)
    if query.ranked and not selection.searched:
        raise Unsupported("only what a text search finds can be ranked")
    order = ["SORTBY", 2, "@__score", "DESC"] if query.ranked else _sorting(query.sort, selection)
    page = ["LIMIT", query.skip, query.limit or _MANY] if order or query.skip or query.limit else []
    parts = (
        {DOCUMENT: "d"}
        if query.fields is None
        else {path: name for place, each in enumerate(query.fields) for path, name in _part(each, place)}
    )
    return _command(layout, selection, ["LOAD", 1, "@__key", *order, *page, *load(parts)], scored=query.ranked)


def _part(path: Path, place: int) -> list[tuple[str, str]]:
    """An empty list is not loaded: that there is one is asked for itself."""
    if any(isinstance(part, int) for part in path):
        raise Unsupported("a projection cannot return a list item at its position")
    return [(stored(path), f"p{place}"), (asked(f'{inside(path)}==@["e"]'), f"e{place}")]


def found(query: Query, row: Mapping[str, bytes]) -> dict[str, Json]:
    """The document, or its parts where they were."""
    if query.fields is None:
        whole: dict[str, Json] = json.loads(row["d"])[0]
        return whole
    parts: dict[str, Json] = {}
    for place, path in enumerate(query.fields):
        if f"p{place}" in row or f"e{place}" in row:
            node: Any = parts
            for name in path[:-1]:
                node = node.setdefault(name, {})
            node[path[-1]] = json.loads(row[f"p{place}"])[0] if f"p{place}" in row else []
    return parts


def highlighting(query: Query, layout: Layout) -> Command:
    """FT.SEARCH: keys, each with the text. It cannot filter what it finds, nor answer documents beside."""
    selection = Selection(layout).narrow(query.filter)
    assert query.highlight is not None
    if query.highlight not in layout.model.text or not selection.searched or selection.steps or query.sort or query.fields != ():
        raise Unsupported("FT.SEARCH highlights words only in indexed text, and filters only by the index")
    field = f"w{layout.model.text.index(tuple(map(str, query.highlight)))}"
    marked = ["RETURN", 1, field, "HIGHLIGHT", "FIELDS", 1, field, "TAGS", "<b>", "</b>", *selection.language]
    return ["FT.SEARCH", layout.name, selection.query, *marked, "LIMIT", query.skip, query.limit or 1_000_000, "TIMEOUT", 0, "DIALECT", 2]


def _sorting(keys: Sequence[SortKey], selection: Selection) -> Command:
    applied, order = [], []
    for number, key in enumerate(keys):
        if key.collation is not None:
            raise Unsupported("RediSearch sorts text by bytes and has no language-specific collations")
        if not key.path:
            order += ["@__key", key.order.upper()]
            continue
        if key.origin is not None:
            known, distance = selection.distance(key.path, *map(float, key.origin))
            selection.also(known)
            applied += ["APPLY", distance, "AS", f"o{number}"]
            order += [f"@o{number}", key.order.upper()]
            continue
        value = selection.name(_valued(key.path))
        if key.nulls is not None:
            applied += ["APPLY", f"exists({value})", "AS", f"s{number}"]
            order += [f"@s{number}", "ASC" if key.nulls == "first" else "DESC"]
        order += [value, key.order.upper()]
    return [*applied, "SORTBY", len(order), *order] if order else []


def _valued(path: Path) -> str:
    """The path to a value that is not null."""
    return f"$[?({inside(path)}!=null)]" + stored(path)[len('$["r"]') :]


def _numeric(path: Path) -> str:
    """The path to a number."""
    return f"$[?({of_type(inside(path), 'number')})]" + stored(path)[len('$["r"]') :]


def _textual(path: Path) -> str:
    return f"$[?({of_type(inside(path), 'text')})]" + stored(path)[len('$["r"]') :]


class Grouping:
    """Groups under the names `g0`, `g1` ..., and what is computed of them as `m0`, `m1` ..."""

    def __init__(self, request: Aggregation, layout: Layout) -> None:
        if not request.by and (request.having is not None or request.sort):
            raise Unsupported("RediSearch has no group for missing values, which this condition or sort order needs")
        self._request = request
        self._layout = layout
        self._selection = Selection(layout).narrow(request.filter)
        self._applied: Command = []
        self._reduced: Command = []
        self._finished: Command = []
        self._names = {name: f"g{number}" for number, name in enumerate(request.by)}
        self._keys: dict[str, str] = {}
        self._names |= {name: f"m{number}" for number, name in enumerate(request.compute)}

    def command(self) -> Command:
        request = self._request
        self._keys = {name: self._key(bucket, self._names[name]) for name, bucket in request.by.items()}
        for name, measure in request.compute.items():
            self._measure(measure, self._names[name])
        having = ["FILTER", self._having(request.having)] if request.having is not None else []
        order: Command = []
        for key in request.sort:
            if key.nulls is not None:
                raise Unsupported("in groups RediSearch does not distinguish null from a value")
            order += [self._named(key.path), key.order.upper()]
        sort = ["SORTBY", len(order), *order] if order else []
        limit = ["LIMIT", 0, request.limit or _MANY] if order or request.limit else []
        grouped = ["GROUPBY", len(self._keys), *self._keys.values(), *self._reduced, *self._finished]
        return _command(self._layout, self._selection, [*self._applied, *grouped, *having, *sort, *limit])

    def row(self, row: Mapping[str, bytes]) -> dict[str, Json]:
        request = self._request
        groups = {name: _group_value(bucket, row.get(self._keys[name][1:])) for name, bucket in request.by.items()}
        return groups | {name: _computed(measure, self._names[name], row) for name, measure in request.compute.items()}

    def nothing(self) -> list[dict[str, Json]]:
        """What the groups of no records are: without `by`, one."""
        none: dict[str, Json] = {
            name: 0 if each.function in ("count", "distinct", "sum") else None for name, each in self._request.compute.items()
        }
        return [] if self._request.by else [none]

    def _key(self, bucket: Bucket, name: str) -> str:
        if bucket.each:
            raise Unsupported("RediSearch groups by list items only as parts of a text; only facets do that here")
        value, expression = _bucket(bucket, self._selection)
        if not expression:
            return value
        self._applied += ["APPLY", expression, "AS", name]
        return f"@{name}"

    def _measure(self, measure: Measure, name: str) -> None:
        if measure.function == "count":
            self._reduced += ["REDUCE", "COUNT", 0, "AS", name]
            return
        assert measure.path is not None
        if measure.function == "percentile":
            raise Unsupported("RediSearch's QUANTILE is an estimate")
        if measure.function == "distinct":
            self._reduced += ["REDUCE", "COUNT_DISTINCT", 1, self._selection.name(_valued(measure.path)), "AS", name]
        elif measure.function in ("min", "max"):
            value = self._selection.name(_valued(measure.path))
            by = ["BY", value, "ASC" if measure.function == "min" else "DESC"]
            self._reduced += ["REDUCE", "FIRST_VALUE", 4, value, *by, "AS", name]
        else:
            value = self._selection.name(_numeric(measure.path))
            self._applied += ["APPLY", f"exists({value})", "AS", f"{name}_there"]
            self._reduced += ["REDUCE", "SUM", 1, f"@{name}_there", "AS", f"{name}_n"]
            # AVG counts what has no number too.
            self._reduced += ["REDUCE", "SUM", 1, value, "AS", f"{name}_s"]
            # Not the sum itself: what APPLY only takes over is not sorted by.
            self._apply(f"@{name}_s/@{name}_n" if measure.function == "avg" else f"@{name}_s+0", name)
            self._apply(f"floor(@{name})", f"{name}_0")
            self._apply(f"(@{name}-@{name}_0)*{_PART}", f"{name}_f")
            self._apply(f"floor(@{name}_f)", f"{name}_1")
            self._apply(f"(@{name}_f-@{name}_1)*{_PART}", f"{name}_2")

    def _apply(self, expression: str, name: str) -> None:
        self._finished += ["APPLY", expression, "AS", name]

    def _named(self, path: Path) -> str:
        name = str(path[0]) if len(path) == 1 else ""
        if name not in self._names:
            raise Unsupported("groups have only their named values")
        return self._keys.get(name, f"@{self._names[name]}")

    def _having(self, node: Filter) -> str:
        """An expression on the groups. It compares their keys as texts, and everything else as numbers."""
        if isinstance(node, Not):
            return f"!({self._having(node.part)})"
        if isinstance(node, (And, Or)):
            sign = " && " if isinstance(node, And) else " || "
            return "(" + (sign.join(self._having(part) for part in node.parts) or ("1==1" if isinstance(node, And) else "1==2")) + ")"
        return self._compared(node)

    def _compared(self, condition: Condition) -> str:
        value, wanted, sign = self._named(condition.path), condition.value, _SIGNS.get(condition.operator)
        measure = self._request.compute.get(str(condition.path[0]))
        if measure is None and isinstance(wanted, str) and sign in ("==", "!=") and not set(wanted) & {'"', "\\"}:
            return f'format("%s",{value}){sign}"{wanted}"'
        if measure is not None and measure.function in ("count", "distinct", "sum") and sign and type(wanted) in (int, float):
            return f"{value}{sign}{wanted!r}"
        raise Unsupported(
            f"in groups RediSearch compares counts and sums with numbers, and keys with plain text, not with `{condition.operator}`"
        )


def _bucket(bucket: Bucket, selection: Selection) -> tuple[str, str]:
    """The value to group by, and the expression that makes the key of it, if it is not the key itself."""
    if bucket.width is not None:
        value = selection.name(_numeric(bucket.path))
        selection.also(f"exists({value})")
        return value, f"floor({value}/{bucket.width!r})*{bucket.width!r}"
    if bucket.unit is not None:
        value = selection.name(_textual(bucket.path))
        selection.also(f"exists({value})")
        length, rest = _UNITS[bucket.unit]
        return value, f'format("%s{rest}",substr(format("%s",{value}),0,{length}))'
    return selection.name(_valued(bucket.path)), ""


def faceting(facet: Facet, where: Where, layout: Layout) -> list[Command]:
    """Rows of `v` and `n`; and for a facet of items a second command, a count that must be nothing.

    GROUPBY takes a list apart only if `split` has made it, of the list's text, as dialect 2 loads it. That is right for texts without
    the signs of that notation; what else there is is counted.
    """
    selection = Selection(layout).narrow(where.filter)
    count: Command = ["REDUCE", "COUNT", 0, "AS", "n"]
    applied: Command = []
    dialect = 3
    if facet.each:
        items = stored(facet.path)
        value = selection.name(items)
        selection.also(f"exists({selection.name(asked(there(inside((*facet.path, 0)))))})")
        applied = ["LOAD", 1, "@__key", "APPLY", f"split({value},',','[]\"')", "AS", "v"]
        count, dialect = ["REDUCE", "COUNT_DISTINCT", 1, "@__key", "AS", "n"], 2
    else:
        value, expression = _bucket(facet, selection)
        selection.also(f"exists({value})")
        applied = ["APPLY", expression, "AS", "v"] if expression else []
    key = value if not applied else "@v"
    order = ["SORTBY", 4, "@n", "DESC", key, "ASC", "LIMIT", 0, facet.limit or _MANY]
    commands = [_command(layout, selection, [*applied, "GROUPBY", 1, key, *count, *order], dialect)]
    if facet.each:
        others = Selection(layout).narrow(where.filter)
        other = "||".join([f'@=~"{_SPLIT}|^$"', *(of_type("@", kind) for kind in ("null", "boolean", "number"))])
        nested = [f"exists({others.name(path)})" for path in (f"{items}[?({other})]", f"{items}[0:][0:]", f"{items}[0:].*")]
        others.also(" || ".join(nested))
        commands.append(_command(layout, others, ["GROUPBY", 0, "REDUCE", "COUNT", 0, "AS", "n"]))
    return commands


def facet_value(facet: Facet, row: Mapping[str, bytes]) -> tuple[Json, int]:
    """A value, and how many have it."""
    count = int(row["n"])
    (written,) = (each for name, each in row.items() if name != "n")
    return written.decode() if facet.each else _group_value(facet, written), count


def _group_value(bucket: Bucket, written: bytes | None) -> Json:
    if written is None:
        return None
    if bucket.width is not None:
        return float(written)
    if bucket.unit is not None:
        return written.decode()
    value: Json = json.loads(written)[0]
    return value


def _computed(measure: Measure, name: str, row: Mapping[str, bytes]) -> Json:
    if measure.function in ("count", "distinct"):
        return int(row[name])
    if measure.function in ("min", "max"):
        written = row.get(name)
        return None if written is None else json.loads(written)[0]
    if int(row[f"{name}_n"]) == 0:
        return 0 if measure.function == "sum" else None
    parts = [Fraction(row[f"{name}_{number}"].decode()) for number in range(3)]
    return float(parts[0] + parts[1] / _PART + parts[2] / _PART / _PART)
