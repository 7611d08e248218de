"""Exact decimals in PostgreSQL: a jsonb keeps every number as a `numeric`, so that only the reader of its text can spoil one."""

from __future__ import annotations

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from storeproof.contract import Path
from storeproof.spec.query import Aggregation


def read(text: str, decimals: Collection[Path], place: Path = ()) -> Any:
    """JSON, which was at the place: numbers at one of the paths are exact, and all others as Python has them."""
    inside = {path[len(place) :] for path in decimals if path[: len(place)] == place}
    return _typed(json.loads(text, parse_float=Decimal), inside, ()) if inside else json.loads(text)


def of_rows(request: Aggregation, decimals: Collection[Path]) -> list[Path]:
    """The names of an aggregation's rows under which there are decimals."""
    names = [name for name, bucket in request.by.items() if bucket.path in decimals and not bucket.width]
    measures = request.compute.items()
    names += [name for name, measure in measures if measure.path in decimals and measure.function not in ("count", "distinct")]
    return [(name,) for name in names]


def _typed(value: Any, decimals: Collection[Path], place: Path) -> Any:
    if isinstance(value, dict):
        return {name: _typed(item, decimals, (*place, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [_typed(item, decimals, (*place, position)) for position, item in enumerate(value)]
    if type(value) in (int, Decimal) and place in decimals:
        return Decimal(value)
    return float(value) if isinstance(value, Decimal) else value
