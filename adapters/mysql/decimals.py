"""Exact decimals in the JSON of MySQL and MariaDB: texts, which the server makes DECIMAL(65, 30) of where it compares or adds.

To MySQL a number of JSON with a fraction is a double.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from storeproof.adapters.mysql.json import SYMBOLS, Dialect, Sql, digits, joined, of_type, sql
from storeproof.adapters.sql.answers import inside, restored
from storeproof.contract import Path, Unsupported

_TYPE = "DECIMAL(65, 30)"


def exact(dialect: Dialect, value: Sql) -> Sql:
    """The DECIMAL of a decimal in JSON, NULL of anything else."""
    return sql(f"CAST({{}} AS {_TYPE})", dialect.text(value))


def to_text(dialect: Dialect, number: Sql) -> Sql:
    """The JSON of a DECIMAL."""
    return dialect.from_text(sql("CAST({} AS CHAR)", number))


def holds(dialect: Dialect, value: Sql, operator: str, wanted: Any) -> Sql:
    """The condition on a decimal in JSON. It is no text, though it is written as one."""
    if operator == "in":
        either = [holds(dialect, value, "eq", each) for each in wanted]
        return sql("({})", joined(" OR ", either)) if either else Sql("FALSE")
    if operator == "exists":
        return sql("{} IS NOT NULL" if wanted else "{} IS NULL", value)
    if operator == "type" and wanted in ("number", "null"):
        return of_type(value, "text" if wanted == "number" else "null")
    if operator == "eq" and wanted is None:
        return of_type(value, "null")
    if operator in SYMBOLS and type(wanted) in (int, float, Decimal):
        number = Decimal(repr(wanted)) if isinstance(wanted, float) else Decimal(wanted)
        return sql(f"{{}} {SYMBOLS[operator]} CAST({{}} AS {_TYPE})", exact(dialect, value), digits(number))
    return Sql("FALSE")


def keeping_out(operator: str, wanted: Any) -> None:
    """Raises `Unsupported` for a comparison with decimals where the model has none."""
    values = wanted if operator in ("in", "all") else [getattr(wanted, "value", wanted)]
    if any(isinstance(value, Decimal) for value in values):
        raise Unsupported("exact decimals are stored as text, and only at the model's paths: elsewhere they cannot be told from other text")


def read(text: str, decimals: Collection[Path], place: Path = ()) -> Any:
    """JSON, which was at the place, with the decimals in it."""
    value = json.loads(text)
    exact = inside(decimals, place)
    return restored(value, exact, _decimal) if exact else value


def _decimal(value: Any, exact: bool) -> Any:
    return Decimal(value) if exact and isinstance(value, str) else value
