"""Spans, sizes and losses with their units, as needs and profiles write them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, NonNegativeInt, Strict, WithJsonSchema

_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|min|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(MiB|GiB)")
_BYTES = {"MiB": 1 << 20, "GiB": 1 << 30}

Struck = Literal["clean_restart", "process_crash", "power_loss"]
"""The guarantees whose fault strikes one server."""


def _seconds(found: Any) -> float:
    span = _SPAN.fullmatch(found) if isinstance(found, str) else None
    if span is None:
        raise ValueError("allowed: a number with its unit, ms, s, min or h, as in `10s`")
    return float(span[1]) * _SECONDS[span[2]]


def _bytes(found: Any) -> int:
    size = _SIZE.fullmatch(found) if isinstance(found, str) else None
    if size is None:
        raise ValueError("allowed: a number with its unit, MiB or GiB, as in `8GiB`")
    return int(float(size[1]) * _BYTES[size[2]])


def _loss(found: Any) -> Any:
    if isinstance(found, int) and not isinstance(found, bool):
        if found < 0:
            raise ValueError("allowed: a number of writes from 0 on, or a span with its unit, as in `1s`")
        return found
    return _seconds(found)


_SPAN_SCHEMA: Final[dict[str, Any]] = {"type": "string", "pattern": f"^{_SPAN.pattern}$"}

Span = Annotated[float, BeforeValidator(_seconds), WithJsonSchema(_SPAN_SCHEMA)]
"""Seconds; written with a unit: `250ms`, `10s`, `5min`."""
Memory = Annotated[int, BeforeValidator(_bytes), WithJsonSchema({"type": "string", "pattern": f"^{_SIZE.pattern}$"})]
"""Bytes; written with a unit: `512MiB`, `8GiB`."""
Loss = Annotated[
    NonNegativeInt | Annotated[float, Strict(False)],
    BeforeValidator(_loss),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, _SPAN_SCHEMA]}),
]
"""Acknowledged writes, a whole number; or with a unit, the seconds before the fault whose writes may be lost."""
