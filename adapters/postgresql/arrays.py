"""Numbers and lists inside of documents: expressions for what a document becomes, NULL where it cannot.

The column refuses NULL, and with it the whole statement, so that no row found can only mean: no record.
"""

from __future__ import annotations

from storeproof.adapters.postgresql.jsonb import Arguments, Place, place, steps, to_json
from storeproof.contract import Json, Path, Refused


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
