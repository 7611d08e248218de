"""Records that every home takes: only these wait for it.

A write that waits was acknowledged. If the home then refuses it, its client never hears of that. So whatever one home or another refuses,
such as a NUL in a text or a field name with a dot, goes to the home at once, as an application checks what it puts into a queue.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from storeproof.contract import Key, Record, Row

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LONGEST_KEY: Final = 100
"""Characters."""
_DEEPEST: Final = 20
"""Objects and lists within each other."""
_32_BITS: Final = range(-(2**31), 2**31)
_64_BITS: Final = range(-(2**63), 2**63)


def is_plain(key: Key, record: Record) -> bool:
    """Whether every home takes this record under this key."""
    return _is_key(key) and _is_record(record)


def _is_key(key: Key) -> bool:
    return key in _64_BITS if isinstance(key, int) else 0 < len(key) <= _LONGEST_KEY and _is_text(key)


def _is_record(record: Any) -> bool:
    if isinstance(record, bytes):
        return True
    if isinstance(record, Row):
        return record.integer in _32_BITS and math.isfinite(record.real)
    return isinstance(record, dict) and all(_NAME.fullmatch(name) and _is_value(value, 1) for name, value in record.items())


def _is_value(value: Any, depth: int) -> bool:
    match value:
        case None | bool() | bytes():
            return True
        case int():
            return value in _64_BITS
        case float():
            return math.isfinite(value)
        case str():
            return _is_text(value)
        case list():
            return depth < _DEEPEST and all(_is_value(item, depth + 1) for item in value)
        case dict():
            return depth < _DEEPEST and all(_NAME.fullmatch(name) and _is_value(item, depth + 1) for name, item in value.items())
    return False


def _is_text(text: str) -> bool:
    """Whether it has neither a NUL nor half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)
