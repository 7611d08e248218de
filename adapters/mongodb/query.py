"""Requests as aggregation pipelines. A pipeline begins with the stages that find the records; all is for documents under `d`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.adapters.mongodb.filter import Stages, at, holds_of_nothing, is_plain, items, matching
from storeproof.adapters.mongodb.geo import DISTANCE, nearest
from storeproof.adapters.mongodb.text import SCORE, narrowed
from storeproof.contract import FacetedPage, Json, Key, Layout, Path, Unsupported
from storeproof.contract.families import Joined
from storeproof.spec.query import SEARCHES, Aggregation, And, Browse, Bucket, Condition, Filter, Measure, Not, Or, Query, SortKey, Where

_DATE: Final = "%Y-%m-%dT%H:%M:%SZ"


def finding(query: Query, layout: Layout) -> Stages:
    """Documents with `d`, or with the wanted parts as `f0`, `f1` ...; a part that is missing is left out."""
    if query.highlight:
        raise Unsupported("$text returns the matching records, not the positions of the words")
    page = [{"$skip": query.skip}] if query.skip else []
    page += [{"$limit": query.limit}] if query.limit else []
    parts = {"d": 1} if query.fields is None else _parts(query.fields)
    return [*_in_order(query, layout), *page, {"$project": {"_id": 1, **parts}}]


def _in_order(query: Query, layout: Layout) -> Stages:
    if not any(key.origin for key in query.sort):
        order = _sorting(query.sort, query.filter, best={SCORE: -1} if query.ranked else None)
        return [*narrowed(query.filter, layout, query.ranked), *order]
    if query.ranked:
        raise Unsupported("a pipeline begins with $geoNear or with $text")
    by_distance = nearest(query.sort, layout, matching(query.filter))
    first, *others = query.sort
    if first.order == "asc" and not others:
        return [by_distance]
    return [by_distance, *_sorting(others, query.filter, best={DISTANCE: 1 if first.order == "asc" else -1})]


def found(query: Query, document: Mapping[str, Any]) -> tuple[Key, dict[str, Json]]:
    """The key, and the record or its parts, each where it was."""
    return document["_id"], document["d"] if query.fields is None else _put_together(query.fields, document)


def joining(query: Query, path: Path, fields: Sequence[Path], layout: Layout) -> Stages:
    """As `finding`, and `joined` is a list with the parts of the record whose key is at the path, if there is one."""
    *stages, last = finding(query, layout)
    # Of a list, $lookup would take every item for a key; and without a key, it looks for null, which no record has.
    named = {"$let": {"vars": {"key": at(path)}, "in": {"$cond": [{"$eq": [{"$type": "$$key"}, "string"]}, "$$key", "$$REMOVE"]}}}
    parts = [{"$project": {"_id": 1, **_parts(fields)}}]
    lookup = {"from": layout.name, "localField": "named", "foreignField": "_id", "pipeline": parts, "as": "joined"}
    return [*stages, {"$set": {"named": named}}, {"$lookup": lookup}, {"$project": {**last["$project"], "joined": 1}}]


def joined(query: Query, fields: Sequence[Path], document: Mapping[str, Any]) -> Joined:
    """The key, what was asked of the record, and what was asked of the one that it names."""
    other = next((_put_together(fields, each) for each in document["joined"]), None)
    return *found(query, document), other


def _parts(fields: Sequence[Path]) -> dict[str, Any]:
    if any(isinstance(part, int) for path in fields for part in path):
        raise Unsupported("a projection cannot return a list item at its position")
    return {f"f{number}": at(path) for number, path in enumerate(fields)}


def _put_together(fields: Sequence[Path], document: Mapping[str, Any]) -> dict[str, Json]:
    record: dict[Any, Any] = {}
    for number, path in enumerate(fields):
        if f"f{number}" in document:
            inner = record
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = document[f"f{number}"]
    return record


def counting(where: Where, layout: Layout) -> Stages:
    """One document with `n`, or none for no records."""
    return [*narrowed(where.filter, layout), {"$count": "n"}]


def _sorting(keys: Sequence[SortKey], condition: Filter | None, root: str = "d.", best: dict[str, int] | None = None) -> Stages:
    """Sorts where MongoDB can by the field itself. It has null and missing below all values; elsewhere they need a field of their own."""
    objects = _objects(condition)
    computed: dict[str, Any] = {}
    order = dict(best or {})
    for number, key in enumerate(keys):
        value: Any = at(key.path, "$d" if root else "$$ROOT") if key.path else "$_id"
        direction = 1 if key.order == "asc" else -1
        if key.nulls and (key.nulls == "first") != (key.order == "asc"):
            computed[f"n{number}"] = {"$eq": [{"$ifNull": [value, None]}, None]}
            order[f"n{number}"] = direction
        if not key.path:
            order.setdefault("_id", direction)
        elif is_plain(key.path) and all(key.path[:depth] in objects for depth in range(1, len(key.path))):
            order.setdefault(root + ".".join(map(str, key.path)), direction)
        else:
            # MongoDB would sort by an item where the path leads through a list; unless the filter has ruled lists out.
            computed[f"s{number}"] = value
            order[f"s{number}"] = direction
    return [*([{"$set": computed}] if computed else []), *([{"$sort": order}] if order else [])]


def _objects(condition: Filter | None) -> set[Path]:
    """Places that are objects wherever the filter holds, since it asks for a value inside."""
    match condition:
        case And(parts=parts):
            return set().union(*map(_objects, parts))
        case Condition(path=path, operator=operator) if is_plain(path) and operator not in SEARCHES and not holds_of_nothing(condition):
            return {path[:depth] for depth in range(1, len(path))}
    return set()


def aggregating(request: Aggregation, layout: Layout) -> Stages:
    """Rows of `g0`, `g1` ... for `by` and `m0`, `m1` ... for `compute`."""
    names = _names(request)
    split: Stages = []
    keys: dict[str, Any] = {}
    for number, bucket in enumerate(request.by.values()):
        stages, keys[f"g{number}"] = _bucket(bucket, f"e{number}")
        split += stages
    measures = {f"m{number}": measure for number, measure in enumerate(request.compute.values())}
    group = {"_id": keys or None, **{name: _accumulated(measure) for name, measure in measures.items()}}
    bounded = [f"_id.g{number}" for number, bucket in enumerate(request.by.values()) if bucket.width or bucket.unit]
    rest: Stages = [{"$match": {name: {"$ne": None} for name in bounded}}] if bounded else []
    if not keys:
        # $group has no group for no records; this one is taken if it is the first.
        empty = {name: _EMPTY.get(measure.function) for name, measure in measures.items()}
        rest = [{"$unionWith": {"pipeline": [{"$documents": [empty]}]}}, {"$limit": 1}]
    row = {**{name: f"$_id.{name}" for name in keys}, **{name: _finished(f"${name}", measure) for name, measure in measures.items()}}
    having = [{"$match": matching(_renamed(request.having, names), "")}] if request.having else []
    sort = _sorting([key.model_copy(update={"path": _row_path(key.path, names)}) for key in request.sort], None, "")
    limit = [{"$limit": request.limit}] if request.limit else []
    first = narrowed(request.filter, layout)
    return [*first, *split, {"$group": group}, *rest, {"$project": {"_id": 0, **row}}, *having, *sort, *limit]


def row_of(request: Aggregation, document: Mapping[str, Any]) -> dict[str, Json]:
    """The row under the names of the request."""
    return {name: document[field] for name, field in _names(request).items()}


def _names(request: Aggregation) -> dict[str, str]:
    """The fields by the request's names, which may be what no field of MongoDB is called."""
    return {name: f"{kind}{number}" for kind, given in (("g", request.by), ("m", request.compute)) for number, name in enumerate(given)}


