"""When two answers are the same. Python's `==` does not decide it: True == 1 == 1.0, and -0.0 == 0.0."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from storeproof.contract.notation import in_any_order
from storeproof.spec.query import REQUESTS


def same_answer(operation: str, args: tuple[Any, ...], found: Any, wanted: Any) -> bool:
    """Whether a store's answer to an operation is right.

    Requests are compared by value: what a whole real comes back as is the business of `documents.number-types`.
    """
    if in_any_order(operation, args):
        return same_unordered(found, wanted)
    return (same_lenient if operation in REQUESTS else same)(found, wanted)


def same(found: Any, wanted: Any) -> bool:
    """Equal in type, value and, for reals, in every bit; lists and tuples of records are one kind of sequence."""
    return _alike(found, wanted, _same_number)


def same_lenient(found: Any, wanted: Any) -> bool:
    """As `same`, but a whole real may come back as an integer, and minus zero as zero: stores differ there by design.

    The cases of `documents.number-types` record which way a store goes, so nothing is hidden by this.
    """
    return _alike(found, wanted, _equal_number)


def same_unordered(found: list[Any], wanted: list[Any]) -> bool:
    """As `same_lenient`, in any order of the entries."""
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
        return found.as_tuple() == wanted.as_tuple()  # 1.10 has a zero more than 1.1
    if type(found) is not type(wanted):
        return False
    return struct.pack("<d", found) == struct.pack("<d", wanted) if isinstance(found, float) else found == wanted


def _equal_number(found: int | float | Decimal, wanted: int | float | Decimal) -> bool:
    return found == wanted  # exact in Python, also between an int and a float beyond 2**53
