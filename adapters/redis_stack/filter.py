"""The query language's filters, as RediSearch and RedisJSON take them together. Pure: nothing is sent.

* What an index knows is asked in the query: the words of the texts, and equal values and ranges of the fields that carry an index. The
  latter only narrow; the whole condition is asked once more of what they leave, since the index keeps doubles, and tags that it trims.
* All else is asked of each document that is left. RedisJSON tests it by JSONPath, whose paths lead to a 1 or to nowhere: `LOAD` fetches
  these, `exists()` has the two values of truth that the query language has, and `FILTER` combines them. What is tested never leaves the
  server's process, and a value's type decides as it should, which RediSearch's own comparisons do not care about.
"""

from __future__ import annotations

import re
from typing import Any, Final

from storeproof.adapters.redis_stack.path import asked, compared, equal, inside, item_test, matched, of_type, stored, there, whole
from storeproof.adapters.redis_stack.text import Texts, polygons
from storeproof.contract import Layout, Path, Unsupported
from storeproof.spec.place import boxes
from storeproof.spec.query import SEARCHES, And, Condition, Filter, Not, Or, conjuncts

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:\-]{1,128}")
"""Texts that a tag holds as they are: nothing to trim or to cut off."""

_NOT: Final = "1==2"
_ALL: Final = "1==1"


