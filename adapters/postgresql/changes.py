"""Changes inside of documents: expressions for what a document becomes, NULL where it cannot.

The column refuses NULL, and with it the whole statement, so that no row found can only mean: no record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from storeproof.adapters.postgresql.jsonb import Arguments, Place, place, steps, to_json
from storeproof.adapters.sql.documents import Change
from storeproof.contract import Json, Path, Refused


def with_values(values: Mapping[Path, Json], arguments: Arguments) -> str:
    """The document with values at paths, whose parents must be there.

    jsonb_set passes over a path whose parent is not there. NULL in its place makes the server refuse the statement, so that no rows
    found can only mean: no record.
    """
    there, changed = [], "doc"
    for path, value in values.items():
        if not path:
            raise Refused("the root of a document has no parent; use put to replace the whole")
        if isinstance(path[-1], int):
            there.append(f"{place('doc', path, arguments.add).json} IS NOT NULL")
        else:
            there.append(f"jsonb_typeof({place('doc', path[:-1], arguments.add).json}) = 'object'")
        changed = f"jsonb_set({changed}, {arguments.add(steps(path))}::text[], {arguments.add(to_json(value))}::jsonb)"
    return f"CASE WHEN {' AND '.join(there)} THEN {changed} END"


def without(path: Path, _: Json, arguments: Arguments) -> str:
    """The document without the field at the path."""
    if not path:
        raise Refused("the root of a document cannot be unset; use delete to remove the whole")
    if isinstance(path[-1], int):
        # An item of a list cannot be unset, as the ones behind it would move: it is refused as in `with_values`.
        return f"CASE WHEN jsonb_typeof({place('doc', path[:-1], arguments.add).json}) = 'array' THEN NULL ELSE doc END"
    there = place("doc", path, arguments.add).json
    return f"CASE WHEN {there} IS NOT NULL THEN doc #- {arguments.add(steps(path))}::text[] ELSE doc END"


def increased(path: Path, by: int | float, arguments: Arguments) -> str:
    """With a number added: jsonb's numbers are decimals, and so are their sums."""
    there = place("doc", path, arguments.add)
    if path and isinstance(path[-1], str):
        new = f"{there.json} IS NULL AND jsonb_typeof({place('doc', path[:-1], arguments.add).json}) = 'object'"
    else:
        new = "FALSE"
    total = f"to_jsonb(COALESCE({there.number}, 0) + {arguments.add(to_json(by))}::numeric)"
    return f"CASE WHEN {there.number} IS NOT NULL OR ({new}) THEN {_replaced(path, total, arguments)} END"


def pushed(path: Path, value: Json, arguments: Arguments) -> str:
    """With an item at the end of the list."""
    there = place("doc", path, arguments.add)
    return _of_list(there, _replaced(path, f"{there.json} || {arguments.add(to_json([value]))}::jsonb", arguments))


def inserted(path: Path, value: Json, arguments: Arguments) -> str:
    """With an item at a position of the list; beyond its end, jsonb_insert adds it there."""
    if not path or not isinstance(path[-1], int):
        raise Refused(f"the path {list(path)} does not end in a position; the statement was not sent")
    there = place("doc", path[:-1], arguments.add)
    return _of_list(there, f"jsonb_insert(doc, {arguments.add(steps(path))}::text[], {arguments.add(to_json(value))}::jsonb)")


def pulled(path: Path, value: Json, arguments: Arguments) -> str:
    """Without the items that equal the value."""
    there = place("doc", path, arguments.add)
    items = f"jsonb_array_elements({there.json}) WITH ORDINALITY AS i (item, number)"
    kept = f"SELECT jsonb_agg(item ORDER BY number) FROM {items} WHERE item <> {arguments.add(to_json(value))}::jsonb"
    return _of_list(there, _replaced(path, f"COALESCE(({kept}), '[]')", arguments))


def with_one(path: Path, value: Json, arguments: Arguments) -> str:
    """With the value at the end of the list, unless an equal one is in it."""
    there = place("doc", path, arguments.add)
    equal = f"EXISTS (SELECT FROM jsonb_array_elements({there.json}) AS i (item) WHERE item = {arguments.add(to_json(value))}::jsonb)"
    return f"CASE WHEN {_of_list(there, equal)} THEN doc ELSE {pushed(path, value, arguments)} END"


def length(path: Path, arguments: Arguments) -> str:
    """How many items the list has; NULL where there is no list."""
    there = place("doc", path, arguments.add)
    return _of_list(there, f"jsonb_array_length({there.json})")


def _of_list(there: Place, expression: str) -> str:
    return f"CASE WHEN jsonb_typeof({there.json}) = 'array' THEN {expression} END"


def _replaced(path: Path, value: str, arguments: Arguments) -> str:
    return f"jsonb_set(doc, {arguments.add(steps(path))}::text[], {value})"


CHANGES: Final[Mapping[Change, Callable[[Path, Any, Arguments], str]]] = {
    "unset": without,
    "push": pushed,
    "insert": inserted,
    "pull": pulled,
    "add": with_one,
}
"""From a path, a value and the arguments of the statement: the document as it becomes."""
