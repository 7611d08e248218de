"""The guard takes no reply on trust: every breach of the contract is caught and says what was found."""

# ruff: noqa: E501 - a message is one line

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from storeproof.contract import (
    MISSING,
    Breach,
    FacetedPage,
    Key,
    Layout,
    Record,
    Refused,
    Row,
    Unknown,
    Unsupported,
    WrongReply,
    call,
    call_whole,
)
from storeproof.contract.failures import RAISES
from tests.contract.answering import ARGUMENTS, Answering, Bare
from tests.contract.models import COUNTER, DOCUMENT, HASH, PLACES, QUEUE, RANKING, ROW, SET, VALUE


def ask(layout: Layout, operation: str, answer: Any) -> Any:
    return call(Answering(answer), layout, operation, *ARGUMENTS.get(operation, ("k",)))


class Text(str):
    """What looks like a text and is none."""


RIGHT: list[tuple[Layout, str, Any]] = [
    (VALUE, "get", b"\0"),
    (VALUE, "get", None),
    (HASH, "get", {"field0": b""}),
    (HASH, "get", {}),
    (DOCUMENT, "get", {"a": [1, 1.5, None, True, "x", {"b": []}]}),
    (ROW, "get", Row(1, 1.0)),
    (COUNTER, "get", -(2**63)),
    (VALUE, "put", None),
    (VALUE, "delete", True),
    (VALUE, "exists", False),
    (VALUE, "count", 0),
    (VALUE, "get_many", [b"", None]),
    (VALUE, "get_many", (None, None)),
    (VALUE, "put_many", None),
    (VALUE, "insert_many", True),
    (HASH, "get_field", None),
    (HASH, "get_field", b""),
    (HASH, "delete_field", False),
    (DOCUMENT, "get_path", MISSING),
    (DOCUMENT, "get_path", None),
    (DOCUMENT, "get_path", [1]),
    (DOCUMENT, "set_path", False),
    (DOCUMENT, "unset_path", True),
    (COUNTER, "increment", 1),
    (VALUE, "put_if_absent", True),
    (VALUE, "compare_and_set", False),
    (VALUE, "put_expiring", None),
    (VALUE, "put_swept", None),
    (VALUE, "scan", []),
    (VALUE, "scan", [("a", b""), ("b", b"")]),
    (ROW, "scan", [(-1, Row(1, 1.0))]),
    (DOCUMENT, "find", [("a", {}), ("b", {"x": None})]),
    (DOCUMENT, "count_where", 0),
    (DOCUMENT, "aggregate", [{"a": None, "n": 1}]),
    (DOCUMENT, "browse", FacetedPage(3, ["a"], {"f": [("x", 2), (None, 1)]})),
    (DOCUMENT, "update_where", 1),
    (DOCUMENT, "delete_where", 0),
    (QUEUE, "get", [b"", b"a"]),
    (SET, "get", {"", "a"}),
    (RANKING, "get", {"a": -1.5}),
    (VALUE, "get_and_set", None),
    (HASH, "get_and_set", {"field0": b""}),
    (VALUE, "append", None),
    (HASH, "increment_field", -1),
    (DOCUMENT, "increment_path", 1),
    (DOCUMENT, "increment_path", 1.5),
    (DOCUMENT, "increment_path", None),
    (DOCUMENT, "push_item", True),
    (DOCUMENT, "insert_item", False),
    (DOCUMENT, "pull_item", True),
    (DOCUMENT, "add_to_set", True),
    (DOCUMENT, "item_count", 0),
    (DOCUMENT, "item_count", MISSING),
    (VALUE, "expire", True),
    (VALUE, "expires_in", 1.5),
    (VALUE, "expires_in", None),
    (VALUE, "persist", False),
    (VALUE, "scan_prefix", [("a", b""), ("ab", b"")]),
    (VALUE, "walk", (None, [])),
    (VALUE, "walk", (17, ["a", "b", "c"])),
    (ROW, "walk", ("token", [1])),
    (QUEUE, "push_back", 1),
    (QUEUE, "push_front", 2),
    (QUEUE, "pop_front", None),
    (QUEUE, "pop_back", b""),
    (QUEUE, "list_range", [b"a", b""]),
    (QUEUE, "list_length", 0),
    (SET, "add_member", True),
    (SET, "remove_member", False),
    (SET, "has_member", True),
    (SET, "member_count", 0),
    (RANKING, "set_score", True),
    (RANKING, "add_score", 1.0),
    (RANKING, "remove_score", False),
    (RANKING, "score_of", None),
    (RANKING, "score_of", -0.5),
    (RANKING, "rank_of", 0),
    (RANKING, "rank_of", None),
    (RANKING, "top", [("a", 1.0)]),
    (RANKING, "ranking_size", 3),
    (PLACES, "add_place", True),
    (PLACES, "remove_place", False),
    (PLACES, "place_count", 2),
    (PLACES, "distance_between", 1.5),
    (PLACES, "distance_between", None),
    (PLACES, "nearest", ["a", "b"]),
]

