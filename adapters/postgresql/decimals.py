"""Exact decimals in PostgreSQL: a jsonb keeps every number as a `numeric`, so that only the reader of its text can spoil one."""

from __future__ import annotations

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from storeproof.adapters.sql.decimals import inside, restored
from storeproof.contract import Path


def read(text: str, decimals: Collection[Path], place: Path = ()) -> Any:
    """JSON, which was at the place: numbers at one of the paths are exact, and all others as Python has them."""
    if exact := inside(decimals, place):
        return restored(json.loads(text, parse_float=Decimal), exact, _number)
    return json.loads(text)


def _number(value: Any, exact: bool) -> Any:
    if exact and type(value) in (int, Decimal):
        return Decimal(value)
    return float(value) if isinstance(value, Decimal) else value
