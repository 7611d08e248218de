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
QUEUE = {"q": [b"a", b"b"]}
SET = {"s": {"a", "b"}}
RANKING = {"r": {"a": 1.0, "b": 1.0, "é": 1.0, "z": 9.0}}
PLACES = {"p": {"a": (179.0, 0.0), "b": (-178.0, 0.0)}}
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
    ("insert_many", {"a": b"1"}, ({"b": b"2", "c": b"3"},), True, {"a": b"1", "b": b"2", "c": b"3"}),
    ("insert_many", {"a": b"1", "b": b"2"}, ({"a": b"3", "b": b"4"},), False, None),
    ("insert_many", {"a": b"1"}, ({"a": b"2", "c": b"3"},), UNDEFINED, None),
    ("insert_many", {"a": b"1"}, ({},), True, None),
    ("get_field", HASH, ("h", "a"), b"1", None),
    ("get_field", HASH, ("h", "c"), None, None),
    ("get_field", HASH, ("-", "a"), None, None),
    ("set_field", HASH, ("h", "a", b"9"), None, {"h": {"a": b"9", "b": b"2"}}),
    ("set_field", {}, ("h", "a", b""), None, {"h": {"a": b""}}),
    ("delete_field", HASH, ("h", "a"), True, {"h": {"b": b"2"}}),
    ("delete_field", HASH, ("h", "c"), False, None),
    ("delete_field", HASH, ("-", "a"), False, None),
    ("delete_field", {"h": {"a": b"1"}}, ("h", "a"), UNDEFINED, None),  # whether an empty hash is a record
    ("get_fields", HASH, ("h", ["b", "c", "a", "b"]), [b"2", None, b"1", b"2"], None),
    ("get_fields", HASH, ("-", ["a", "b"]), [None, None], None),
    ("get_fields", HASH, ("h", []), [], None),
    ("set_fields", HASH, ("h", {"b": b"9", "c": b""}), None, {"h": {"a": b"1", "b": b"9", "c": b""}}),
    ("set_fields", {}, ("h", {"a": b"", "b": b"1"}), None, {"h": {"a": b"", "b": b"1"}}),
    ("set_fields", {}, ("h", {}), None, None),
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
    ("get_paths", DOCUMENT, ("d", [("o", "l", 1), ("n",), ("o", "x"), ("a",)]), ["z", MISSING, None, 1], None),
    ("get_paths", DOCUMENT, ("-", [("a",), ("b",)]), [MISSING, MISSING], None),
    ("get_paths", DOCUMENT, ("d", []), [], None),
    ("get_paths", DOCUMENT, ("d", [("a",), ("o", 0)]), UNDEFINED, None),  # a position on an object
    ("set_paths", DOCUMENT, ("d", {("a",): 2, ("o", "l", 0, "y"): None}), True, {"d": {"a": 2, "o": {"x": None, "l": [{"y": None}, "z"]}}}),
    ("set_paths", DOCUMENT, ("d", {("a",): 2, ("n",): {}}), True, {"d": {**DOCUMENT["d"], "a": 2, "n": {}}}),
    ("set_paths", DOCUMENT, ("d", {}), True, None),
    ("set_paths", DOCUMENT, ("-", {("a",): 1, ("b",): 2}), False, None),
    ("set_paths", DOCUMENT, ("-", {}), False, None),
    ("set_paths", DOCUMENT, ("d", {("a",): 2, ("n", "m"): 1}), REFUSAL, None),  # no parent of the second: nothing of the first
    ("set_paths", DOCUMENT, ("d", {("n", "m"): 1, ("a",): 2}), REFUSAL, None),
    ("set_paths", DOCUMENT, ("d", {("n", "m"): 1, ("o", 0): 2}), UNDEFINED, None),
    ("set_paths", DOCUMENT, ("d", {("o", "n"): 1, ("o",): 2}), UNDEFINED, None),  # one leads into the value of the other
    ("set_paths", DOCUMENT, ("d", {("n",): {}, ("n", "m"): 1}), UNDEFINED, None),
    ("increment", {}, ("n", 5), 5, {"n": 5}),
    ("transfer", {"a": 5, "b": 1}, ("a", "b", 5), True, {"a": 0, "b": 6}),
    ("transfer", {"a": 5}, ("a", "b", 2), True, {"a": 3, "b": 2}),
    ("transfer", {"a": 5}, ("a", "b", 6), False, None),
    ("transfer", {}, ("a", "b", 1), False, None),
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
    ("get_and_set", {"a": b"1"}, ("a", b"2"), b"1", {"a": b"2"}),
    ("get_and_set", {}, ("a", b"2"), None, {"a": b"2"}),
    ("get_and_set", HASH, ("h", {"c": b""}), {"a": b"1", "b": b"2"}, {"h": {"c": b""}}),
    ("append", {"a": b"1\0"}, ("a", b"2"), None, {"a": b"1\x002"}),
    ("append", {}, ("a", b""), None, {"a": b""}),
    ("increment_field", HASH, ("h", "a", 41), 42, {"h": {"a": b"42", "b": b"2"}}),
    ("increment_field", HASH, ("h", "c", -1), -1, {"h": {"a": b"1", "b": b"2", "c": b"-1"}}),
    ("increment_field", {}, ("h", "a", 0), 0, {"h": {"a": b"0"}}),
    ("increment_field", {"h": {"a": b"x"}}, ("h", "a", 1), REFUSAL, None),
    ("increment_field", {"h": {"a": b""}}, ("h", "a", 1), REFUSAL, None),
    ("increment_field", {"h": {"a": b"1.5"}}, ("h", "a", 1), UNDEFINED, None),
    ("increment_field", {"h": {"a": b"007"}}, ("h", "a", 1), UNDEFINED, None),
    ("increment_field", {"h": {"a": b"9223372036854775807"}}, ("h", "a", 1), UNDEFINED, None),
    ("increment_path", DOCUMENT, ("d", ("a",), 2), 3, {"d": {**DOCUMENT["d"], "a": 3}}),
    ("increment_path", DOCUMENT, ("d", ("a",), 0.5), 1.5, {"d": {**DOCUMENT["d"], "a": 1.5}}),
    ("increment_path", {"d": {"l": [{"y": 2}]}}, ("d", ("l", 0, "y"), -3), -1, {"d": {"l": [{"y": -1}]}}),
    ("increment_path", {"d": {"l": [2]}}, ("d", ("l", 0), 1), 3, {"d": {"l": [3]}}),
    ("increment_path", {"d": {}}, ("d", ("n",), 5), 5, {"d": {"n": 5}}),
    ("increment_path", DOCUMENT, ("-", ("a",), 1), None, None),  # no record, and none is made
    ("increment_path", DOCUMENT, ("d", ("o", "x"), 1), REFUSAL, None),  # null is no number
    ("increment_path", {"d": {"t": True}}, ("d", ("t",), 1), REFUSAL, None),
    ("increment_path", DOCUMENT, ("d", ("n", "m"), 1), REFUSAL, None),  # no parent
    ("increment_path", DOCUMENT, ("d", ("o", "l", 5), 1), UNDEFINED, None),
    ("increment_path", {"d": {"n": 0.1}}, ("d", ("n",), 0.2), UNDEFINED, None),  # binary and decimal round elsewhere
    ("increment_path", {"d": {"n": 2**63 - 1}}, ("d", ("n",), 1), UNDEFINED, None),
    ("increment_path", {"d": {"n": 1.7e308}}, ("d", ("n",), 1.7e308), UNDEFINED, None),
    ("push_item", {"d": {"l": [1]}}, ("d", ("l",), [2]), True, {"d": {"l": [1, [2]]}}),
    ("push_item", {"d": {"l": [[]]}}, ("d", ("l", 0), None), True, {"d": {"l": [[None]]}}),
    ("push_item", {}, ("d", ("l",), 1), False, None),
    ("push_item", {"d": {"l": None}}, ("d", ("l",), 1), REFUSAL, None),
    ("push_item", {"d": {"l": {}}}, ("d", ("l",), 1), REFUSAL, None),
    ("push_item", {"d": {}}, ("d", ("l",), 1), UNDEFINED, None),  # some stores start a list
    ("insert_item", {"d": {"l": [1, 2]}}, ("d", ("l", 1), 9), True, {"d": {"l": [1, 9, 2]}}),
    ("insert_item", {"d": {"l": []}}, ("d", ("l", 0), 9), True, {"d": {"l": [9]}}),
    ("insert_item", {"d": {"l": [1]}}, ("d", ("l", 1), 9), True, {"d": {"l": [1, 9]}}),
    ("insert_item", {"d": {"l": [1]}}, ("d", ("l", 2), 9), UNDEFINED, None),  # beyond the end
    ("insert_item", {"d": {"l": "x"}}, ("d", ("l", 0), 9), REFUSAL, None),
    ("insert_item", {}, ("d", ("l", 0), 9), False, None),
    ("pull_item", {"d": {"l": [1, 2, 1]}}, ("d", ("l",), 1), True, {"d": {"l": [2]}}),
    ("pull_item", {"d": {"l": [1]}}, ("d", ("l",), 1), True, {"d": {"l": []}}),
    ("pull_item", {"d": {"l": [1]}}, ("d", ("l",), True), True, None),  # true is not 1
    ("pull_item", {"d": {"l": [1.0]}}, ("d", ("l",), 1), UNDEFINED, None),
    ("pull_item", {"d": {"l": [{"a": 1, "b": 2}]}}, ("d", ("l",), {"b": 2, "a": 1}), UNDEFINED, None),
    ("pull_item", {"d": {"l": 1}}, ("d", ("l",), 1), REFUSAL, None),
    ("pull_item", {}, ("d", ("l",), 1), False, None),
    ("add_to_set", {"d": {"l": [1]}}, ("d", ("l",), 2), True, {"d": {"l": [1, 2]}}),
    ("add_to_set", {"d": {"l": [1]}}, ("d", ("l",), 1), True, None),
    ("add_to_set", {"d": {"l": [1]}}, ("d", ("l",), True), True, {"d": {"l": [1, True]}}),
    ("add_to_set", {"d": {"l": [1]}}, ("d", ("l",), 1.0), UNDEFINED, None),
    ("add_to_set", {"d": {"l": 1}}, ("d", ("l",), 1), REFUSAL, None),
    ("add_to_set", {}, ("d", ("l",), 1), False, None),
    ("item_count", DOCUMENT, ("d", ("o", "l")), 2, None),
    ("item_count", DOCUMENT, ("d", ("o",)), MISSING, None),
    ("item_count", DOCUMENT, ("d", ("n",)), MISSING, None),
    ("item_count", DOCUMENT, ("-", ("o", "l")), MISSING, None),
    ("item_count", DOCUMENT, ("d", ("o", 0)), UNDEFINED, None),
    ("scan_prefix", {"ab": b"1", "a": b"2", "b": b"3", "aB": b"4"}, ("a", 9), [("a", b"2"), ("aB", b"4"), ("ab", b"1")], None),
    ("scan_prefix", VALUES, ("", 2), [("B", b"0"), ("a", b"1")], None),
    ("scan_prefix", VALUES, ("x", 2), [], None),
    ("push_back", {}, ("q", b"a"), 1, {"q": [b"a"]}),
    ("push_back", QUEUE, ("q", b""), 3, {"q": [b"a", b"b", b""]}),
    ("push_front", QUEUE, ("q", b"b"), 3, {"q": [b"b", b"a", b"b"]}),
    ("pop_front", QUEUE, ("q",), b"a", {"q": [b"b"]}),
    ("pop_back", QUEUE, ("q",), b"b", {"q": [b"a"]}),
    ("pop_front", QUEUE, ("-",), None, None),
    ("pop_back", {"q": [b"a"]}, ("q",), UNDEFINED, None),  # whether an empty list is a record
    ("list_range", QUEUE, ("q", 1, 9), [b"b"], None),
    ("list_range", QUEUE, ("q", 0, 1), [b"a"], None),
    ("list_range", QUEUE, ("q", 1, 0), [], None),
    ("list_range", QUEUE, ("-", 0, 9), [], None),
    ("list_length", QUEUE, ("q",), 2, None),
    ("list_length", QUEUE, ("-",), 0, None),
    ("add_member", {}, ("s", ""), True, {"s": {""}}),
    ("add_member", SET, ("s", "a"), False, None),
    ("add_member", SET, ("s", "A"), True, {"s": {"a", "b", "A"}}),
    ("remove_member", SET, ("s", "a"), True, {"s": {"b"}}),
    ("remove_member", SET, ("s", "c"), False, None),
    ("remove_member", {"s": {"a"}}, ("s", "a"), UNDEFINED, None),  # whether an empty set is a record
    ("has_member", SET, ("s", "a"), True, None),
    ("has_member", SET, ("-", "a"), False, None),
    ("member_count", SET, ("s",), 2, None),
    ("member_count", SET, ("-",), 0, None),
    ("set_score", {}, ("r", "a", -1.5), True, {"r": {"a": -1.5}}),
    ("set_score", RANKING, ("r", "a", 0.0), False, {"r": {**RANKING["r"], "a": 0.0}}),
    ("add_score", RANKING, ("r", "a", 0.5), 1.5, {"r": {**RANKING["r"], "a": 1.5}}),
    ("add_score", RANKING, ("r", "n", -2.0), -2.0, {"r": {**RANKING["r"], "n": -2.0}}),
    ("add_score", {"r": {"a": 1.7e308}}, ("r", "a", 1.7e308), UNDEFINED, None),
    ("remove_score", RANKING, ("r", "a"), True, {"r": {"b": 1.0, "é": 1.0, "z": 9.0}}),
    ("remove_score", RANKING, ("r", "n"), False, None),
    ("remove_score", {"r": {"a": 1.0}}, ("r", "a"), UNDEFINED, None),  # whether an empty ranking is a record
    ("score_of", RANKING, ("r", "z"), 9.0, None),
    ("score_of", RANKING, ("-", "z"), None, None),
    ("rank_of", RANKING, ("r", "z"), 0, None),
    ("rank_of", RANKING, ("r", "é"), 1, None),  # of equal scores the last by code point is first
    ("rank_of", RANKING, ("r", "a"), 3, None),
    ("rank_of", RANKING, ("r", "n"), None, None),
    ("top", RANKING, ("r", 3), [("z", 9.0), ("é", 1.0), ("b", 1.0)], None),
    ("top", RANKING, ("-", 3), [], None),
    ("ranking_size", RANKING, ("r",), 4, None),
    ("ranking_size", RANKING, ("-",), 0, None),
    ("add_place", PLACES, ("p", "c", 0.0, 90.0), True, {"p": {**PLACES["p"], "c": (0.0, 90.0)}}),
    ("add_place", PLACES, ("p", "a", 9.0, 9.0), False, {"p": {**PLACES["p"], "a": (9.0, 9.0)}}),
    ("add_place", {}, ("p", "a", 9.0, 91.0), REFUSAL, None),
    ("remove_place", PLACES, ("p", "a"), True, {"p": {"b": PLACES["p"]["b"]}}),
    ("remove_place", PLACES, ("p", "c"), False, None),
    ("place_count", PLACES, ("p",), 2, None),
    ("distance_between", PLACES, ("p", "a", "a"), 0.0, None),
    ("distance_between", PLACES, ("p", "a", "-"), None, None),
    ("nearest", PLACES, ("p", 180.0, 0.0, 112000.0, 5), ["a"], None),  # a degree of the equator is 111.2 km
    ("nearest", PLACES, ("p", -180.0, 0.0, 223000.0, 5), ["a", "b"], None),
    ("nearest", PLACES, ("p", -180.0, 0.0, 223000.0, 1), ["a"], None),
]


