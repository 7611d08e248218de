"""Records as the bytes of their copies, and back, without a difference: values as they are, all others as JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, cast

from storeproof.contract import Layout, Record, Row, WrongReply
from storeproof.spec.model import Model, Value

KINDS: Final = ("value", "hash", "row", "document")
"""The kinds of records that copies are kept of: those that are read and written as a whole. Others change by their items."""

_SIZE: Final = 100
"""Bytes of a value in the model of the front's collections; a copy has those of its record."""


def as_values(layout: Layout, suffix: str, **changes: Any) -> Layout:
    """A collection of values beside this one; `changes`: other fields of the model."""
    plain = dict.fromkeys(("indexes", "text", "language", "places", "decimals"), ())
    record = Value(kind="value", size=_SIZE, sizes=())
    return Layout(f"{layout.name}_{suffix}", layout.model.model_copy(update={"model": "single_key", "record": record, **plain, **changes}))


def encode(model: Model, record: Record) -> bytes:
    """The bytes of a copy. Raises `ValueError` or `RecursionError`: JSON cannot express the record."""
    if isinstance(record, bytes):
        return record
    written: Any = record
    if isinstance(record, Row):
        written = [record.integer, record.real]
    elif model.record.kind == "hash":
        written = {field: cast(bytes, value).decode("latin-1") for field, value in cast("dict[str, Any]", record).items()}
    elif model.decimals:
        written = _marked(record)
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode()


def decode(model: Model, copy: bytes) -> Record:
    """The record of a copy. Raises `WrongReply`: these bytes are no copy of such a record."""
    kind = model.record.kind
    if kind == "value":
        return copy
    try:
        found = json.loads(copy)
        if kind == "row":
            integer, real = found
            return Row(integer, real)
        if kind == "hash":
            return {field: value.encode("latin-1") for field, value in found.items()}
        return cast(Record, _unmarked(found) if model.decimals else found)
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as reason:
        raise WrongReply(f"the front answered what is no copy of a record: {type(reason).__name__}: {str(reason)[:200]}") from reason


def _marked(value: Any) -> Any:
    """A value in which an exact decimal is an object without a name that begins with `=`; all names of objects do."""
    if isinstance(value, dict):
        return {f"={name}": _marked(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return {"decimal": str(value)} if isinstance(value, Decimal) else value


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return Decimal(value["decimal"]) if "decimal" in value else {name[1:]: _unmarked(item) for name, item in value.items()}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value
