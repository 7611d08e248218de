"""Whether a collection implements a family is asked of all its methods."""

from __future__ import annotations

import pytest

from storeproof.contract import OPERATIONS, supports
from storeproof.contract.families import Collection, Fields, KeyValue, Paths, Session
from tests.contract.answering import Answering, Bare


def test_supports_asks_for_the_whole_family() -> None:
    """`supports` is true only for whole families."""

    class Reader(Bare):
        def get(self, key: str) -> None: ...

    assert all(supports(Answering(None), operation) for operation in OPERATIONS)
    assert not any(supports(Bare(), operation) for operation in OPERATIONS)
    assert not supports(Reader(), "get")


def test_the_required_protocols_and_the_optional_ones_are_told_apart() -> None:
    """A bare collection is a `Collection` and of no other protocol."""
    assert isinstance(Bare(), Collection)
    assert not isinstance(Bare(), Session)
    assert not isinstance(object(), Collection)
    assert not isinstance(Bare(), (KeyValue, Fields, Paths))


def test_an_operation_is_named_as_the_method_that_does_it() -> None:
    """Every operation is a method of its family."""
    for name, described in OPERATIONS.items():
        assert described.name == name
        assert callable(getattr(described.family, name))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_family_is_there_if_it_is_whole(operation: str) -> None:
    """As `isinstance` says of its protocol, whatever is known of the class."""
    family = OPERATIONS[operation].family
    whole, names = Answering(None), [name for name, each in OPERATIONS.items() if each.family is family]
    partly = type("Partly", (Bare,), {name: Answering._reply for name in names if name != operation})()
    taken_back = type("TakenBack", (Answering,), {operation: None})(None)
    for collection in (whole, Bare(), partly, taken_back):
        assert supports(collection, operation) is isinstance(collection, family) is (collection is whole)
