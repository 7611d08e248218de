"""A record comes back from its copy as it was, also a hostile one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storeproof.adapters.composite.encoding import KINDS, decode, encode
from storeproof.contract import Row, WrongReply
from storeproof.oracle.strategies import records
from tests.shipped import SHIPPED

MODELS = sorted(name for name, model in SHIPPED.models.items() if model.record.kind in KINDS)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down: True is not 1, and 1.0 is not 1."""
    if isinstance(one, dict):
        return type(other) is dict and one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_record_of_any_model_comes_back(name: str, data: st.DataObject) -> None:
    """Bytes, names with every character, 64-bit integers, doubles to the last bit."""
    model = SHIPPED.models[name]
    record = data.draw(records(model))
    assert same(decode(model, encode(model, record)), record)


@pytest.mark.parametrize("text", ["1.10", "-0.00", "123456789012345678901234567890.12", "1E+6"])
def test_an_exact_decimal_comes_back_with_all_its_digits(text: str) -> None:
    """Also beside fields that are named like the mark of a decimal."""
    model = next(model for model in SHIPPED.models.values() if model.decimals)
    record: Any = {"total": Decimal(text), "decimal": text, "=": {"decimal": [Decimal(text), {}]}, "": None}
    assert same(decode(model, encode(model, record)), record)


def test_what_is_no_copy_is_a_wrong_reply_of_the_front() -> None:
    """Of each kind of record that is not just bytes."""
    for name, copies in {
        "hash10": (b"\xff", b"[]", b'{"field0": 5}', b'{"field0": "\xc4\x80"}'),
        "row": (b"{}", b"[1]", b"nothing"),
        "document10": (b"", b"{"),
    }.items():
        for copy in copies:
            with pytest.raises(WrongReply):
                decode(SHIPPED.models[name], copy)
    assert decode(SHIPPED.models["row"], b"[1,2.5]") == Row(1, 2.5)
