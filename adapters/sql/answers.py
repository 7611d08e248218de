"""What a store answers: rows of records, and exact decimals in JSON, at the paths where a model has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from storeproof.contract import Json, Key, Path, Unsupported
from storeproof.contract.families import Joined
from storeproof.spec.query import Aggregation, Query

Read = Callable[[str, Path], Any]
"""From JSON and the path where it was, its value."""

KeyOf = Callable[[Any], Key]
"""From what is stored in the column `k`, the key."""


def fields_of(paths: Sequence[Path]) -> Sequence[Path]:
    """The paths. Raises `Unsupported` for one that is no field: a part of an answer stands in an object."""
    for path in paths:
        if not path or not all(isinstance(step, str) for step in path):
            raise Unsupported(f"a projection needs a path of field names; found {list(path)}")
    return paths


def records(query: Query, rows: Sequence[Sequence[Any]], key_of: KeyOf, read: Read) -> list[tuple[Key, dict[str, Json]]]:
    """Keys with records, or with the parts of them that are there."""
    return [(key_of(row[0]), _record(query, row[1:], read)) for row in rows]


def pairs(query: Query, fields: Sequence[Path], rows: Sequence[Sequence[Any]], key_of: KeyOf, read: Read) -> list[Joined]:
    """As `records`; the rows go on with the key of another record, or NULL, and its parts."""
    other = 1 + (1 if query.fields is None else len(query.fields)) + (query.highlight is not None)
    return [
        (
            key_of(row[0]),
            _record(query, row[1:other], read),
            None if row[other] is None else _parts(fields, row[other + 1 :], read),
        )
        for row in rows
    ]


def _record(query: Query, columns: Sequence[str | None], read: Read) -> dict[str, Json]:
    if query.highlight is None:
        return _parts(query.fields, columns, read)
    marked: dict[str, Json] = {} if columns[-1] is None else {"highlight": columns[-1]}
    return {**_parts(query.fields, columns[:-1], read), **marked}


def _parts(fields: Sequence[Path] | None, columns: Sequence[str | None], read: Read) -> dict[str, Json]:
    """The whole record, or parts under the paths where they were; NULL is what was not there."""
    if fields is None:
        whole: dict[str, Json] = read(columns[0] or "", ())
        return whole
    found: dict[Any, Any] = {}
    for path, column in zip(fields, columns, strict=True):
        if column is not None:
            inner = found
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = read(column, path)
    return found


def inside(decimals: Collection[Path], place: Path) -> set[Path]:
    """The paths from a place on of the decimals that are in it."""
    return {path[len(place) :] for path in decimals if path[: len(place)] == place}


def of_rows(request: Aggregation, decimals: Collection[Path]) -> frozenset[Path]:
    """The names of an aggregation's rows under which there are decimals."""
    names = [name for name, bucket in request.by.items() if bucket.path in decimals and not bucket.width]
    measures = request.compute.items()
    names += [name for name, measure in measures if measure.path in decimals and measure.function not in ("count", "distinct")]
    return frozenset((name,) for name in names)


def restored(value: Any, decimals: Collection[Path], scalar: Callable[[Any, bool], Any], place: Path = ()) -> Any:
    """The value with `scalar(each, exact)` in place of all that is no list and no object, where `exact` is whether a decimal is there."""
    if isinstance(value, dict):
        return {name: restored(item, decimals, scalar, (*place, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [restored(item, decimals, scalar, (*place, position)) for position, item in enumerate(value)]
    return scalar(value, place in decimals)
