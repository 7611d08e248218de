"""The order of words in a language: a collation of MongoDB's goes with a whole operation, its comparisons included.

So the filter's comparisons are put into words that no collation changes, as far as there are any, and all keys of the sort must be texts
in the one order, or numbers.
"""

from __future__ import annotations

import re
from typing import Any, Final

from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.model import Document, Integer, Object, Real
from storeproof.spec.query import SEARCHES, And, Comparing, Condition, Filter, Not, Or, Query

_CASE, _MARKS = 3, 2
"""Strengths: letters, their marks and then their case decide; or without the case."""
_ONLY_SORTED: Final = "a collation applies to a whole operation"


def collation_of(query: Query, layout: Layout) -> dict[str, Any] | None:
    """The operation's collation, if the request is sorted by one. Raises `Unsupported`: texts are sorted by more than one."""
    wanted = {(key.collation, key.case) for key in query.sort if key.collation is not None}
    if not wanted:
        return None
    numbers = all(key.collation is not None or _is_number(layout, key.path) for key in query.sort)
    if len(wanted) > 1 or not numbers:
        raise Unsupported(f"{_ONLY_SORTED}, so all sort keys would use it")
    ((language, case),) = wanted
    return {"locale": str(language).replace("-", "_"), "strength": _MARKS if case == "ignored" else _CASE}


def by_code_point(condition: Filter) -> Filter:
    """The filter, with texts compared as if there were no collation: only a regular expression does not know of one.
    Raises `Unsupported`: it asks more of texts than whether they are equal."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return condition.model_copy(update={"parts": tuple(map(by_code_point, parts))})
        case Not(part=part):
            return condition.model_copy(update={"part": by_code_point(part)})
        case Condition(operator="element", value=inner):
            return condition.model_copy(update={"value": by_code_point(inner)})
        case Condition(operator="eq", value=str(text)):
            literal = re.escape(text).replace("\0", r"\x00")
            return condition.model_copy(update={"operator": "regex", "value": rf"^{literal}\z"})
        case Condition(operator="ne", value=str()):
            return Not.model_construct(part=by_code_point(condition.model_copy(update={"operator": "eq"})))
        case Condition(operator="in", value=values):
            each = [by_code_point(condition.model_copy(update={"operator": "eq", "value": value})) for value in values]
            return Or.model_construct(parts=tuple(each))
    if condition.operator in SEARCHES or (condition.operator not in _OF_NO_ORDER and _has_text(condition.value)):
        raise Unsupported(f"{_ONLY_SORTED}, so that `{condition.operator}` would compare texts by it too")
    return condition


_OF_NO_ORDER: Final = frozenset({"exists", "type", "size", "prefix", "contains", "regex", "ieq", "icontains"})


def _is_number(layout: Layout, path: Path) -> bool:
    shape: Any = layout.model.record.shape if isinstance(layout.model.record, Document) else None
    for step in path:
        shape = shape.object.get(str(step)) if isinstance(shape, Object) else None
    return bool(path) and isinstance(shape, (Integer, Real))


def _has_text(value: Any) -> bool:
    if isinstance(value, Comparing):
        return _has_text(value.value)
    if isinstance(value, (list, tuple)):
        return any(map(_has_text, value))
    return isinstance(value, (str, dict))
