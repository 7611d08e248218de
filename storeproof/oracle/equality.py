"""Equality of answers. Python's `==` is too lenient: True == 1 == 1.0, and -0.0 == 0.0. And where unequal answers differ, in words."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

from storeproof.contract.notation import brief, in_any_order
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


def same_unordered(found: list[Any], wanted: list[Any], alike: Callable[[Any, Any], bool] = same_lenient) -> bool:
    """Whether each entry has one that is `alike`, in any order."""
    left = list(wanted)
    for entry in found:
        place = next((place for place, other in enumerate(left) if alike(entry, other)), None)
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


_SHORT: Final = 300
"""Characters in which anyone sees the difference."""
_SHOWN: Final = 3


def difference(found: Any, wanted: Any) -> list[str]:
    """A line about what differs, or none: of texts, bytes and lists the first position, of sets and objects some members or fields."""
    if type(found) is not type(wanted) or len(repr(wanted)) <= _SHORT:
        return []
    if isinstance(found, (dict, set)):
        return [f"they differ in {', '.join(_apart(found, wanted))}"]
    if isinstance(found, (list, str, bytes)):
        place = next((at for at, (one, other) in enumerate(zip(found, wanted, strict=False)) if not same_lenient(one, other)), None)
        place = min(len(found), len(wanted)) if place is None else place
        there, right = (brief(each[place : place + 1]) for each in (found, wanted))
        return [f"they differ from position {place} on: {there}, expected {right}; lengths {len(found)} and {len(wanted)}"]
    return []


def _apart(found: dict[Any, Any] | set[Any], wanted: dict[Any, Any] | set[Any]) -> Iterator[str]:
    """The first few of what is missing, what is too many, and what has another value."""
    missing, extra = (sorted(set(one) - set(other), key=repr) for one, other in ((wanted, found), (found, wanted)))
    both = (found, wanted) if isinstance(found, dict) and isinstance(wanted, dict) else ({}, {})
    changed = [key for key in both[0].keys() & both[1].keys() if not same_lenient(both[0][key], both[1][key])]
    for what, which in (("without", missing), ("with", extra), ("another value of", sorted(changed, key=repr))):
        if which:
            more = f" and {len(which) - _SHOWN} more" if len(which) > _SHOWN else ""
            yield f"{what} {', '.join(map(repr, which[:_SHOWN]))}{more}"
