"""Requests in MongoDB's words: the match language where it says what is meant, so that an index can answer, and aggregation.

MongoDB's paths pass through lists and most of its comparisons look at the items of a list; ours do neither, which is what the
conditions on `$type` keep apart. Expressions do not look into lists. They say what the match language cannot: names with a
dot or a `$` in them, positions, and objects whatever the order of their fields. All is for documents under `d`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.contract import Found, Json, Key, Path, Unsupported
from storeproof.spec.query import Aggregation, And, Browse, Bucket, Condition, Filter, Measure, Not, Or, Query, SortKey

Stages = list[dict[str, Any]]

_NOT_A_LIST: Final = {"$not": {"$type": "array"}}
_NO_RECORD: Final[dict[str, Any]] = {"$nor": [{}]}
_TYPES: Final = {"null": "null", "boolean": "bool", "number": "number", "text": "string", "list": "array", "object": "object"}
_RANGES: Final = frozenset({"lt", "lte", "gt", "gte"})
_PLAIN_NAME: Final = re.compile(r"(?!\$)(?!\d+\Z)[^.\0]+")
_DATE: Final = "%Y-%m-%dT%H:%M:%SZ"


def matching(condition: Filter | None, root: str = "d.") -> dict[str, Any]:
    """The match document. `root` precedes the paths; without it they start at the record's top, or at a list's item."""
    match condition:
        case None:
            return {}
        case And(parts=parts):
            return {"$and": [matching(part, root) for part in parts]} if parts else {}
        case Or(parts=parts):
            return {"$or": [matching(part, root) for part in parts]} if parts else _NO_RECORD
        case Not(part=part):
            return {"$nor": [matching(part, root)]}
    if not _is_native(condition):
        return {"$expr": _holds(condition, "$d" if root else "$$ROOT")}
    if _holds_of_nothing(condition):
        opposite = {"operator": "eq"} if condition.operator == "ne" else {"value": True}
        return {"$nor": [matching(condition.model_copy(update=opposite), root)]}
    tests = _tests(condition.operator, condition.value)
    place = root + ".".join(map(str, condition.path))
    above = {root + ".".join(map(str, condition.path[:depth])): _NOT_A_LIST for depth in range(1, len(condition.path))}
    return {"$or": [{place: test, **above} for test in tests]} if len(tests) > 1 else {place: tests[0], **above}


def settable(path: Path) -> dict[str, Any]:
    """The match document for records in which `$set` can set the path's last part without making its parents."""
    if isinstance(path[-1], int):
        return matching(Condition(path=path, operator="exists", value=True))
    return matching(Condition(path=path[:-1], operator="type", value="object")) if len(path) > 1 else {}


def is_plain(path: Path) -> bool:
    """Whether the match language has a notation for the path, which cannot be read as a position in a list."""
    return bool(path) and all(isinstance(part, str) and _PLAIN_NAME.fullmatch(part) for part in path)


def _is_native(condition: Filter) -> bool:
    """Whether the match language can say it: within `$elemMatch` there are no expressions."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return all(map(_is_native, parts))
        case Not(part=part):
            return _is_native(part)
    if not is_plain(condition.path):
        return False
    match condition.operator:
        case "element":
            # To `$elemMatch` an item that is a list is an object without the names that are asked for.
            return _is_native(condition.value) and not _holds_of_nothing(condition.value)
        case "eq" | "ne" | "in" | "all":
            return not _has_object(condition.value)
        case "any":
            return not _has_object(condition.value.value)
    return True


def _holds_of_nothing(condition: Filter) -> bool:
    """Whether a filter holds on an object without fields."""
    match condition:
        case And(parts=parts):
            return all(map(_holds_of_nothing, parts))
        case Or(parts=parts):
            return any(map(_holds_of_nothing, parts))
        case Not(part=part):
            return not _holds_of_nothing(part)
    return condition.operator == "ne" or (condition.operator == "exists" and not condition.value)


def _has_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, (list, tuple)) and any(map(_has_object, value)))


def _tests(operator: str, value: Any) -> list[dict[str, Any]]:
    """The operators of a native condition, of which one set must hold."""
    match operator:
        case "eq":
            return [_equal_test(value)]
        case "in":
            simple = [each for each in value if type(each) in (bool, int, float, str)]
            return [{"$in": simple}, *(_equal_test(each) for each in value if type(each) not in (bool, int, float, str))]
        case "lt" | "lte" | "gt" | "gte":
            return [{f"${operator}": value, **_NOT_A_LIST}]
        case "exists":
            return [{"$exists": True}]
        case "type":
            return [{"$type": "array"} if value == "list" else {"$type": _TYPES[value], **_NOT_A_LIST}]
        case "any":
            if value.operator in _RANGES and type(value.value) not in (int, float, str):
                return [{"$in": []}]
            return [{"$elemMatch": {f"${value.operator}": value.value}}]
        case "all":
            return [{"$all": [{"$elemMatch": {"$eq": each}} for each in value]} if value else {"$type": "array"}]
        case "size":
            return [{"$size": value}]
        case "element":
            return [{"$elemMatch": matching(value, "")}]
    pattern, options = _pattern(operator, value)
    return [{"$regex": pattern, "$options": options, **_NOT_A_LIST}]


def _equal_test(value: Any) -> dict[str, Any]:
    """MongoDB's own equality, which also finds a list that has a single value as an item; but a list is itself, and null not missing."""
    if isinstance(value, (list, tuple)):
        return {"$eq": value, "$not": {"$elemMatch": {"$eq": value}}}
    return {"$type": "null"} if value is None else {"$eq": value}


