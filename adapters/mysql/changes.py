"""Changes inside of the documents of MySQL and MariaDB: what a document becomes, as SQL.

Where that is nothing (no parent, no number, no list), it is NULL, for which the server refuses the statement, as `doc` is NOT NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from storeproof.adapters.mysql.json import DOC, Dialect, Sql, extract, joined, json_path, of_type, sql, to_json
from storeproof.adapters.sql.documents import Change
from storeproof.contract import Json, Path, Refused

# JSON_EXTRACT turns the text of a value into JSON, in MySQL and MariaDB alike.
_VALUE = "JSON_EXTRACT({}, '$')"


def replaced(values: Mapping[Path, Json]) -> Sql:
    """The document with values set at paths, whose parents are there: JSON_SET passes over one whose parent is not."""
    if () in values:
        raise Refused("the root of a document has no parent; use put to replace the whole")
    there = [
        sql("{} IS NOT NULL", extract(DOC, path)) if isinstance(path[-1], int) else of_type(extract(DOC, path[:-1]), "object")
        for path in values
    ]
    written = [sql(f"{{}}, {_VALUE}", json_path(path), to_json(value)) for path, value in values.items()]
    return sql("IF({}, JSON_SET(doc, {}), NULL)", joined(" AND ", there), joined(", ", written))


def removed(path: Path) -> Sql:
    """The document without the field at a path. An item of a list cannot be unset, as the ones behind it would move."""
    if not path:
        raise Refused("the root of a document cannot be unset; use delete to remove the whole")
    if isinstance(path[-1], int):
        return sql("IF({}, NULL, doc)", of_type(extract(DOC, path[:-1]), "list"))
    return sql("IF({} IS NULL, doc, JSON_REMOVE(doc, {}))", extract(DOC, path), json_path(path))


def added(dialect: Dialect, path: Path, by: int | float) -> Sql:
    """The document with a number added to the one at a path, or to zero, where a field is not there and its parent is."""
    if not path or (isinstance(by, int) and not -(2**63) <= by < 2**63):
        raise Refused(
            f"a double or a 64-bit integer can be added, not at the root; found {by} and the path {path}; the statement was not sent"
        )
    value = extract(DOC, path)
    number = of_type(value, "number")
    allowed = (
        number if isinstance(path[-1], int) else sql("({} OR {} IS NULL AND {})", number, value, of_type(extract(DOC, path[:-1]), "object"))
    )
    total = dialect.from_number(sql("COALESCE({}, 0e0) + {}", dialect.number(value), float(by)))
    if isinstance(by, int):
        whole = dialect.from_number(sql("COALESCE(CAST({} AS SIGNED), 0) + {}", value, by))
        total = sql("IF(JSON_TYPE({}) = 'DOUBLE', {}, {})", value, total, whole)
    return sql(f"IF({{}}, JSON_SET(doc, {{}}, {_VALUE}), NULL)", allowed, json_path(path), total)


def pushed(path: Path, value: Json) -> Sql:
    """The document with an item more at the end of a list."""
    return _of_list(path, sql(f"JSON_ARRAY_APPEND(doc, {{}}, {_VALUE})", json_path(path), to_json(value)))


def inserted(path: Path, value: Json) -> Sql:
    """The document with an item more at a position of a list, or at its end, where the position is beyond it."""
    if not path or not isinstance(path[-1], int):
        raise Refused("an item can only be inserted at a list position; the statement was not sent")
    return _of_list(path[:-1], sql(f"JSON_ARRAY_INSERT(doc, {{}}, {_VALUE})", json_path(path), to_json(value)))


def pulled(dialect: Dialect, path: Path, value: Json) -> Sql:
    """The document without the items of a list that equal a value."""
    return _of_list(path, sql("JSON_SET(doc, {}, {})", json_path(path), dialect.without(extract(DOC, path), value)))


def with_member(dialect: Dialect, path: Path, value: Json) -> Sql:
    """The document with an item more at the end of a list, unless it has an equal one."""
    there = dialect.has_item(extract(DOC, path), value)
    more = sql(f"JSON_ARRAY_APPEND(doc, {{}}, {_VALUE})", json_path(path), to_json(value))
    return _of_list(path, sql("IF({}, doc, {})", there, more))


def length(path: Path) -> Sql:
    """How many items a list has; NULL where none is."""
    value = extract(DOC, path)
    return sql("IF({}, JSON_LENGTH({}), NULL)", of_type(value, "list"), value)


def _of_list(path: Path, changed: Sql) -> Sql:
    return sql("IF({}, {}, NULL)", of_type(extract(DOC, path), "list"), changed)


CHANGES: Final[Mapping[Change, Callable[[Dialect, Path, Any], Sql]]] = {
    "unset": lambda _, path, __: removed(path),
    "push": lambda _, path, value: pushed(path, value),
    "insert": lambda _, path, value: inserted(path, value),
    "pull": pulled,
    "add": with_member,
}
"""The document as it becomes."""
