"""Notation for exact decimals, which YAML and JSON do not have."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from storeproof.spec.base import RuleError

_WORD = "decimal"


def with_decimals(written: Any) -> Any:
    """Replace each `{decimal: "0.10"}` in a value by its `Decimal`.
    Raises `RuleError`: the value of `decimal` is not the text of a finite number."""
    if isinstance(written, dict):
        if written.keys() == {_WORD}:
            return _number(written[_WORD])
        return {name: with_decimals(value) for name, value in written.items()}
    if isinstance(written, (list, tuple)):
        return type(written)(map(with_decimals, written)) if type(written) in (list, tuple) else written
    return written


def _number(text: Any) -> Decimal:
    try:
        number = Decimal(text) if isinstance(text, str) else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise RuleError(f'found {text!r} behind `decimal`; allowed: a number in quotes, as in "0.10"')
    return number
