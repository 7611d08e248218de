"""Lists of write ids: what is one, and what they tell of the order of versions."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.history import Access, Transaction
from storeproof.records.versioned.lists import SeenLists, item, items_of


@pytest.mark.parametrize(
    ("record", "items"),
    [
        (item("1:2"), ["1:2"]),
        (item("1:2") + item("3:4"), ["1:2", "3:4"]),
        (b"", None),
        (b"1:2", None),
        (b"1:2,3,", None),
        (b"1:2,\xff,", None),
        ("1:2,", None),
    ],
)
def test_a_list_is_whole_or_none(record: Any, items: list[str] | None) -> None:
    """Part of an item is no item."""
    assert items_of(record) == items


def appended(version: str) -> Transaction:
    return Transaction(1, 10, 20, "ok", (Access("read", "x", None), Access("write", "x", version)))


def test_lists_tell_what_each_version_followed() -> None:
    """As any client saw it; a version that no one saw followed one that is not known."""
    one, other = SeenLists(), SeenLists()
    one.add("x", ["a", "b"])
    one.add("x", ["a"])
    other.add("x", ["a", "b", "c"])
    other.add("y", ["d"])
    together = SeenLists.together([one, other])
    assert [together.told(appended(version)).accesses[1].after for version in "abcd"] == [None, "a", "b", None]
    assert together.contradictions == []


def test_a_version_behind_two_others_contradicts() -> None:
    """Of one client, or of two: an item is gone, or has moved."""
    one, other = SeenLists(), SeenLists()
    one.add("x", ["a", "b", "c"])
    other.add("x", ["a", "c"])
    assert SeenLists.together([one, other]).contradictions == ["x had c after b, and after a"]
    one.add("x", ["b", "c"])
    assert one.contradictions == ["x had b after a, and after nothing"]