WRONG: list[tuple[Layout, str, Any, str]] = [
    (VALUE, "get", "text", "get: a record of single_key is bytes; found str 'text'"),
    (VALUE, "get", bytearray(b""), "get: a record of single_key is bytes; found bytearray bytearray(b'')"),
    (VALUE, "get", MISSING, "get: a record of single_key is bytes; found Missing MISSING"),
    (HASH, "get", {"field0": "x"}, "get: a record of hash10 is a dict of str to bytes; found dict {'field0': 'x'}"),
    (HASH, "get", {b"field0": b"x"}, "get: a record of hash10 is a dict of str to bytes; found dict {b'field0': b'x'}"),
    (HASH, "get", [], "get: a record of hash10 is a dict of str to bytes; found list []"),
    (DOCUMENT, "get", [1], "get: a record of document10 is a dict of JSON values; found list [1]"),
    (DOCUMENT, "get", {"a": b"x"}, "get: a record of document10 is a dict of JSON values; found dict {'a': b'x'}"),
    (DOCUMENT, "get", {"a": (1,)}, "get: a record of document10 is a dict of JSON values; found dict {'a': (1,)}"),
    (DOCUMENT, "get", {1: 1}, "get: a record of document10 is a dict of JSON values; found dict {1: 1}"),
    (DOCUMENT, "get", {"a": float("nan")}, "get: a record of document10 is a dict of JSON values; found dict {'a': nan}"),
    (DOCUMENT, "get", {"a": [Text("x")]}, "get: a record of document10 is a dict of JSON values; found dict {'a': ['x']}"),
    (ROW, "get", (1, 1.0), "get: a record of row is a Row of int and float; found tuple (1, 1.0)"),
    (ROW, "get", Row(1, 1), "get: a record of row is a Row of int and float; found Row Row(integer=1, real=1)"),
    (ROW, "get", Row(True, 1.0), "get: a record of row is a Row of int and float; found Row Row(integer=True, real=1.0)"),
    (COUNTER, "get", True, "get: a record of counter is an int; found bool True"),
    (COUNTER, "get", 1.0, "get: a record of counter is an int; found float 1.0"),
    (COUNTER, "get", "1", "get: a record of counter is an int; found str '1'"),
    (VALUE, "put", True, "put: the reply is NoneType; found bool True"),
    (VALUE, "put_many", 2, "put_many: the reply is NoneType; found int 2"),
    (VALUE, "insert_many", None, "insert_many: the reply is bool; found NoneType None"),
    (VALUE, "delete", 1, "delete: the reply is bool; found int 1"),
    (VALUE, "exists", 1, "exists: the reply is bool; found int 1"),
    (VALUE, "exists", None, "exists: the reply is bool; found NoneType None"),
    (VALUE, "count", True, "count: the reply is int; found bool True"),
    (VALUE, "count", 3.0, "count: the reply is int; found float 3.0"),
    (VALUE, "get_many", [b""], "get_many: the reply has one entry per key, 2; found list [b'']"),
    (VALUE, "get_many", [b"", b"", b""], "get_many: the reply has one entry per key, 2; found list [b'', b'', b'']"),
    (VALUE, "get_many", {"a": b"", "b": b""}, "get_many: the reply has one entry per key, 2; found dict {'a': b'', 'b': b''}"),
    (VALUE, "get_many", b"ab", "get_many: the reply has one entry per key, 2; found bytes b'ab'"),
    (VALUE, "get_many", ["x", 1], "get_many: a record of single_key is bytes; found str 'x'; a record of single_key is bytes; found int 1"),
    (HASH, "get_field", "x", "get_field: the reply is bytes or NoneType; found str 'x'"),
    (HASH, "delete_field", 0, "delete_field: the reply is bool; found int 0"),
    (DOCUMENT, "get_path", b"x", "get_path: the reply is a JSON value or MISSING; found bytes b'x'"),
    (DOCUMENT, "set_path", None, "set_path: the reply is bool; found NoneType None"),
    (HASH, "get_fields", [b""], "get_fields: the reply has one entry per field, 2; found list [b'']"),
    (HASH, "get_fields", [b"", MISSING], "get_fields: each entry is bytes or None; found Missing MISSING"),
    (DOCUMENT, "get_paths", [1, b"x"], "get_paths: each entry is a JSON value or MISSING; found bytes b'x'"),
    (COUNTER, "increment", None, "increment: the reply is int; found NoneType None"),
    (COUNTER, "increment", b"1", "increment: the reply is int; found bytes b'1'"),
    (VALUE, "put_if_absent", 1, "put_if_absent: the reply is bool; found int 1"),
    (VALUE, "scan", [("a", b"")] * 3, "scan: the reply has at most 2 pairs; found list [('a', b''), ('a', b''), ('a', b'')]"),
    (VALUE, "scan", "", "scan: the reply has at most 2 pairs; found str ''"),
    (VALUE, "scan", {"a": b""}.items(), "scan: the reply has at most 2 pairs; found dict_items dict_items([('a', b'')])"),
    (VALUE, "scan", [["a", b""], ("b", "x")], "scan: each entry is a pair of str and record; found list ['a', b'']; a record of single_key is bytes; found str 'x'"),
    (VALUE, "scan", [(1, b"")], "scan: each entry is a pair of str and record; found tuple (1, b'')"),
    (ROW, "scan", [("1", Row(1, 1.0))], "scan: each entry is a pair of int and record; found tuple ('1', Row(integer=1, real=1.0))"),
    (DOCUMENT, "find", [("a", {})] * 3, "find: the reply has at most 2 pairs; found list [('a', {}), ('a', {}), ('a', {})]"),
    (DOCUMENT, "find", ["a"], "find: each entry is a pair of a key and a dict of JSON values; found str 'a'"),
    (DOCUMENT, "count_where", None, "count_where: the reply is int; found NoneType None"),
    (DOCUMENT, "aggregate", [{"a": 1}], "aggregate: each group is a dict of a, n; found dict {'a': 1}"),
    (DOCUMENT, "browse", [], "browse: the reply is a FacetedPage; found list []"),
    (DOCUMENT, "browse", FacetedPage(3, ["a"], {}), "browse: the facets are f; found list []"),
    (DOCUMENT, "update_where", True, "update_where: the reply is int; found bool True"),
    (DOCUMENT, "delete_where", None, "delete_where: the reply is int; found NoneType None"),
    (QUEUE, "get", (b"a",), "get: a record of queue is a list of bytes; found tuple (b'a',)"),
    (QUEUE, "get", ["a"], "get: a record of queue is a list of bytes; found list ['a']"),
    (SET, "get", ["a"], "get: a record of members is a set of str; found list ['a']"),
    (SET, "get", {b"a"}, "get: a record of members is a set of str; found set {b'a'}"),
    (RANKING, "get", {"a": 1}, "get: a record of ranking is a dict of str to float; found dict {'a': 1}"),
    (RANKING, "get", {"a": float("inf")}, "get: a record of ranking is a dict of str to float; found dict {'a': inf}"),
    (VALUE, "get_and_set", "x", "get_and_set: a record of single_key is bytes; found str 'x'"),
    (VALUE, "append", 2, "append: the reply is NoneType; found int 2"),
    (HASH, "increment_field", b"1", "increment_field: the reply is int; found bytes b'1'"),
    (DOCUMENT, "increment_path", True, "increment_path: the reply is int, finite float or NoneType; found bool True"),
    (DOCUMENT, "increment_path", float("inf"), "increment_path: the reply is int, finite float or NoneType; found float inf"),
    (DOCUMENT, "push_item", None, "push_item: the reply is bool; found NoneType None"),
    (DOCUMENT, "item_count", None, "item_count: the reply is int or Missing; found NoneType None"),
    (VALUE, "expires_in", 60, "expires_in: the reply is float or NoneType; found int 60"),
    (VALUE, "scan_prefix", [("a", b"")] * 3, "scan_prefix: the reply has at most 2 pairs; found list [('a', b''), ('a', b''), ('a', b'')]"),
    (VALUE, "walk", [], "walk: the reply is a pair of a cursor and a list of keys; found list []"),
    (VALUE, "walk", (b"1", []), "walk: the reply is a pair of a cursor and a list of keys; found tuple (b'1', [])"),
    (VALUE, "walk", (None, [b"a"]), "walk: a key of single_key is text; found bytes b'a'"),
    (QUEUE, "push_back", None, "push_back: the reply is int; found NoneType None"),
    (QUEUE, "pop_front", "a", "pop_front: the reply is bytes or NoneType; found str 'a'"),
    (QUEUE, "list_range", [b"", b"", b""], "list_range: the reply is a list of at most 2 items of bytes; found list [b'', b'', b'']"),
    (QUEUE, "list_range", ["a"], "list_range: the reply is a list of at most 2 items of bytes; found list ['a']"),
    (QUEUE, "list_length", None, "list_length: the reply is int; found NoneType None"),
    (SET, "add_member", 1, "add_member: the reply is bool; found int 1"),
    (SET, "member_count", True, "member_count: the reply is int; found bool True"),
    (RANKING, "add_score", 1, "add_score: the reply is float; found int 1"),
    (RANKING, "score_of", b"1", "score_of: the reply is float or NoneType; found bytes b'1'"),
    (RANKING, "rank_of", 1.0, "rank_of: the reply is int or NoneType; found float 1.0"),
    (RANKING, "top", [("a", 1.0)] * 3, "top: the reply is a list of at most 2 pairs; found list [('a', 1.0), ('a', 1.0), ('a', 1.0)]"),
    (RANKING, "top", [("a", 1)], "top: each entry is a pair of str and finite float; found tuple ('a', 1)"),
    (RANKING, "ranking_size", None, "ranking_size: the reply is int; found NoneType None"),
    (PLACES, "add_place", 1, "add_place: the reply is bool; found int 1"),
    (PLACES, "remove_place", None, "remove_place: the reply is bool; found NoneType None"),
    (PLACES, "place_count", b"1", "place_count: the reply is int; found bytes b'1'"),
    (PLACES, "distance_between", 1, "distance_between: the reply is float or NoneType; found int 1"),
    (PLACES, "nearest", ["a", "b", "c"], "nearest: the reply is a list of at most 2 members; found list ['a', 'b', 'c']"),
    (PLACES, "nearest", [b"a"], "nearest: the reply is a list of at most 2 members; found list [b'a']"),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "operation", "answer"), RIGHT)
