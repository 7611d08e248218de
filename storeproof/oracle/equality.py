"""Equality of answers. Python's `==` is too lenient: True == 1 == 1.0, and -0.0 == 0.0."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from storeproof.contract.notation import in_any_order
from storeproof.spec.query import REQUESTS


def same_answer(operation: str, args: tuple[Any, ...], found: Any, wanted: Any) -> bool:
    """Whether a store's answer (`found`) to an operation is the correct one (`wanted`).

    Answers to requests are compared by `same_lenient`; whether 1.0 comes back as 1 is what `documents.number-types` tests.
    """
    if in_any_order(operation, args):
        return same_unordered(found, wanted)
    return (same_lenient if operation in REQUESTS else same)(found, wanted)


def same(found: Any, wanted: Any) -> bool:
    """Equal in type and value; floats bit by bit, decimals with their trailing zeros. A list equals a tuple of the same items."""
    return _alike(found, wanted, _same_number)


def same_lenient(found: Any, wanted: Any) -> bool:
    """As `same`, but numbers are compared by value: 1.0 equals 1, and -0.0 equals 0.0. Stores differ there by design.

    `documents.number-types` records what a store does, so the difference is not hidden.
    """
    return _alike(found, wanted, _equal_number)


def same_unordered(found: list[Any], wanted: list[Any]) -> bool:
    """As `same_lenient`, with the entries in any order."""
    left = list(wanted)
    for entry in found:
        place = next((place for place, other in enumerate(left) if same_lenient(entry, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


def _alike(found: Any, wanted: Any, numbers: Callable[[Any, Any], bool]) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_alike(found[key], wanted[key], numbers) for key in found)
    if isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(_alike(one, other, numbers) for one, other in zip(found, wanted, strict=True))
    if type(found) in (int, float) and type(wanted) in (int, float):
        return numbers(found, wanted)
    if type(found) is Decimal and type(wanted) is Decimal:
        return numbers(found, wanted)
    return type(found) is type(wanted) and bool(found == wanted)


def _same_number(found: int | float | Decimal, wanted: int | float | Decimal) -> bool:
    if isinstance(found, Decimal) and isinstance(wanted, Decimal):
        return found.as_tuple() == wanted.as_tuple()  # 1.10 and 1.1 differ here
    if type(found) is not type(wanted):
        return False
    return struct.pack("<d", found) == struct.pack("<d", wanted) if isinstance(found, float) else found == wanted


def _equal_number(found: int | float | Decimal, wanted: int | float | Decimal) -> bool:
    return found == wanted  # Python compares an int and a float exactly, also beyond 2**53
