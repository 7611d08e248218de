"""How the specification's YAML writes the arguments and answers of operations, and how a history is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from storeproof.contract.feeds import Change
from storeproof.contract.values import MISSING, FacetedPage, Record, Row
from storeproof.spec.model import Index, Model
from storeproof.spec.query import REQUESTS, Where, with_decimals


def record_from(model: Model, written: Any) -> Record:
    """A record from its YAML notation: where the model has bytes, text means its UTF-8 bytes.

    `[integer, real]` is a row, a list may be a set, and a mapping of members to scores is a ranking.
    """
    kind = model.record.kind
    if kind == "value":
        return _bytes(written)
    if kind == "hash":
        return {field: _bytes(value) for field, value in written.items()}
    if kind == "row":
        return Row(written[0], float(written[1]))
    if kind == "list":
        return [_bytes(item) for item in written]
    if kind == "set":
        return set(written)
    if kind == "ranking":
        return {member: float(score) for member, score in written.items()}
    return written  # type: ignore[no-any-return]


def arguments_from(model: Model, operation: str, written: tuple[Any, ...]) -> tuple[Any, ...]:
    written = _read(model, written)
    if request := REQUESTS.get(operation):
        return request.model_validate(written[0] if written else {}), *_behind_a_request(operation, written[1:])
    convert = _ARGUMENTS.get(operation)
    return convert(model, *written) if convert else written


def answer_from(model: Model, operation: str, written: Any) -> Any:
    """The answer that a step expects."""
    if written is None:
        return None
    convert = _ANSWERS.get(operation)
    written = _read(model, written)
    return convert(model, written) if convert else written


def in_any_order(operation: str, args: tuple[Any, ...]) -> bool:
    """Whether any order of the answer's entries is correct, because the request does not sort."""
    return operation in ("find", "find_joined", "aggregate") and not args[0].sort and not getattr(args[0], "ranked", False)


def shown(operation: str, args: tuple[Any, ...]) -> str:
    """An operation as one line of a printed history."""
    return f"{operation}({', '.join(brief(arg) for arg in args)})"


def brief(value: Any) -> str:
    """An argument or an answer in a printed history: of a long one the beginning and the end."""
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:500]} ... {text[-20:]} ({len(text)} characters)"


def _behind_a_request(operation: str, written: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments after the request: a path and a value, or the path of a key and the requested fields of its record."""
    if operation == "find_joined":
        return tuple(written[0]), tuple(tuple(field.split(".")) if isinstance(field, str) else tuple(field) for field in written[1])
    return (tuple(written[0]), *written[1:]) if written else ()


def _read(model: Model, written: Any) -> Any:
    return with_decimals(written) if model.decimals else written


def _bytes(written: str | bytes) -> bytes:
    return written.encode() if isinstance(written, str) else written


def _many(model: Model, records: Mapping[Any, Any]) -> tuple[Any, ...]:
    return ({key: record_from(model, record) for key, record in records.items()},)


def _found(_model: Model, written: Any) -> FacetedPage:
    facets = {name: [(value, count) for value, count in facet] for name, facet in written.get("facets", {}).items()}
    return FacetedPage(written["total"], written.get("keys", []), facets)


def _values(_model: Model, written: Any) -> list[bytes | None]:
    return [None if item is None else _bytes(item) for item in written]


_ANSWERS: dict[str, Callable[[Model, Any], Any]] = {
    **dict.fromkeys(("get", "get_and_set"), record_from),
    **dict.fromkeys(("get_field", "pop_front", "pop_back"), lambda _model, written: _bytes(written)),
    **dict.fromkeys(("get_fields", "list_range"), _values),
    "get_paths": lambda _model, written: [item[0] if item else MISSING for item in written],  # `[value]`; `[]`: nothing is there
    "top": lambda _model, written: [(member, float(score)) for member, score in written],
    "get_many": lambda model, written: [None if item is None else record_from(model, item) for item in written],
    **dict.fromkeys(("scan", "scan_prefix"), lambda model, written: [(key, record_from(model, item)) for key, item in written]),
    "find_joined": lambda _model, written: [tuple(entry) for entry in written],
    "find": lambda _model, written: [(item[0], item[1]) if isinstance(item, list) else (item, {}) for item in written],
    "changes": lambda model, written: [
        Change(kind, key, record_from(model, record[0]) if record else None) for kind, key, *record in written
    ],
    "browse": _found,
}

_ARGUMENTS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "put": lambda model, key, record: (key, record_from(model, record)),
    "put_if_absent": lambda model, key, record: (key, record_from(model, record)),
    "compare_and_set": lambda model, key, old, new: (key, record_from(model, old), record_from(model, new)),
    **dict.fromkeys(("put_expiring", "put_swept"), lambda model, key, record, seconds: (key, record_from(model, record), seconds)),
    **dict.fromkeys(("put_many", "insert_many"), _many),
    "set_field": lambda _model, key, field, value: (key, field, _bytes(value)),
    "set_fields": lambda _model, key, values: (key, {field: _bytes(value) for field, value in values.items()}),
    "get_path": lambda _model, key, path: (key, tuple(path)),
    "get_paths": lambda _model, key, paths: (key, [tuple(path) for path in paths]),
    "set_paths": lambda _model, key, values: (key, {tuple(path): value for path, value in values}),
    "create_index": lambda _model, index: (Index.model_validate(index),),
    "require": lambda _model, path, kind: (tuple(path), kind),
    "set_path": lambda _model, key, path, value: (key, tuple(path), value),
    "unset_path": lambda _model, key, path: (key, tuple(path)),
    "get_and_set": lambda model, key, record: (key, record_from(model, record)),
    "append": lambda _model, key, value: (key, _bytes(value)),
    "increment_path": lambda _model, key, path, by: (key, tuple(path), by),
    "push_item": lambda _model, key, path, value: (key, tuple(path), value),
    "insert_item": lambda _model, key, path, value: (key, tuple(path), value),
    "pull_item": lambda _model, key, path, value: (key, tuple(path), value),
    "add_to_set": lambda _model, key, path, value: (key, tuple(path), value),
    "item_count": lambda _model, key, path: (key, tuple(path)),
    "push_back": lambda _model, key, item: (key, _bytes(item)),
    "push_front": lambda _model, key, item: (key, _bytes(item)),
    "set_score": lambda _model, key, member, score: (key, member, float(score)),
    "add_place": lambda _model, key, member, *degrees: (key, member, *map(float, degrees)),
    "nearest": lambda _model, key, longitude, latitude, metres, count: (key, float(longitude), float(latitude), float(metres), count),
    "add_score": lambda _model, key, member, by: (key, member, float(by)),
    "save_search": lambda _model, name, where: (name, Where.model_validate(where)),
    "searches_for": lambda model, record: (record_from(model, record),),
}
