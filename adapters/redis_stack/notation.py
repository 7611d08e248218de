"""JSON as RedisJSON reads it right.

RedisJSON parses a double by serde_json without its feature `float_roundtrip` (seen in 2.8.3): the digits as an integer, which becomes a
double, is multiplied with or divided by a power of ten, and so is rounded twice. What has more than 15 digits may come back as the double
beside it: -122.41941550000001 as -122.4194155. Nearly every double has other digits too that lead to it, and those are written here; what
has none is refused.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Context, Decimal
from typing import Any, Final

from storeproof.contract import Json, Refused

_MANY_DIGITS: Final = re.compile(r"[0-9]\.?(?:[0-9]\.?){15}|e[+-]")
"""What is in a text that has a double of which it is worth to ask."""
_POWERS: Final = [float(f"1e{power}") for power in range(309)]
_DIGITS: Final = range(16, 21)
"""What fits into 64 bits; of twenty, not all do."""
_BITS: Final = 1 << 64


def written(value: Json) -> str:
    text = _dumped(value)
    return _pieces(value) if _MANY_DIGITS.search(text) else text


def digits(real: float) -> str:
    """Digits that RedisJSON reads as this double. Raises `Refused`: there are none, as for 0.2 % of the doubles with all of their bits."""
    plain = repr(real)
    if _read(Decimal(plain)) == real:
        return plain
    for length in _DIGITS:
        sign, found, exponent = Context(prec=length).create_decimal(real).as_tuple()
        near = float(int("".join(map(str, found))))
        # What is between two doubles is read as one of them.
        for integer in map(int, (near, math.nextafter(near, math.inf), math.nextafter(near, 0.0))):
            candidate = Decimal((sign, tuple(map(int, str(integer))), int(exponent)))
            if integer < _BITS and _read(candidate) == real:
                return f"{'-' if sign else ''}{integer}e{exponent}"
    raise Refused(f"RedisJSON reads no digits as the double {plain}")


def _read(number: Decimal) -> float:
    """What RedisJSON makes of digits: `f64_from_parts` of serde_json."""
    sign, found, power = number.as_tuple()
    exponent = int(power)
    value = float(int("".join(map(str, found))))
    while abs(exponent) >= len(_POWERS):
        value, exponent = (value / _POWERS[-1], exponent + 308) if exponent < 0 else (value * _POWERS[-1], exponent - 308)
    value = value / _POWERS[-exponent] if exponent < 0 else value * _POWERS[exponent]
    return -value if sign else value


def _pieces(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_dumped(name)}:{_pieces(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_pieces, value)) + "]"
    return digits(value) if isinstance(value, float) else _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
