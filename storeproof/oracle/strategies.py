"""Hypothesis strategies: hostile keys and values, and histories of operations.

A history uses a few keys only, so that its operations affect each other. No store may refuse *plain* arguments; it may refuse
hostile ones with an error, but must not alter them silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from storeproof.contract.values import Row
from storeproof.spec.model import Document, Hash, Model

Call = tuple[str, tuple[Any, ...]]
"""An operation and its arguments."""

_AWKWARD_TEXT = (
    "",
    " ",
    "a ",
    " a",
    "\0",
    "a\0b",
    "a\nb",
    "a\r\nb",
    "\t",
    "a.b",
    "$a",
    "$",
    ".",
    "..",
    "a/b",
    "a'b",
    'a"b',
    "a\\b",
    "%",
    "*",
    "[0]",
    "{a}",
    "null",
    "é",  # composed: U+00E9
    "e\u0301",  # decomposed, looks the same: another key
    "ﬁ",  # a ligature: NFKC and NFKD replace it by two letters
    "Å",
    "\u212b",  # the ångström sign: canonically equivalent to the letter above
    "ß",
    "SS",
    "İ",
    "א",
    "\u202eabc",  # right-to-left override
    "𝄞",  # outside the Basic Multilingual Plane: four bytes in UTF-8
    "\U0010fffd",
    "\ufffd",
    "\uffff",
    "x" * 300,
)
_AWKWARD_BYTES = (b"", b"\0", b"a\0b", b"\xff\xfe", b"\r\n", b"END\r\n", b"\xf0\x9f\x92\xa9", b"'", b"\\", b"x" * 5000, bytes(range(256)))
_AWKWARD_INTEGERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**32, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
_AWKWARD_REALS = (0.0, -0.0, 0.1, 1.5, -1.5, 1e-308, 5e-324, 1.7976931348623157e308, 2.0**53, 1e22, 123456789.123456789)

_plain_text = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-", min_size=1, max_size=12)
_any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_text_keys = st.one_of(_plain_text, _plain_text, st.sampled_from(_AWKWARD_TEXT), _any_text)
_integer_keys = st.one_of(st.integers(0, 20), st.sampled_from(_AWKWARD_INTEGERS), st.integers(-(2**63), 2**63 - 1))
_blobs = st.one_of(st.binary(max_size=60), st.sampled_from(_AWKWARD_BYTES))
_names = st.one_of(st.sampled_from(("a", "b", "c", "name")), st.sampled_from(_AWKWARD_TEXT), _any_text)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from(_AWKWARD_INTEGERS),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(_AWKWARD_REALS),
    st.sampled_from(_AWKWARD_TEXT),
    _any_text,
)
_json = st.recursive(
    _leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_names, inner, max_size=3)), max_leaves=12
)
_documents = st.dictionaries(_names, _json, max_size=4)
_items = st.sampled_from((1, "1", True, None, 1.5, "x", "é", 2**53 + 1, [], [1], {}, {"a": 1}))
"""A short list, so that equal items are drawn often, with values that a careless store takes for equal."""
_countable = st.fixed_dictionaries({"a": st.lists(_items, max_size=4), "b": st.sampled_from((0, 1, -5, 0.25, -1.5, 2**53 + 1))})
_paths = st.lists(st.one_of(_names, st.integers(0, 2)), min_size=1, max_size=4).flatmap(
    # A path starts with a name: the root is an object.
    lambda parts: st.just(("a" if isinstance(parts[0], int) else parts[0], *parts[1:]))
)
_short_paths = st.one_of(st.sampled_from((("a",), ("a",), ("b",), ("name",))), _paths)
_scores = st.one_of(st.integers(-20, 20).map(float), st.integers(-(2**40), 2**40).map(lambda number: number / 4))
"""Often equal; their sums are exact in a double."""


def keys(model: Model) -> st.SearchStrategy[Any]:
    """Keys of a model, including hostile ones."""
    return _text_keys if model.key == "text" else _integer_keys


def records(model: Model) -> st.SearchStrategy[Any]:
    """Records of a model, including hostile ones."""
    record = model.record
    if isinstance(record, Hash):
        return st.dictionaries(st.sampled_from(record.fields), _blobs, min_size=1)
    if isinstance(record, Document):
        return st.one_of(_documents, _documents, _countable)
    if record.kind == "row":
        return st.builds(
            Row,
            st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from((2**31 - 1, -(2**31)))),
            st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(_AWKWARD_REALS)),
        )
    if record.kind == "counter":
        return st.integers(0, 2**53)
    if record.kind == "list":
        return st.lists(_blobs, min_size=1, max_size=5)
    if record.kind == "set":
        return st.sets(_names, min_size=1, max_size=5)
    if record.kind == "ranking":
        return st.dictionaries(_names, _scores, min_size=1, max_size=5)
    return _blobs


def histories(model: Model, operations: frozenset[str], longest: int) -> st.SearchStrategy[list[Call]]:
    """Lists of 1 to `longest` operations on up to four keys of one collection."""
    return st.lists(keys(model), min_size=1, max_size=4, unique=True).flatmap(
        lambda pool: st.lists(_one_of(model, operations, st.sampled_from(pool)), min_size=1, max_size=longest)
    )


def tours(model: Model, operations: frozenset[str]) -> st.SearchStrategy[list[Call]]:
    """`put` of one record, then each of `operations` once on it, so that none depends on being drawn in a history."""
    key: st.SearchStrategy[Any] = _plain_text if model.key == "text" else st.integers(0, 20)
    return key.flatmap(lambda one: st.tuples(*_calls(model, ["put", *sorted(operations)], st.just(one)))).map(list)


def drawable(model: Model) -> frozenset[str]:
    """The operations whose arguments can be drawn for this model."""
    return frozenset(_arguments(model, keys(model)))


def is_plain(args: tuple[Any, ...]) -> bool:
    """Whether no store may refuse these arguments: short alphanumeric ASCII texts (with `-` and `_`), and floats of moderate size."""
    return all(_plain(arg) for arg in args)


def _plain(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 200 and value.isascii() and all(char.isalnum() or char in "_-" for char in value)
    if isinstance(value, dict):
        return all(_plain(key) and _plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set)):
        return all(_plain(item) for item in value)
    if isinstance(value, float):
        return -1e15 < value < 1e15
    return True


def _one_of(model: Model, operations: frozenset[str], key: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    # Some writes are listed twice: a history of mostly reads finds little.
    chosen = [*sorted(operations & drawable(model)), *sorted(operations & {"put", "put_many", "set_field"})]
    return st.one_of(_calls(model, chosen, key))


def _calls(model: Model, names: Sequence[str], key: st.SearchStrategy[Any]) -> list[st.SearchStrategy[Call]]:
    arguments = _arguments(model, key)
    return [st.tuples(st.just(name), arguments[name]) for name in names]


def _arguments(model: Model, key: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[tuple[Any, ...]]]:
    """A strategy for the arguments of each operation, by its name."""
    record = records(model)
    fields = st.sampled_from(model.record.fields) if isinstance(model.record, Hash) else st.nothing()
    known: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
        "get": st.tuples(key),
        "put": st.tuples(key, record),
        "delete": st.tuples(key),
        "exists": st.tuples(key),
        "count": st.tuples(),
        "get_many": st.tuples(st.lists(key, max_size=4)),
        "put_many": st.tuples(st.dictionaries(key, record, min_size=1, max_size=3)),
        "get_field": st.tuples(key, fields),
        "set_field": st.tuples(key, fields, _blobs),
        "delete_field": st.tuples(key, fields),
        "get_path": st.tuples(key, _paths),
        "set_path": st.tuples(key, _paths, _json),
        "unset_path": st.tuples(key, _paths),
        "increment": st.tuples(key, st.integers(0, 2**40)),
        "put_if_absent": st.tuples(key, record),
        "compare_and_set": st.tuples(key, record, record),
        "scan": st.tuples(st.one_of(st.none(), key), st.integers(1, 6), st.booleans()),
        "get_and_set": st.tuples(key, record),
        "append": st.tuples(key, _blobs),
        "increment_field": st.tuples(key, fields, st.integers(-(2**40), 2**40)),
        "increment_path": st.tuples(key, _short_paths, st.one_of(st.integers(-(2**40), 2**40), _scores)),
        "push_item": st.tuples(key, _short_paths, _items | _json),
        "insert_item": st.tuples(key, st.tuples(_short_paths, st.integers(0, 3)).map(lambda drawn: (*drawn[0], drawn[1])), _items | _json),
        "pull_item": st.tuples(key, _short_paths, _items | _json),
        "add_to_set": st.tuples(key, _short_paths, _items | _json),
        "item_count": st.tuples(key, _short_paths),
        "push_back": st.tuples(key, _blobs),
        "push_front": st.tuples(key, _blobs),
        "pop_front": st.tuples(key),
        "pop_back": st.tuples(key),
        "list_range": st.tuples(key, st.integers(0, 4), st.integers(0, 6)),
        "list_length": st.tuples(key),
        "add_member": st.tuples(key, _names),
        "remove_member": st.tuples(key, _names),
        "has_member": st.tuples(key, _names),
        "member_count": st.tuples(key),
        "set_score": st.tuples(key, _names, _scores),
        "add_score": st.tuples(key, _names, _scores),
        "remove_score": st.tuples(key, _names),
        "score_of": st.tuples(key, _names),
        "rank_of": st.tuples(key, _names),
        "top": st.tuples(key, st.integers(1, 6)),
        "ranking_size": st.tuples(key),
    }
    if model.key == "text":
        known["scan_prefix"] = st.tuples(key.map(lambda whole: str(whole)[:2]), st.integers(1, 6))
    return known