def _pattern(operator: str, value: str) -> tuple[str, str]:
    r"""A regular expression and its options. `\z` is the end itself; `$` would be before a last line break as well."""
    literal = re.escape(value).replace("\0", r"\x00")
    return {
        "regex": (value, ""),
        "prefix": ("^" + literal, ""),
        "contains": (literal, ""),
        "icontains": (literal, "i"),
        "ieq": ("^" + literal + r"\z", "i"),
    }[operator]


def _holds(condition: Filter, root: str) -> dict[str, Any]:
    """The expression for whether an object is in a filter."""
    match condition:
        case And(parts=parts):
            return {"$and": [_holds(part, root) for part in parts]}
        case Or(parts=parts):
            return {"$or": [_holds(part, root) for part in parts]}
        case Not(part=part):
            return {"$not": [_holds(part, root)]}
    value = at(condition.path, root)
    if condition.operator in ("eq", "ne"):
        same = _equals_or_has(value, condition.value)
        return same if condition.operator == "eq" else {"$not": [same]}
    return _tested(value, condition.operator, condition.value)


def _tested(value: Any, operator: str, wanted: Any) -> dict[str, Any]:
    """The expression for whether a comparison holds."""
    kind = {"$type": value}
    match operator:
        case "eq":
            return equals(value, wanted)
        case "ne":
            return {"$not": [equals(value, wanted)]}
        case "lt" | "lte" | "gt" | "gte":
            comparable = {"$eq": [kind, "string"]} if isinstance(wanted, str) else {"$isNumber": value}
            return {"$and": [type(wanted) in (int, float, str), comparable, {f"${operator}": [value, {"$literal": wanted}]}]}
        case "in":
            return {"$or": [_equals_or_has(value, each) for each in wanted]}
        case "exists":
            return {"$ne" if wanted else "$eq": [kind, "missing"]}
        case "type":
            return {"$isNumber": value} if wanted == "number" else {"$eq": [kind, _TYPES[wanted]]}
        case "any":
            return _any(value, _tested("$$item", wanted.operator, wanted.value))
        case "all":
            return {"$and": [{"$isArray": [value]}, *(_any(value, equals("$$item", each)) for each in wanted)]}
        case "size":
            return {"$and": [{"$isArray": [value]}, {"$eq": [{"$size": _items(value)}, wanted]}]}
        case "element":
            return _any(value, {"$and": [{"$eq": [{"$type": "$$item"}, "object"]}, _holds(wanted, "$$item")]})
    pattern, options = _pattern(operator, wanted)
    text = {"$cond": [{"$eq": [kind, "string"]}, value, None]}  # on null, $regexMatch is false
    return {"$regexMatch": {"input": text, "regex": {"$literal": pattern}, "options": options}}


def _equals_or_has(value: Any, wanted: Any) -> dict[str, Any]:
    """As the match language has it: of a single value also where it is an item of a list."""
    if isinstance(wanted, (dict, list, tuple)):
        return equals(value, wanted)
    return {"$or": [equals(value, wanted), {"$in": [{"$literal": wanted}, _items(value)]}]}


def _any(value: Any, test: Any) -> dict[str, Any]:
    return {"$anyElementTrue": [{"$map": {"input": _items(value), "as": "item", "in": test}}]}


def _items(value: Any) -> dict[str, Any]:
    return {"$cond": [{"$isArray": [value]}, value, []]}


def at(path: Path, root: str = "$d") -> Any:
    """The expression for the value at a path; names are literal, whatever is in them, and lists are not passed through."""
    if root == "$d" and is_plain(path):
        places = ["$d." + ".".join(map(str, path[: depth + 1])) for depth in range(len(path))]
        above = [{"$isArray": [place]} for place in places[:-1]]
        return {"$cond": [{"$or": above}, "$$REMOVE", places[-1]]} if above else places[-1]
    value: Any = root
    for part in path:
        value = _item(value, part) if isinstance(part, int) else _field(value, part)
    return value


def _field(value: Any, name: str) -> Any:
    """The field of an object; of anything else, missing. Left alone, $getField answers null for a field of null."""
    return {"$getField": {"field": {"$literal": name}, "input": {"$ifNull": [value, {}]}}}


