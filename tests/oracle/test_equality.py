"""When two answers are the same; Python's own `==` is not it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from storeproof.contract import MISSING, Row
from storeproof.oracle import same, same_lenient

ALIKE: list[tuple[Any, Any]] = [
    (None, None),
    (b"", b""),
    ("é", "é"),
    (True, True),
    (-0.0, -0.0),
    (2**63, 2**63),
    ([1, [2]], [1, [2]]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([("k", b"")], (("k", b""),)),
    ([["k", Row(1, 1.0)]], [("k", (1, 1.0))]),
    (MISSING, MISSING),
    (Decimal("1.10"), Decimal("1.10")),
]
UNLIKE: list[tuple[Any, Any]] = [
    (True, 1),
    (False, 0),
    (True, 1.0),
    (None, False),
    (None, MISSING),
    (None, ""),
    ("", b""),
    ("a", b"a"),
    ("é", "e\u0301"),
    ("Å", "\u212b"),
    (1, "1"),
    (1, 2),
    (0.1, 0.1 + 2**-55),
    (2**53, 2**53 + 1),
    (float(2**53), 2**53 + 1),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([], {}),
    ([], None),
    ({"a": 1}, {"a": 1, "b": None}),
    ({"a": {"b": [True]}}, {"a": {"b": [1]}}),
    (Row(True, 1.0), Row(1, 1.0)),
    (Decimal("0.1"), 0.1),
    (Decimal(1), 1),
    (Decimal("0.1"), Decimal("0.10000000000000000000000000001")),
]
LENIENT: list[tuple[Any, Any]] = [
    (1, 1.0),
    (-0.0, 0.0),
    (0, -0.0),
    ({"a": [1, {"b": -0.0}]}, {"a": [1.0, {"b": 0}]}),
    (Row(1, 1.0), (1, 1)),
    (Decimal("1.10"), Decimal("1.1")),
]  # whole reals that come back as integers, minus zero, and zeros at the end of a decimal


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_alike(one: Any, other: Any) -> None:
    """These values count as the same answer."""
    assert same(one, other)
    assert same(other, one)
    assert same_lenient(one, other)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_unlike(one: Any, other: Any) -> None:
    """These values count as different answers."""
    assert not same(one, other)
    assert not same(other, one)
    assert not same_lenient(one, other)
    assert not same_lenient(other, one)


@pytest.mark.parametrize(("one", "other"), LENIENT)
def test_alike_where_stores_differ_by_design(one: Any, other: Any) -> None:
    """Differences that stores may have by design do not make an answer wrong."""
    assert not same(one, other)
    assert same_lenient(one, other)
    assert same_lenient(other, one)