def _renamed(condition: Filter, names: Mapping[str, str]) -> Filter:
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return condition.model_copy(update={"parts": tuple(_renamed(part, names) for part in parts)})
        case Not(part=part):
            return condition.model_copy(update={"part": _renamed(part, names)})
    return condition.model_copy(update={"path": _row_path(condition.path, names)})


def _row_path(path: Path, names: Mapping[str, str]) -> Path:
    return (names.get(str(path[0]), "absent"), *path[1:]) if path else path


def _bucket(bucket: Bucket, spare: str) -> tuple[Stages, Any]:
    """The stages before the grouping, and the expression to group by; null for no value."""
    value = at(bucket.path)
    if bucket.each:
        distinct = {"$setUnion": [items(value)]}
        return [{"$set": {spare: distinct}}, {"$unwind": f"${spare}"}], f"${spare}"
    if bucket.width is not None:
        lower = {"$multiply": [{"$floor": {"$divide": [value, bucket.width]}}, bucket.width]}
        return [], {"$cond": [{"$isNumber": value}, lower, None]}
    if bucket.unit is not None:
        date = {"$dateFromString": {"dateString": value, "format": _DATE, "onError": None, "onNull": None}}
        return [], {"$dateToString": {"date": {"$dateTrunc": {"date": date, "unit": bucket.unit}}, "format": _DATE}}
    return [], {"$ifNull": [value, None]}


