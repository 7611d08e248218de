"""The oracle, operation by operation, on cases written by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from storeproof.contract import MISSING, OPERATIONS, Row
from storeproof.oracle import REFUSAL, UNDEFINED, same, step
from storeproof.oracle.step import _STEPS
from storeproof.spec.query import REQUESTS

HASH = {"h": {"a": b"1", "b": b"2"}}
DOCUMENT = {"d": {"a": 1, "o": {"x": None, "l": [{"y": 2}, "z"]}}}
ROWS = {10: Row(1, 1.0), -1: Row(2, 2.0), 9: Row(3, 3.0)}
VALUES = {"b": b"2", "a": b"1", "B": b"0", "é": b"3"}

CASES: list[tuple[str, Any, tuple[Any, ...], Any, Any]] = [
    # operation, state, arguments, answer, state after it (None: as before)
    ("get", VALUES, ("a",), b"1", None),
    ("get", VALUES, ("A",), None, None),
    ("put", {}, ("a", b""), None, {"a": b""}),
    ("put", {"a": b"1"}, ("a", b"2"), None, {"a": b"2"}),
    ("put", {"h": {"a": b"1"}}, ("h", {"b": b"2"}), None, {"h": {"b": b"2"}}),
    ("delete", {"a": b"", "b": b""}, ("a",), True, {"b": b""}),
    ("delete", {"a": b""}, ("b",), False, None),
    ("exists", {"a": b""}, ("a",), True, None),
    ("exists", {}, ("a",), False, None),
    ("count", VALUES, (), 4, None),
    ("count", {}, (), 0, None),
    ("get_many", VALUES, (["b", "-", "a", "b"],), [b"2", None, b"1", b"2"], None),
    ("get_many", VALUES, ([],), [], None),
    ("put_many", {"a": b"1"}, ({"a": b"2", "c": b"3"},), None, {"a": b"2", "c": b"3"}),
    ("get_field", HASH, ("h", "a"), b"1", None),
    ("get_field", HASH, ("h", "c"), None, None),
    ("get_field", HASH, ("-", "a"), None, None),
    ("set_field", HASH, ("h", "a", b"9"), None, {"h": {"a": b"9", "b": b"2"}}),
    ("set_field", {}, ("h", "a", b""), None, {"h": {"a": b""}}),
    ("delete_field", HASH, ("h", "a"), True, {"h": {"b": b"2"}}),
    ("delete_field", HASH, ("h", "c"), False, None),
    ("delete_field", HASH, ("-", "a"), False, None),
    ("delete_field", {"h": {"a": b"1"}}, ("h", "a"), UNDEFINED, None),  # whether an empty hash is a record
    ("get_path", DOCUMENT, ("d", ("a",)), 1, None),
    ("get_path", DOCUMENT, ("d", ("o", "x")), None, None),  # null is a value
    ("get_path", DOCUMENT, ("d", ("o", "l", 0, "y")), 2, None),
    ("get_path", DOCUMENT, ("d", ("o", "l")), [{"y": 2}, "z"], None),
    ("get_path", DOCUMENT, ("d", ("b",)), MISSING, None),
    ("get_path", DOCUMENT, ("d", ("o", "l", 2)), MISSING, None),
    ("get_path", DOCUMENT, ("d", ("a", "b")), MISSING, None),  # through a number
    ("get_path", DOCUMENT, ("d", ("o", "x", "b")), MISSING, None),  # through null
    ("get_path", DOCUMENT, ("-", ("a",)), MISSING, None),
    ("get_path", DOCUMENT, ("d", ("o", 0)), UNDEFINED, None),  # a position on an object
    ("get_path", DOCUMENT, ("d", ("o", "l", "y")), UNDEFINED, None),  # a name on a list
    ("set_path", DOCUMENT, ("d", ("a",), [1]), True, {"d": {**DOCUMENT["d"], "a": [1]}}),
    ("set_path", DOCUMENT, ("d", ("n",), 5), True, {"d": {**DOCUMENT["d"], "n": 5}}),
    ("set_path", DOCUMENT, ("d", ("o", "l", 1), None), True, {"d": {"a": 1, "o": {"x": None, "l": [{"y": 2}, None]}}}),
    ("set_path", DOCUMENT, ("-", ("a",), 1), False, None),
    ("set_path", DOCUMENT, ("d", ("n", "m"), 1), REFUSAL, None),  # no parent
    ("set_path", DOCUMENT, ("d", ("a", "m"), 1), REFUSAL, None),  # the parent is a number
    ("set_path", DOCUMENT, ("d", ("o", "l", 2), 1), UNDEFINED, None),  # beyond the end
    ("set_path", DOCUMENT, ("d", ("o", "l", "m"), 1), UNDEFINED, None),
    ("set_path", DOCUMENT, ("d", ("o", 0), 1), UNDEFINED, None),
    ("set_path", DOCUMENT, ("d", ("o", 0, "x"), 1), UNDEFINED, None),
    ("unset_path", DOCUMENT, ("d", ("o", "l")), True, {"d": {"a": 1, "o": {"x": None}}}),
    ("unset_path", DOCUMENT, ("d", ("o", "x")), True, {"d": {"a": 1, "o": {"l": [{"y": 2}, "z"]}}}),
    ("unset_path", DOCUMENT, ("d", ("n",)), True, None),
    ("unset_path", DOCUMENT, ("d", ("a", "n")), True, None),
    ("unset_path", DOCUMENT, ("-", ("a",)), False, None),
    ("unset_path", DOCUMENT, ("d", ("o", "l", 0)), UNDEFINED, None),  # a list would close up, or keep a hole
    ("unset_path", DOCUMENT, ("d", ("o", 0)), UNDEFINED, None),
    ("unset_path", DOCUMENT, ("d", ("o", 0, "x")), UNDEFINED, None),
    ("increment", {}, ("n", 5), 5, {"n": 5}),
    ("increment", {"n": 2**53}, ("n", 1), 2**53 + 1, {"n": 2**53 + 1}),
    ("increment", {"n": 1}, ("n", -3), -2, {"n": -2}),
    ("increment", {"n": 2**63 - 2}, ("n", 1), 2**63 - 1, {"n": 2**63 - 1}),
    ("increment", {"n": 2**63 - 1}, ("n", 1), UNDEFINED, None),
    ("increment", {"n": -(2**63)}, ("n", -1), UNDEFINED, None),
    ("put_if_absent", {}, ("a", b"1"), True, {"a": b"1"}),
    ("put_if_absent", {"a": b""}, ("a", b"1"), False, None),
    ("compare_and_set", {"a": b"1"}, ("a", b"1", b"2"), True, {"a": b"2"}),
    ("compare_and_set", {"a": b"1"}, ("a", b"0", b"2"), False, None),
    ("compare_and_set", {}, ("a", b"", b"2"), False, None),
    ("compare_and_set", {"d": {"a": 1}}, ("d", {"a": 1}, {}), True, {"d": {}}),
    ("compare_and_set", {"d": {"a": 1}}, ("d", {"a": 1.0}, {}), UNDEFINED, None),
    ("compare_and_set", {"d": {"a": 1}}, ("d", {"a": True}, {}), UNDEFINED, None),
    ("scan", VALUES, (None, 9, False), [("B", b"0"), ("a", b"1"), ("b", b"2"), ("é", b"3")], None),
    ("scan", VALUES, (None, 2, True), [("é", b"3"), ("b", b"2")], None),
    ("scan", VALUES, ("a", 2, False), [("a", b"1"), ("b", b"2")], None),
    ("scan", VALUES, ("c", 2, True), [("b", b"2"), ("a", b"1")], None),
    ("scan", VALUES, ("zz", 2, False), [("é", b"3")], None),
    ("scan", ROWS, (None, 9, False), [(-1, Row(2, 2.0)), (9, Row(3, 3.0)), (10, Row(1, 1.0))], None),
    ("scan", ROWS, (9, 1, True), [(9, Row(3, 3.0))], None),
    ("scan", {}, (None, 9, False), [], None),
]


@pytest.mark.parametrize(("operation", "state", "args", "answer", "after"), CASES)
def test_the_answer_and_the_state_after_it(operation: str, state: Any, args: tuple[Any, ...], answer: Any, after: Any) -> None:
    before = copy.deepcopy(state)
    found, found_after = step(state, operation, args)
    assert same(found, answer)
    assert same(dict(found_after), before if after is None else after)
    assert same(state, before), "the state given is not changed"


def test_every_operation_but_expiry_has_a_step_and_a_case() -> None:
    """What time does to a record is tried by the fixed cases: a history without a clock cannot say. Requests are in test_catalogue."""
    assert set(_STEPS) == set(OPERATIONS) - {"put_expiring"}
    assert {case[0] for case in CASES} == set(_STEPS) - set(REQUESTS)


def test_what_was_put_is_not_changed_by_what_is_done_to_the_argument() -> None:
    record: dict[str, Any] = {"a": [1]}
    _, state = step({}, "put", ("d", record))
    _, state = step(state, "put_many", ({"e": record},))
    _, state = step(state, "set_path", ("e", ("b",), record))
    record["a"].append(2)
    assert same(dict(state), {"d": {"a": [1]}, "e": {"a": [1], "b": {"a": [1]}}})