def test_a_right_reply_passes_as_it_is(layout: Layout, operation: str, answer: Any) -> None:
    """A reply of the right shape is returned unchanged."""
    assert ask(layout, operation, answer) is answer


@pytest.mark.parametrize(("layout", "operation", "answer", "message"), WRONG)
def test_a_wrong_reply_is_not_taken(layout: Layout, operation: str, answer: Any, message: str) -> None:
    """A reply of the wrong shape is an error that shows it."""
    with pytest.raises((Breach, WrongReply)) as wrong:
        ask(layout, operation, answer)
    assert str(wrong.value) == message


def test_a_long_reply_is_cut_in_the_message() -> None:
    """A message has a bounded length, whatever the reply."""
    with pytest.raises(WrongReply) as breach:
        ask(VALUE, "get", "x" * 10_000)
    assert len(str(breach.value)) < 150


@pytest.mark.parametrize("kind", [Refused, Unknown, Unsupported, WrongReply])
def test_what_the_adapter_sorted_passes_as_it_is(kind: type[Exception]) -> None:
    """The contract's own exceptions pass unchanged."""
    failure = kind("why")
    with pytest.raises(kind) as passed:
        ask(VALUE, "get", failure)
    assert passed.value is failure


@pytest.mark.parametrize(
    "leaked", [ValueError("odd"), ConnectionResetError(104, "reset"), TimeoutError("late"), KeyError("k"), AssertionError("ours")]
)
def test_an_error_that_was_not_sorted_is_a_breach(leaked: Exception) -> None:
    """Any other exception is a `Breach` that names the adapter's line, and what is allowed."""
    with pytest.raises(Breach) as breach:
        ask(VALUE, "put", leaked)
    assert str(breach.value).startswith(f"put raised {type(leaked).__name__}: {leaked} (answering.py, line ")
    assert str(breach.value).endswith(f"raise self.answer); {RAISES}"), "where to look first"
    assert breach.value.__cause__ is leaked


