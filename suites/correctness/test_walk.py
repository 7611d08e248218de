"""A walk over all keys under concurrent writes: it returns every key that stays, and no key that no client wrote."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from storeproof.contract import Collection, Cursor, Layout, call, supports, why_not
from storeproof.experiments.case_collections import OpenCollection
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest

_KEYS = 400
"""Of each kind: those that stay, those that are deleted on the way, those that come on the way."""
_AT_ONCE = 25
"""Keys that are asked for with each call: many calls, so that there is much on the way."""
_MOST_CALLS = 100_000
"""A walk that has not ended by then never does; a store that is shared with others may need many."""


@pytest.mark.case(id="walk.single_key", model="single_key", operations=("walk",))
def test_a_walk_sees_all_that_stays(sut: StoreUnderTest, fresh: OpenCollection, case_result: CaseResult) -> None:
    """A walk returns every key that exists throughout it, while others are written and deleted."""
    collection, layout = fresh("single_key")
    if not supports(collection, "walk"):
        case_result.settle(Outcome.UNSUPPORTED, f"walk on single_key: {why_not(collection, 'Walk')}")
    neighbour, beside = fresh("single_key")
    call(neighbour, beside, "put", "stranger", b"")
    assert not _walk(collection, layout, lambda: None)[0], "an empty collection has no keys"
    choice = random.Random(sut.seed)
    staying, leaving, coming = ([f"{number:03}{kind}" for number in range(_KEYS)] for kind in ("stays", "leaves", "comes"))
    for key in [*staying, *leaving]:
        call(collection, layout, "put", key, b"first")
    gone, come = choice.sample(leaving, _KEYS), choice.sample(coming, _KEYS)

    def delete() -> None:
        for _ in range(min(_AT_ONCE, len(gone))):
            call(collection, layout, "delete", gone.pop())

    def add() -> None:
        for _ in range(min(_AT_ONCE, len(come))):
            call(collection, layout, "put", come.pop(), b"new")
        call(collection, layout, "put", choice.choice(staying), b"second")

    for write, while_what in ((delete, "others were deleted"), (add, "others were added")):  # together they might make up for each other
        seen, calls = _walk(collection, layout, write)
        missed = sorted(set(staying) - seen)
        assert not missed, (
            f"{len(missed)} of {_KEYS} keys that existed throughout were not returned while {while_what}, {missed[0]} among them"
        )
        invented = seen - {*staying, *leaving, *coming}
        assert not invented, f"keys that no client wrote: {sorted(invented)[:3]}"
        case_result.add(f"{_KEYS} keys that stayed were returned in {calls} calls while {while_what}")
    again, _ = _walk(collection, layout, lambda: None)
    left = {*staying, *gone, *(set(coming) - set(come))}
    assert again == left, "without writes a walk returns exactly the existing keys"


def _walk(collection: Collection, layout: Layout, between: Callable[[], None]) -> tuple[set[Any], int]:
    """All keys that one walk answers, and in how many calls; `between` is called after each of them."""
    cursor: Cursor | None = None
    seen: set[Any] = set()
    for calls in range(1, _MOST_CALLS + 1):
        cursor, keys = call(collection, layout, "walk", cursor, _AT_ONCE)
        seen.update(keys)
        if cursor is None:
            return seen, calls
        between()
    raise AssertionError(f"the walk had not ended after {_MOST_CALLS} calls")
