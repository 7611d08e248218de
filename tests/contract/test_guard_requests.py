"""Replies to requests, and to what a store is told about a collection: those of the right shape pass, all others are breaches."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.contract import MISSING, OPERATIONS, Breach, Change, FacetedPage, Layout, WrongReply, call
from storeproof.spec.model import Index
from storeproof.spec.query import Aggregation, Browse, Query, Where
from tests.contract import test_guard
from tests.contract.models import COUNTER, DOCUMENT
from tests.contract.test_guard import Answering

QUERY = Query.model_validate({"limit": 2})
AGGREGATION = Aggregation.model_validate({"by": {"color": "color"}, "compute": {"n": ["count"]}})
BROWSE = Browse.model_validate({"facets": {"colors": "color"}, "limit": 1})
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "get_fields": ("k", ["f", "g"]),
    "set_fields": ("k", {"f": b""}),
    "get_paths": ("k", [("a",), ("b",)]),
    "set_paths": ("k", {("a",): 1}),
    "find": (QUERY,),
    "find_joined": (QUERY, ("item",), (("name",),)),
    "count_where": (Where(),),
    "aggregate": (AGGREGATION,),
    "browse": (BROWSE,),
    "update_where": (Where(), ("a",), 1),
    "delete_where": (Where(),),
    "create_index": (Index.model_validate({"name": "i", "paths": ["a"]}),),
    "drop_index": ("i",),
    "index_names": (),
    "require": (("a",), "text"),
    "transfer": ("a", "b", 1),
    "follow": (True,),
    "changes": (2, 0.5),
    "leave_feed": (),
    "resume_feed": (),
    "save_search": ("s", Where()),
    "searches_for": ({"x": 1},),
}
RIGHT: list[tuple[str, Any]] = [
    ("get_fields", [b"", None]),
    ("get_fields", (None, b"x")),
    ("set_fields", None),
    ("get_paths", [None, MISSING]),
    ("get_paths", [{"a": [1]}, "x"]),
    ("set_paths", False),
    ("find", [("a", {"x": 1}), ("b", {})]),
    ("find", ()),
    ("find_joined", [("a", {}, None), ("b", {"x": 1}, {"y": [None]})]),
    ("count_where", 0),
    ("aggregate", [{"color": None, "n": 1}]),
    ("browse", FacetedPage(5, ["a"], {"colors": [("red", 3), (None, 1)]})),
    ("update_where", 2),
    ("delete_where", 0),
    ("create_index", None),
    ("drop_index", False),
    ("index_names", ["a", "b"]),
    ("require", None),
    ("transfer", True),
    ("follow", None),
    ("changes", [Change("put", "a", {"x": 1}), Change("delete", "b")]),
    ("changes", []),
    ("leave_feed", None),
    ("resume_feed", None),
    ("save_search", None),
    ("searches_for", ["a", "b"]),
]
WRONG: list[tuple[str, Any]] = [
    ("get_fields", b"xy"),
    ("get_fields", {"f": b"", "g": b""}),
    ("set_fields", 2),
    ("get_paths", [1, 2, 3]),
    ("get_paths", None),
    ("set_paths", None),
    ("changes", [Change("delete", "a")] * 3),  # more than were asked for
    ("changes", [("put", "a", None)]),
    ("changes", [Change("insert", "a")]),  # type: ignore[arg-type]  # such a kind there is not
    ("changes", [Change("put", 1)]),
    ("changes", [Change("put", "a", b"bytes")]),
    ("changes", None),
    ("follow", True),
    ("leave_feed", "token"),
    ("resume_feed", 1),
    ("save_search", True),
    ("searches_for", ["b", "a"]),
    ("find", [("a", {})] * 3),  # more than were asked for
    ("find", [["a", {}]]),
    ("find", [(b"a", {})]),
    ("find", [("a", None)]),
    ("find", [("a", {"x": object()})]),
    ("find", None),
    ("find_joined", [("a", {})]),
    ("find_joined", [("a", {}, [])]),
    ("find_joined", None),
    ("count_where", "1"),
    ("aggregate", [{"color": "red"}]),  # a name is missing
    ("aggregate", [{"color": "red", "n": 1, "more": 1}]),
    ("aggregate", [("red", 1)]),
    ("aggregate", "none"),
    ("browse", (1, [], {})),
    ("browse", FacetedPage(1, ["a", "b"], {"colors": []})),  # more than the page
    ("browse", FacetedPage(1, [], {})),  # a facet is missing
    ("browse", FacetedPage(1, [], {"colors": [["red", 1]]})),
    ("browse", FacetedPage(1, [], {"colors": [("red", "1")]})),
    ("update_where", None),
    ("delete_where", True),
    ("create_index", "i"),
    ("drop_index", None),
    ("index_names", ["b", "a"]),
    ("index_names", "a"),
    ("require", True),
    ("transfer", 1),
]


def ask(operation: str, answer: Any) -> Any:
    layout: Layout = COUNTER if operation == "transfer" else DOCUMENT
    return call(Answering(answer), layout, operation, *ARGUMENTS[operation])


@pytest.mark.parametrize(("operation", "answer"), RIGHT)
def test_a_right_reply_passes_as_it_is(operation: str, answer: Any) -> None:
    """A reply of the right shape is returned unchanged."""
    assert ask(operation, answer) is answer


@pytest.mark.parametrize(("operation", "answer"), WRONG)
def test_a_wrong_reply_is_a_breach(operation: str, answer: Any) -> None:
    """A reply of the wrong shape is an error."""
    with pytest.raises((Breach, WrongReply)):
        ask(operation, answer)


ALIKE = {
    *("set_field", "unset_path", "compare_and_set", "put_expiring", "put_swept", "expire", "persist"),
    *("insert_item", "pull_item", "add_to_set"),
    *("push_front", "pop_back", "remove_member", "has_member", "set_score", "remove_score"),
}
"""They share the check of one that is tried."""


def test_every_operation_is_tried_with_a_right_and_with_a_wrong_reply() -> None:
    """A new operation needs a right and a wrong reply in these tables."""
    right = {operation for operation, _ in RIGHT} | {operation for _, operation, _ in test_guard.RIGHT}
    wrong = {operation for operation, _ in WRONG} | {operation for _, operation, _, _ in test_guard.WRONG}
    assert right | {"set_field"} == set(OPERATIONS)
    assert wrong | ALIKE == set(OPERATIONS)
    assert not wrong & ALIKE