def test_ctrl_c_is_no_breach() -> None:
    """KeyboardInterrupt passes unchanged."""

    class Interrupted(Answering):
        def get(self, key: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(Interrupted(None), VALUE, "get", "k")


def test_a_family_that_is_not_there_is_unsupported() -> None:
    """A missing family is `Unsupported`."""
    with pytest.raises(Unsupported, match="increment on counter: the adapter does not implement Counter"):
        call(Bare(), COUNTER, "increment", "k", 1)


def test_a_family_that_is_not_there_is_unsupported_in_the_words_of_the_adapter() -> None:
    """A missing family is `Unsupported` with the adapter's own reason, if it has one."""

    class Told(Bare):
        unsupported_because: Mapping[str, str] = {"Counter": "the store has no numbers"}

    with pytest.raises(Unsupported, match=r"^increment on counter: the store has no numbers$"):
        call(Told(), COUNTER, "increment", "k", 1)
    with pytest.raises(Unsupported, match="count on counter: the adapter does not implement Count"):
        call(Told(), COUNTER, "count")


def test_a_family_that_is_there_in_part_is_a_breach() -> None:
    """A family with a missing method is a `Breach` that names the method."""

    class Half(Bare):
        def get_field(self, key: str, field: str) -> None: ...

        def set_field(self, key: str, field: str, value: bytes) -> None: ...

    with pytest.raises(
        Breach, match=r"Fields is implemented only partly: it lacks delete_field; implement all methods of a family, or none"
    ):
        call(Half(), HASH, "get_field", "k", "f")


class WholeAnswering(Bare):
    """Answers a whole transaction with what it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ([b""], WrongReply, "run_whole: "),
        (["text", None], WrongReply, "run_whole: "),
        (None, Breach, "run_whole: the reply has one entry per key"),
        (KeyError("k"), Breach, "run_whole raised KeyError"),
        (Refused("no"), Refused, "no"),
        (Unknown("lost"), Unknown, "lost"),
    ],
)
def test_the_reply_of_a_whole_transaction_is_one_record_for_each_key(answer: Any, kind: type[Exception], message: str) -> None:
    """As that of `get_many`; what the adapter raises means the same as of any operation."""
    assert call_whole(WholeAnswering([b"", None]), VALUE, ["a", "b"], {"c": b""}) == [b"", None]
    with pytest.raises(kind, match=message):
        call_whole(WholeAnswering(answer), VALUE, ["a", "b"], {"c": b""})