_EMPTY: Final[Mapping[str, Any]] = {"count": 0, "sum": 0, "distinct": [], "percentile": []}
"""What the accumulators have for no records; the others have null."""


def _accumulated(measure: Measure) -> dict[str, Any]:
    value = None if measure.path is None else at(measure.path)
    match measure.function:
        case "count":
            return {"$sum": 1}
        case "distinct":
            return {"$addToSet": value}
        case "percentile":
            return {"$push": {"$cond": [{"$isNumber": value}, value, "$$REMOVE"]}}
    return {f"${measure.function}": value}


def _finished(value: str, measure: Measure) -> Any:
    if measure.function == "distinct":
        return {"$size": {"$setDifference": [value, [None]]}}
    if measure.function == "percentile":
        return _percentile(value, measure)
    return value


def _percentile(values: str, measure: Measure) -> Any:
    """Exact, and known to servers before 7.0; $percentile is neither."""
    ordered = {"$sortArray": {"input": values, "sortBy": 1}}
    size = {"$size": values}
    if measure.kind != "interpolated":
        place = {"$subtract": [{"$ceil": {"$multiply": [measure.share, size]}}, 1]}
        return {"$ifNull": [{"$arrayElemAt": [ordered, place]}, None]}
    below = {"$arrayElemAt": ["$$ordered", {"$floor": "$$place"}]}
    above = {"$arrayElemAt": ["$$ordered", {"$ceil": "$$place"}]}
    part = {"$subtract": ["$$place", {"$floor": "$$place"}]}
    between = {"$add": [below, {"$multiply": [{"$subtract": [above, below]}, part]}]}
    place = {"$multiply": [measure.share, {"$subtract": [size, 1]}]}
    return {"$cond": [{"$eq": [size, 0]}, None, {"$let": {"vars": {"ordered": ordered, "place": place}, "in": between}}]}


def browsing(request: Browse, layout: Layout) -> Stages:
    """One document with `total`, `keys` and the facets as `f0`, `f1` ...: all from one pass over the records."""
    parts: dict[str, Stages] = {"total": [{"$count": "n"}]}
    if request.limit:
        parts["keys"] = [*_sorting(request.sort, request.filter), {"$limit": request.limit}, {"$project": {"_id": 1}}]
    for number, facet in enumerate(request.facets.values()):
        split, key = _bucket(facet, "e")
        counted: Stages = [{"$group": {"_id": key, "n": {"$sum": 1}}}, {"$match": {"$expr": {"$ne": ["$_id", None]}}}]
        limit = [{"$limit": facet.limit}] if facet.limit else []
        parts[f"f{number}"] = [*split, *counted, {"$sort": {"n": -1, "_id": 1}}, *limit]
    return [*narrowed(request.filter, layout), {"$facet": parts}]


def browsed(request: Browse, document: Mapping[str, Any]) -> FacetedPage:
    """The answer. $count has no document for none."""
    facets = {name: [(each["_id"], each["n"]) for each in document[f"f{number}"]] for number, name in enumerate(request.facets)}
    return FacetedPage(sum(each["n"] for each in document["total"]), [each["_id"] for each in document.get("keys", ())], facets)
