"""Filters in MongoDB's words: the match language where it says what is meant, so that an index can answer, and expressions.

MongoDB's paths pass through lists and most of its comparisons look at the items of a list; ours do neither, which is what the
conditions on `$type` keep apart. Expressions do not look into lists. They say what the match language cannot: names with a
dot or a `$` in them, positions, and objects whatever the order of their fields. All is for documents under `d`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from storeproof.adapters.mongodb.geo import located
from storeproof.contract import Path, Unsupported
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Or

Stages = list[dict[str, Any]]

_NOT_A_LIST: Final = {"$not": {"$type": "array"}}
_NO_RECORD: Final[dict[str, Any]] = {"$nor": [{}]}
TYPES: Final = {"null": "null", "boolean": "bool", "number": "number", "text": "string", "list": "array", "object": "object"}
_RANGES: Final = frozenset({"lt", "lte", "gt", "gte"})
_PLAIN_NAME: Final = re.compile(r"(?!\$)(?!\d+\Z)[^.\0]+")


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
    if holds_of_nothing(condition):
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
            return _is_native(condition.value) and not holds_of_nothing(condition.value)
        case "eq" | "ne" | "in" | "all":
            return not _has_object(condition.value)
        case "any":
            return not _has_object(condition.value.value)
    return True


def holds_of_nothing(condition: Filter) -> bool:
    """Whether a filter holds on an object without fields."""
    match condition:
        case And(parts=parts):
            return all(map(holds_of_nothing, parts))
        case Or(parts=parts):
            return any(map(holds_of_nothing, parts))
        case Not(part=part):
            return not holds_of_nothing(part)
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
            return [{"$type": "array"} if value == "list" else {"$type": TYPES[value], **_NOT_A_LIST}]
        case "any":
            if value.operator in _RANGES and type(value.value) not in (int, float, str, Decimal):
                return [{"$in": []}]
            return [{"$elemMatch": {f"${value.operator}": value.value}}]
        case "all":
            return [{"$all": [{"$elemMatch": {"$eq": each}} for each in value]} if value else {"$type": "array"}]
        case "size":
            return [{"$size": value}]
        case "element":
            return [{"$elemMatch": matching(value, "")}]
        case "near" | "within_box" | "within_polygon":
            return located(operator, value)
    regex, options = pattern(operator, value)
    return [{"$regex": regex, "$options": options, **_NOT_A_LIST}]


def _equal_test(value: Any) -> dict[str, Any]:
    """MongoDB's own equality, which also finds a list that has a single value as an item; but a list is itself, and null not missing."""
    if isinstance(value, (list, tuple)):
        return {"$eq": value, "$not": {"$elemMatch": {"$eq": value}}}
    return {"$type": "null"} if value is None else {"$eq": value}


def pattern(operator: str, value: str) -> tuple[str, str]:
    r"""A regular expression and its options. `\z` is the end itself; `$` would be before a last line break as well."""
    if operator in SEARCHES:
        raise Unsupported(f"MongoDB allows $text only at the top level of a filter, so `{operator}` can only be combined with `and`")
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
            return {"$and": [type(wanted) in (int, float, str, Decimal), comparable, {f"${operator}": [value, {"$literal": wanted}]}]}
        case "in":
            return {"$or": [_equals_or_has(value, each) for each in wanted]}
        case "exists":
            return {"$ne" if wanted else "$eq": [kind, "missing"]}
        case "type":
            return {"$isNumber": value} if wanted == "number" else {"$eq": [kind, TYPES[wanted]]}
        case "any":
            return _any(value, _tested("$$item", wanted.operator, wanted.value))
        case "all":
            return {"$and": [{"$isArray": [value]}, *(_any(value, equals("$$item", each)) for each in wanted)]}
        case "size":
            return {"$and": [{"$isArray": [value]}, {"$eq": [{"$size": items(value)}, wanted]}]}
        case "element":
            return _any(value, {"$and": [{"$eq": [{"$type": "$$item"}, "object"]}, _holds(wanted, "$$item")]})
        case "near" | "within_box" | "within_polygon":
            raise Unsupported(f"`{operator}` is one of MongoDB's match language, which has no notation for this path")
    regex, options = pattern(operator, wanted)
    text = {"$cond": [{"$eq": [kind, "string"]}, value, None]}  # on null, $regexMatch is false
    return {"$regexMatch": {"input": text, "regex": {"$literal": regex}, "options": options}}


def _equals_or_has(value: Any, wanted: Any) -> dict[str, Any]:
    """As the match language has it: of a single value also where it is an item of a list."""
    if isinstance(wanted, (dict, list, tuple)):
        return equals(value, wanted)
    return {"$or": [equals(value, wanted), {"$in": [{"$literal": wanted}, items(value)]}]}


def _any(value: Any, test: Any) -> dict[str, Any]:
    return {"$anyElementTrue": [{"$map": {"input": items(value), "as": "item", "in": test}}]}


def items(value: Any) -> dict[str, Any]:
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