@pytest.mark.parametrize(("operation", "state", "args", "answer", "after"), CASES)
def test_the_answer_and_the_state_after_it(operation: str, state: Any, args: tuple[Any, ...], answer: Any, after: Any) -> None:
    """One operation gives this answer and leaves this state."""
    before = copy.deepcopy(state)
    found, found_after = step(state, operation, args)
    assert same(found, answer)
    assert same(dict(found_after), before if after is None else after)
    assert same(state, before), "the state given is not changed"


def test_every_operation_but_those_of_the_clock_has_a_step_and_a_case() -> None:
    """What time does to a record is tried by the fixed cases: a history without a clock cannot say. Requests are in test_catalogue.

    A walk goes on from what the store answered, and has a check of its own.
    """
    timed = {"put_expiring", "put_swept", "expire", "expires_in", "persist", "walk"}
    rules = {"create_index", "drop_index", "index_names", "require"}  # they change what is refused later, which is no state of records
    told = {"follow", "changes", "leave_feed", "resume_feed", "save_search", "searches_for"}  # these are the Reference's
    assert set(_STEPS) == set(OPERATIONS) - timed - rules - told
    assert {case[0] for case in CASES} == set(_STEPS) - set(REQUESTS)


def test_what_was_put_is_not_changed_by_what_is_done_to_the_argument() -> None:
    """The oracle keeps a copy of what it is given."""
    record: dict[str, Any] = {"a": [1]}
    _, state = step({}, "put", ("d", record))
    _, state = step(state, "put_many", ({"e": record},))
    _, state = step(state, "set_path", ("e", ("b",), record))
    record["a"].append(2)
    assert same(dict(state), {"d": {"a": [1]}, "e": {"a": [1], "b": {"a": [1]}}})