class Selection:
    """What an aggregation begins with: its query, and what it loads and filters by."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._texts = Texts(layout)
        self._names: dict[str, str] = {}
        self._clauses: list[str] = []
        self._tests: list[str] = []
        self._polygons = 0

    def narrow(self, node: Filter | None) -> Selection:
        self._polygons += polygons(node)
        if self._polygons > 1:
            raise Unsupported("RediSearch returns nothing for a query of two polygons at once")
        for part in conjuncts(node):
            if _searches(part):
                self._clauses.append(self._texts.clause(part))
                self._tests += [f"exists({self.name(asked(test))})" for test in self._texts.as_written(part)]
            else:
                self._clauses += self._by_index(part)
                self._tests.append(self._test(part))
        return self

    def also(self, test: str) -> None:
        self._tests.append(test)

    @property
    def query(self) -> str:
        """The query for all records, where no index is asked."""
        return " ".join(f"({clause})" for clause in self._clauses) or "*"

    @property
    def searched(self) -> bool:
        """Whether words are asked for, by which records can be ranked."""
        return self._texts.searched

    @property
    def language(self) -> list[str]:
        """In which the words are, where it is not English."""
        return ["LANGUAGE", self._texts.language] if self._texts.language else []

    @property
    def parameters(self) -> list[Any]:
        """PARAMS, of which the query speaks."""
        return ["PARAMS", len(self._texts.parameters), *self._texts.parameters] if self._texts.parameters else []

    @property
    def steps(self) -> list[Any]:
        loads = load(self._names)
        return [*loads, "FILTER", " && ".join(f"({test})" for test in self._tests)] if self._tests else loads

    def name(self, path: str) -> str:
        """What is at the path, loaded once."""
        return "@" + self._names.setdefault(path, f"x{len(self._names)}")

    def _test(self, node: Filter) -> str:
        if isinstance(node, Not):
            return f"!({self._test(node.part)})"
        if isinstance(node, (And, Or)):
            sign = " && " if isinstance(node, And) else " || "
            return "(" + (sign.join(self._test(part) for part in node.parts) or (_ALL if isinstance(node, And) else _NOT)) + ")"
        return self._condition(node)

    def _holds(self, *tests: str) -> str:
        return "(" + " && ".join(f"exists({self.name(asked(test))})" for test in tests) + ")"

    def _condition(self, condition: Condition) -> str:
        path, wanted, value = condition.path, condition.value, inside(condition.path)
        match condition.operator:
            case "eq":
                return self._equal(path, wanted)
            case "ne":
                return f"!{self._equal(path, wanted)}"
            case "lt" | "lte" | "gt" | "gte":
                return self._holds(compared(value, condition.operator, wanted))
            case "in":
                return "(" + (" || ".join(self._equal(path, each) for each in wanted) or _NOT) + ")"
            case "exists":
                return ("" if wanted else "!") + self._holds(there(value))
            case "type":
                return self._type(path, wanted)
            case "prefix" | "contains" | "regex" | "ieq" | "icontains":
                return self._holds(matched(value, condition.operator, wanted))
            case "near":
                return f"({self._near(path, *wanted)})"
            case "within_box":
                return "(" + " || ".join(self._holds(_in_box(path, *box)) for box in boxes(wanted)) + ")"
        return self._of_list(path, condition.operator, wanted)

    def _of_list(self, path: Path, operator: str, wanted: Any) -> str:
        if operator == "size":
            return self._size(path, wanted)
        if operator == "any":
            return self._item(path, [_any("@", wanted.operator, wanted.value)])
        if operator == "element":
            return self._item(path, [item_test(wanted)])
        return self._item(path, [equal("@", each) for each in wanted]) if wanted else self._list(path)

    def distance(self, path: Path, longitude: float, latitude: float) -> tuple[str, str]:
        """Whether a document has a place there, and the expression for its distance in metres."""
        across, up = (self.name(stored((*path, "coordinates", number))) for number in (0, 1))
        return f"exists({across}) && exists({up})", f"geodistance({across},{up},{longitude!r},{latitude!r})"

    def _near(self, path: Path, longitude: float, latitude: float, metres: float) -> str:
        known, distance = self.distance(path, float(longitude), float(latitude))
        return f"{known} && {distance}<={float(metres)!r}"

    def _equal(self, path: Path, wanted: Any) -> str:
        if isinstance(wanted, dict):
            raise Unsupported("JSONPath compares no object with a literal")
        if isinstance(wanted, (list, tuple)):
            return self._holds(*whole(path, wanted))[:-1] + f" && {self._size(path, len(wanted))})" if wanted else self._size(path, 0)
        return self._holds(equal(inside(path), wanted))

    def _size(self, path: Path, size: int) -> str:
        if size == 0:
            return self._holds(f'{inside(path)}==@["e"]')
        return f"({self._holds(there(inside((*path, size - 1))))} && !{self._holds(there(inside((*path, size))))})"

    def _type(self, path: Path, kind: str) -> str:
        if kind == "list":
            return self._list(path)
        if kind == "object":
            scalar = "||".join(of_type(inside(path), each) for each in ("null", "boolean", "number", "text"))
            return f"({self._holds(there(inside(path)))} && !{self._holds(scalar)} && !{self._list(path)})"
        return self._holds(of_type(inside(path), kind))

    def _list(self, path: Path) -> str:
        """A list has a first item, or is the empty one; positions lead into nothing else."""
        return f"({self._holds(there(inside((*path, 0))))} || {self._size(path, 0)})"

    def _item(self, path: Path, tests: list[str]) -> str:
        """A list that has items of which each of the tests holds on one."""
        found = [f"exists({self.name(f'{stored(path)}[?({test})]')})" for test in tests]
        return "(" + " && ".join([self._holds(there(inside((*path, 0)))), *found]) + ")"

    def _by_index(self, node: Filter) -> list[str]:
        """What the index says of a condition: no record that meets it is left out."""
        if not isinstance(node, Condition) or node.path not in self._layout.indexed:
            return []
        place, wanted = self._layout.indexed.index(tuple(map(str, node.path))), node.value
        match node.operator:
            case "eq" if _number(wanted):
                return [f"@n{place}:[{wanted!r} {wanted!r}]"]
            case "eq" if isinstance(wanted, str) and _PLAIN.fullmatch(wanted):
                return [f"@t{place}:{{{_tag(wanted)}}}"]
            case "in" if wanted and all(map(_number, wanted)):
                return [" | ".join(f"(@n{place}:[{each!r} {each!r}])" for each in wanted)]
            case "in" if wanted and all(isinstance(each, str) and _PLAIN.fullmatch(each) for each in wanted):
                return [f"@t{place}:{{{' | '.join(map(_tag, wanted))}}}"]
            case "gt" | "gte" if _number(wanted):
                return [f"@n{place}:[{wanted!r} +inf]"]
            case "lt" | "lte" if _number(wanted):
                return [f"@n{place}:[-inf {wanted!r}]"]
        return []


def schema(layout: Layout) -> list[str]:
    """The fields of the index: that by which all records are in it, the texts, and the paths that carry an index.

    A field that meets a value of another type would leave the whole document out of the index, so each path has two, which lead to its
    value only where it is a number, and where it is a text.
    """
    fields = ['$["r"]["k"]', "AS", "k", "NUMERIC"]
    for number, path in enumerate(layout.model.text):
        fields += [_only(path, "text"), "AS", f"w{number}", "TEXT"]
    for number in range(len(layout.model.places)):
        fields += [f'$["r"]["g{number}"]', "AS", f"g{number}", "GEOSHAPE", "SPHERICAL"]
    for number, path in enumerate(layout.indexed):
        fields += [_only(path, "number"), "AS", f"n{number}", "NUMERIC", _only(path, "text"), "AS", f"t{number}", "TAG", "CASESENSITIVE"]
    return fields


def _only(path: Path, kind: str) -> str:
    return f'$[?({of_type(inside(path), kind)})]["d"]' + stored(path)[len('$["r"]["d"]') :]


def load(names: dict[str, str]) -> list[Any]:
    """The step that fetches the paths under their names."""
    return ["LOAD", 3 * len(names), *[word for path, name in names.items() for word in (path, "AS", name)]] if names else []


def _searches(node: Filter) -> bool:
    """Whether the text index is asked; a part that asks other things too cannot be told in a query, unless all of them can."""
    match node:
        case Not(part=part):
            return _searches(part)
        case And(parts=parts) | Or(parts=parts):
            which = {_searches(part) for part in parts}
            if len(which) > 1:
                raise Unsupported(
                    "text and polygon conditions use the index, others the document: `or` of both is not possible in one request"
                )
            return which == {True}
        case Condition(operator=operator):
            return operator in SEARCHES or operator == "within_polygon"
    return False


def _any(item: str, operator: str, wanted: Any) -> str:
    if operator != "ne":
        return compared(item, operator, wanted)
    test = equal(item, wanted)
    if "=~" in test:
        raise Unsupported("this text is compared with a regular expression, which JSONPath cannot negate")
    return test.replace("==", "!=", 1)


def _in_box(path: Path, west: float, south: float, east: float, north: float) -> str:
    across, up = (inside((*path, "coordinates", number)) for number in (0, 1))
    bounds = [(across, "gte", west), (across, "lte", east), (up, "gte", south), (up, "lte", north)]
    return "&&".join(compared(*bound) for bound in bounds)


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _tag(text: str) -> str:
    return re.sub(r"([^A-Za-z0-9_])", r"\\\1", text)