def _item(value: Any, position: int) -> Any:
    there = {"$and": [{"$isArray": ["$$list"]}, position >= 0]}
    return {"$let": {"vars": {"list": value}, "in": {"$cond": [there, {"$arrayElemAt": ["$$list", position]}, "$$REMOVE"]}}}


def equals(value: Any, expected: Any) -> dict[str, Any]:
    """The expression that is true where a value has the same fields or items, in objects in whatever order."""
    if isinstance(expected, dict):
        size = {"$size": {"$objectToArray": "$$it"}}
        parts = [equals(_field("$$it", name), each) for name, each in expected.items()]
        same = {"$and": [{"$eq": [{"$type": "$$it"}, "object"]}, {"$eq": [size, len(expected)]}, *parts]}
    elif isinstance(expected, (list, tuple)):
        parts = [equals({"$arrayElemAt": ["$$it", position]}, each) for position, each in enumerate(expected)]
        same = {"$and": [{"$isArray": ["$$it"]}, {"$eq": [{"$size": "$$it"}, len(expected)]}, *parts]}
    else:
        return {"$eq": [value, {"$literal": expected}]}
    return {"$let": {"vars": {"it": value}, "in": same}}


def finding(query: Query) -> Stages:
    """Documents with `d`, or with the wanted parts as `f0`, `f1` ...; a part that is missing is left out."""
    if any(isinstance(part, int) for path in query.fields or () for part in path):
        raise Unsupported("a list's item has no place of its own in a part of a document")
    page = [{"$skip": query.skip}] if query.skip else []
    page += [{"$limit": query.limit}] if query.limit else []
    parts = {"d": 1} if query.fields is None else {f"f{number}": at(path) for number, path in enumerate(query.fields)}
    return [{"$match": matching(query.filter)}, *_sorting(query.sort, query.filter), *page, {"$project": {"_id": 1, **parts}}]


def found(query: Query, document: Mapping[str, Any]) -> tuple[Key, dict[str, Json]]:
    """The key, and the record or its parts, each where it was."""
    if query.fields is None:
        return document["_id"], document["d"]
    record: dict[Any, Any] = {}
    for number, path in enumerate(query.fields):
        if f"f{number}" in document:
            inner = record
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = document[f"f{number}"]
    return document["_id"], record


def _sorting(keys: Sequence[SortKey], condition: Filter | None, root: str = "d.") -> Stages:
    """Sorts where MongoDB can by the field itself. It has null and missing below all values; elsewhere they need a field of their own."""
    objects = _objects(condition)
    computed: dict[str, Any] = {}
    order: dict[str, int] = {}
    for number, key in enumerate(keys):
        value: Any = at(key.path, "$d" if root else "$$ROOT") if key.path else "$_id"
        direction = 1 if key.order == "asc" else -1
        if key.nothing and (key.nothing == "first") != (key.order == "asc"):
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
        case Condition(path=path) if is_plain(path) and not _holds_of_nothing(condition):
            return {path[:depth] for depth in range(1, len(path))}
    return set()


def aggregating(request: Aggregation) -> Stages:
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
    return [{"$match": matching(request.filter)}, *split, {"$group": group}, *rest, {"$project": {"_id": 0, **row}}, *having, *sort, *limit]


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
        distinct = {"$setUnion": [_items(value)]}
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
        # Exact, and known to servers before 7.0; $percentile is neither.
        place = {"$subtract": [{"$ceil": {"$multiply": [measure.share, {"$size": value}]}}, 1]}
        return {"$ifNull": [{"$arrayElemAt": [{"$sortArray": {"input": value, "sortBy": 1}}, place]}, None]}
    return value


def browsing(request: Browse) -> Stages:
    """One document with `total`, `keys` and the facets as `f0`, `f1` ...: all from one pass over the records."""
    parts: dict[str, Stages] = {"total": [{"$count": "n"}]}
    if request.limit:
        parts["keys"] = [*_sorting(request.sort, request.filter), {"$limit": request.limit}, {"$project": {"_id": 1}}]
    for number, facet in enumerate(request.facets.values()):
        split, key = _bucket(facet, "e")
        counted: Stages = [{"$group": {"_id": key, "n": {"$sum": 1}}}, {"$match": {"$expr": {"$ne": ["$_id", None]}}}]
        limit = [{"$limit": facet.limit}] if facet.limit else []
        parts[f"f{number}"] = [*split, *counted, {"$sort": {"n": -1, "_id": 1}}, *limit]
    return [{"$match": matching(request.filter)}, {"$facet": parts}]


def browsed(request: Browse, document: Mapping[str, Any]) -> Found:
    """The answer. $count has no document for none."""
    facets = {name: [(each["_id"], each["n"]) for each in document[f"f{number}"]] for number, name in enumerate(request.facets)}
    return Found(sum(each["n"] for each in document["total"]), [each["_id"] for each in document.get("keys", ())], facets)
