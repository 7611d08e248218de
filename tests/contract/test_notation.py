"""What the specification's YAML writes becomes the plain values of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.contract import MISSING, Layout, Row
from storeproof.contract.notation import answer_from, arguments_from, record_from, shown
from tests.contract.models import COUNTER, DOCUMENT, HASH, QUEUE, RANKING, ROW, SET, VALUE

RECORDS: list[tuple[Layout, Any, Any]] = [
    (VALUE, "ü", "ü".encode()),
    (VALUE, "", b""),
    (VALUE, b"\xff\0", b"\xff\0"),
    (HASH, {"field0": "ü", "field1": b"\0"}, {"field0": "ü".encode(), "field1": b"\0"}),
    (DOCUMENT, {"a": [1, None, "x"]}, {"a": [1, None, "x"]}),
    (ROW, [1, 2], Row(1, 2.0)),
    (ROW, [1, 0.1], Row(1, 0.1)),
    (COUNTER, 5, 5),
    (QUEUE, ["ü", b"\xff", ""], ["ü".encode(), b"\xff", b""]),
    (SET, ["b", "a", "b"], {"a", "b"}),
    (RANKING, {"a": 1, "b": -0.5}, {"a": 1.0, "b": -0.5}),
]


@pytest.mark.parametrize(("layout", "written", "record"), RECORDS)
def test_a_record(layout: Layout, written: Any, record: Any) -> None:
    """YAML values become records of the model's type."""
    found = record_from(layout.model, written)
    assert found == record
    assert type(found) is type(record)


@pytest.mark.parametrize(("layout", "written", "record"), RECORDS)
def test_what_is_put_is_what_is_wanted_back(layout: Layout, written: Any, record: Any) -> None:
    """Arguments and expected answers are converted in the same way."""
    model = layout.model
    assert arguments_from(model, "put", ("k", written)) == ("k", record)
    assert arguments_from(model, "put_if_absent", ("k", written)) == ("k", record)
    assert arguments_from(model, "put_expiring", ("k", written, 2)) == ("k", record, 2)
    assert arguments_from(model, "put_swept", ("k", written, 2)) == ("k", record, 2)
    assert arguments_from(model, "compare_and_set", ("k", written, written)) == ("k", record, record)
    for batch in ("put_many", "insert_many"):
        assert arguments_from(model, batch, ({"k": written, "l": written},)) == ({"k": record, "l": record},)
    assert answer_from(model, "get", written) == record
    assert answer_from(model, "get_many", [written, None]) == [record, None]
    assert answer_from(model, "scan", [["k", written]]) == [("k", record)]
    assert arguments_from(model, "get_and_set", ("k", written)) == ("k", record)
    assert answer_from(model, "get_and_set", written) == record
    assert answer_from(model, "scan_prefix", [["k", written]]) == [("k", record)]


def test_fields_and_paths() -> None:
    """Text becomes bytes in fields, and lists become paths."""
    assert arguments_from(HASH.model, "set_field", ("k", "field0", "ü")) == ("k", "field0", "ü".encode())
    assert answer_from(HASH.model, "get_field", "") == b""
    assert arguments_from(DOCUMENT.model, "get_path", ("k", ["a", 0])) == ("k", ("a", 0))
    assert arguments_from(DOCUMENT.model, "set_path", ("k", ["a", 0], ["x"])) == ("k", ("a", 0), ["x"])
    assert arguments_from(DOCUMENT.model, "unset_path", ("k", ["a"])) == ("k", ("a",))
    assert answer_from(DOCUMENT.model, "get_path", "x") == "x"
    assert arguments_from(HASH.model, "set_fields", ("k", {"field0": "ü", "field1": b""})) == ("k", {"field0": "ü".encode(), "field1": b""})
    assert answer_from(HASH.model, "get_fields", ["", None]) == [b"", None]
    assert arguments_from(DOCUMENT.model, "get_paths", ("k", [["a", 0], ["b"]])) == ("k", [("a", 0), ("b",)])
    assert arguments_from(DOCUMENT.model, "set_paths", ("k", [[["a", 0], ["x"]], [["b"], None]])) == ("k", {("a", 0): ["x"], ("b",): None})
    assert answer_from(DOCUMENT.model, "get_paths", [["x"], [None], []]) == ["x", None, MISSING]


def test_items_and_scores() -> None:
    """Items become bytes, and scores floats."""
    assert arguments_from(VALUE.model, "append", ("k", "ü")) == ("k", "ü".encode())
    assert arguments_from(DOCUMENT.model, "insert_item", ("k", ["a", 0], ["x"])) == ("k", ("a", 0), ["x"])
    assert arguments_from(DOCUMENT.model, "item_count", ("k", ["a"])) == ("k", ("a",))
    assert arguments_from(QUEUE.model, "push_front", ("k", "ü")) == ("k", "ü".encode())
    assert answer_from(QUEUE.model, "pop_back", "ü") == "ü".encode()
    assert answer_from(QUEUE.model, "list_range", ["a", b"\0"]) == [b"a", b"\0"]
    assert arguments_from(RANKING.model, "set_score", ("k", "m", 1)) == ("k", "m", 1.0)
    assert answer_from(RANKING.model, "top", [["m", 1]]) == [("m", 1.0)]


def test_what_needs_no_change_stays() -> None:
    """Other arguments and answers are left as they are."""
    assert arguments_from(VALUE.model, "get_many", (["a", "b"],)) == (["a", "b"],)
    assert arguments_from(VALUE.model, "scan", (None, 2, True)) == (None, 2, True)
    assert answer_from(VALUE.model, "exists", False) is False
    assert answer_from(VALUE.model, "get", None) is None


def test_an_operation_is_one_line_that_stays_short() -> None:
    """A printed operation has a bounded length."""
    assert shown("put", ("k", b"\0")) == r"put('k', b'\x00')"
    assert shown("count", ()) == "count()"
    long = shown("put", ("k", b"x" * 100_000))
    assert len(long) < 600
    assert long.endswith("(100003 characters))")
