"""Documents as PostgreSQL's jsonb takes them: JSON in and out, and the places in a document as expressions."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from storeproof.adapters.sql.answers import inside, restored
from storeproof.contract import Json, Layout, Path, Refused
from storeproof.spec.model import Document, Integer, Object, Real, Shape


class Arguments:
    """The arguments of one statement, by the names under which its text has them."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> str:
        """What the statement's text has in place of the value."""
        name = f"a{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"


@dataclass(frozen=True)
class Place:
    """A place in a document, as SQL that is NULL where the document does not lead there.

    A cast and a text are also NULL where the value is of another type: so `->>` does not take the number 12 for the text "12", a cast meets
    nothing that it would fail on, and an index on the expression has what is compared and sorted.
    """

    json: str
    unquoted: str
    """As `->>` writes it: a text without its quotes, and everything else too."""

    @property
    def value(self) -> str:
        """jsonb; null and missing alike are NULL."""
        return f"NULLIF({self.json}, 'null'::jsonb)"

    @property
    def text(self) -> str:
        """Text, compared by code point whatever the database's own collation is."""
        return f"""(CASE WHEN jsonb_typeof({self.json}) = 'string' THEN {self.unquoted} END COLLATE "C")"""

    @property
    def number(self) -> str:
        return f"(CASE WHEN jsonb_typeof({self.json}) = 'number' THEN ({self.json})::numeric END)"

    @property
    def boolean(self) -> str:
        return f"(CASE WHEN jsonb_typeof({self.json}) = 'boolean' THEN ({self.json})::boolean END)"

    @property
    def items(self) -> str:
        """Rows of one jsonb, the items of a list; none where there is no list."""
        return f"jsonb_array_elements(CASE WHEN jsonb_typeof({self.json}) = 'array' THEN {self.json} END)"


def place(root: str, path: Path, written: Callable[[Any], str]) -> Place:
    """Where the path leads from `root`, an expression of type jsonb. Fields are fields of objects, and positions those of lists.

    `written` gives the SQL for a step: a placeholder, or in an index, which takes none, a literal.
    """
    found, unquoted = root, f"{root} #>> '{{}}'"
    for step in path:
        if isinstance(step, int):
            # Not `-> 0`, which finds every scalar inside itself. Strict and silent, a jsonpath finds nothing where there is no list.
            found = f"jsonb_path_query_first({found}, {written(f'strict $[{step}]')}::jsonpath, '{{}}', TRUE)"
            unquoted = f"{found} #>> '{{}}'"
        else:
            name = f"{written(step)}::text"
            found, unquoted = f"{found} -> {name}", f"{found} ->> {name}"
    return Place(found, unquoted)


def literal(step: str) -> str:
    """A step of a path in a definition, which takes no arguments; psycopg reads %% as one."""
    return "'" + step.replace("'", "''").replace("%", "%%") + "'"


def is_number(layout: Layout, path: Path) -> bool:
    assert isinstance(layout.model.record, Document)
    shape: Shape | None = layout.model.record.shape
    for step in path:
        shape = shape.object.get(str(step)) if isinstance(shape, Object) else None
    return isinstance(shape, (Integer, Real))


def indexed(layout: Layout, path: Path) -> str:
    """What an index on the path is made of: the very expression that requests compare and sort by."""
    there = place("doc", path, literal)
    return f"({there.number if is_number(layout, path) else there.text})"


def to_json(value: Json) -> str:
    """JSON as it is sent. Raises `Refused` for what JSON has no way to write."""
    try:
        # An exact decimal, which JSON's writer has no way to write, is left as a text that looks like a large double.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_exact)
        # Only a double has an exponent, and only a large one this: anything else, as text that looks like it, is written alike.
        return _in_decimals(value) if "e+" in text else text
    except (ValueError, RecursionError) as reason:
        raise Refused(f"not a JSON value that can be written: {reason}; the statement was not sent") from reason


def _exact(value: Any) -> str:
    if isinstance(value, Decimal):
        return "e+"
    raise TypeError(f"{type(value).__name__} is no JSON")


def _in_decimals(value: Json) -> str:
    """JSON in which a large double has its digits and a fraction, in place of an exponent.

    jsonb keeps the decimals that it was given, and writes 3.395416459406927e+16 as the integer 33954164594069270: which is not that
    double, whose value is 33954164594069272.
    """
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 1e16 else repr(value)
    if isinstance(value, list):
        return f"[{','.join(map(_in_decimals, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(name, ensure_ascii=False)}:{_in_decimals(item)}' for name, item in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def steps(path: Path) -> list[str]:
    """A path as `jsonb_set` and `#-` take it, who count a negative position from the end."""
    for step in path:
        if isinstance(step, int) and step < 0:
            raise Refused(f"a list has no position {step}")
    return [str(step) for step in path]


def read_exact(text: str, decimals: Collection[Path], place: Path = ()) -> Any:
    """JSON, which was at the place: numbers at one of the paths are exact, and all others as Python has them."""
    if exact := inside(decimals, place):
        return restored(json.loads(text, parse_float=Decimal), exact, _number)
    return json.loads(text)


def _number(value: Any, exact: bool) -> Any:
    if exact and type(value) in (int, Decimal):
        return Decimal(value)
    return float(value) if isinstance(value, Decimal) else value
