"""The part of XPath on JSON that patches, indexes and extractions are written in here.

`/name` is a property's value, or the items of a list; `/node("name")` the value as it is; `/array-node("name")` a list as such;
`/node()[2]` the second item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.stubs.marklogic import RestError

_STEP = re.compile(
    r'/(?:(?P<kind>node|array-node)\((?:"(?P<quoted>(?:[^"]|"")*)")?\)|(?P<name>[A-Za-z_][\w.-]*))(?:\[(?P<position>\d+)\])?'
)


@dataclass(frozen=True)
class Place:
    """A value in a document, and the way to it."""

    value: Any
    way: tuple[str | int, ...] = ()

    def child(self, key: str | int) -> Place:
        return Place(self.value[key], (*self.way, key))


def select(document: Any, path: str) -> list[Place]:
    """What a path finds, in the order of the document."""
    places = [Place(document)]
    for kind, name, position in _steps(path):
        children = [_children(place, kind, name) for place in places]
        # A position counts among the children of each.
        places = [child for group in children for child in (group if position is None else group[position - 1 : position])]
    return places


def holder(document: Any, place: Place) -> Any:
    """The object or list that a place is in."""
    for key in place.way[:-1]:
        document = document[key]
    return document


def sparse(document: Any, places: list[Place]) -> Any:
    """The parts of a document with all that is above them: of lists, the items on the way alone."""
    kept: dict[Any, Any] = {}
    for place in sorted(places, key=lambda each: len(each.way), reverse=True):  # a whole takes the place of its parts
        inner = kept
        for key in place.way[:-1]:
            inner = inner.setdefault(key, {})
        inner[place.way[-1]] = _Whole(place.value)
    return _grown(document, kept)


@dataclass(frozen=True)
class _Whole:
    value: Any


def _grown(original: Any, kept: Any) -> Any:
    if isinstance(kept, _Whole):
        return kept.value
    if isinstance(original, list):
        return [_grown(original[key], kept[key]) for key in sorted(kept)]
    return {key: _grown(original[key], inner) for key, inner in kept.items()}


def _steps(path: str) -> Iterator[tuple[str, str | None, int | None]]:
    end = 0
    while end < len(path):
        step = _STEP.match(path, end)
        if step is None:
            raise RestError(400, "XDMP-PATHEXPR", f"the stub does not know the path {path} from {path[end:]!r} on")
        end = step.end()
        quoted = step["quoted"]
        position = int(step["position"]) if step["position"] else None
        yield step["kind"] or "name", step["name"] or (quoted.replace('""', '"') if quoted is not None else None), position


def _children(place: Place, kind: str, name: str | None) -> list[Place]:
    value = place.value
    if name is None:
        keys: Any = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
        return [place.child(key) for key in keys]
    if not isinstance(value, dict) or name not in value:
        return []
    found = place.child(name)
    if isinstance(found.value, list) and kind == "name":
        return [found.child(number) for number in range(len(found.value))]
    return [found] if kind != "array-node" or isinstance(found.value, list) else []
