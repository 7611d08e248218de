"""Hypothesis strategies: hostile keys and values, and histories of operations.

A history uses a few keys only, so that its operations affect each other. No store may refuse *plain* arguments; it may refuse
hostile ones with an error, but must not alter them silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from storeproof.contract.values import Row
from storeproof.oracle.thresholds import BYTES, ENTRIES, Call, content
from storeproof.spec.model import Document, Hash, Model

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
_WIDE = (127, 255, 2**15, 2**16, 2**31, 2**32 + 1, 2**53 + 1, 2**62)
"""By which numbers are incremented: past each width in which a store may compute."""
_PAST_ANY_END = (127, 2**16, 2**31, 2**32 - 7, 2**33 - 7, 2**53 - 7)
"""Positions and numbers of entries. That 2**32 is taken for 0 is known of four stores, and tried by fixed cases (`documents.get-path/004`,
`key_access.ordered-scan/004`): drawn here, it would end every other history before anything else is found."""
_31_BITS = 2**31
_COUNTING = frozenset({"list_range", "scan", "scan_prefix", "top"})
"""Operations with a number of entries, which a store may have in fewer than 64 bits if it says so."""
_AWKWARD_REALS = (0.0, -0.0, 0.1, 1.5, -1.5, 1e-308, 5e-324, 1.7976931348623157e308, 2.0**53, 1e22, 123456789.123456789)

_plain_text = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-", min_size=1, max_size=12)
_any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_text_keys = st.one_of(_plain_text, _plain_text, st.sampled_from(_AWKWARD_TEXT), _any_text)
_integer_keys = st.one_of(st.integers(0, 20), st.sampled_from(_AWKWARD_INTEGERS), st.integers(-(2**63), 2**63 - 1))
_edges = st.sampled_from([content(size + more) for size in BYTES for more in (-1, 0, 1)])
_blobs = st.one_of(*[st.binary(max_size=60)] * 4, *[st.sampled_from(_AWKWARD_BYTES)] * 4, _edges)
_many = st.sampled_from([size + more for size in ENTRIES for more in (-1, 0, 1)])
"""Numbers of entries around those at which stores keep them in another way. The entries are not drawn, so that it costs little."""
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
_long_list = _many.map(lambda many: [*range(many - 2), 1, "1"])
_countable = st.fixed_dictionaries(
    {"a": st.one_of(*[st.lists(_items, max_size=4)] * 7, _long_list), "b": st.sampled_from((0, 1, -5, 0.25, -1.5, 2**53 + 1))}
)
_positions = st.one_of(*[st.integers(0, 2)] * 4, st.sampled_from(_PAST_ANY_END))
_paths = st.lists(st.one_of(_names, _positions), min_size=1, max_size=4).flatmap(
    # A path starts with a name: the root is an object.
    lambda parts: st.just(("a" if isinstance(parts[0], int) else parts[0], *parts[1:]))
)
_short_paths = st.one_of(st.sampled_from((("a",), ("a",), ("b",), ("name",))), _paths)
_scores = st.one_of(st.integers(-20, 20).map(float), st.integers(-(2**40), 2**40).map(lambda number: number / 4))
"""Often equal; their sums are exact in a double."""
_fine_scores = _scores | st.sampled_from((0.1, 0.3, 0.30000000000000004, 1 / 3, 123456789.12345679, 2.0**24 + 1, 2.0**53 - 1))
"""Also of full precision, next to each other."""
_increments = st.one_of(st.integers(-(2**40), 2**40), st.sampled_from((*_WIDE, *(-number for number in _WIDE))))
_counts = st.one_of(*[st.integers(1, 6)] * 4, st.sampled_from(_PAST_ANY_END))


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
        return _sometimes(_many.map(lambda many: [b"%d" % place for place in range(many)]), st.lists(_blobs, min_size=1, max_size=5))
    if record.kind == "set":
        return _sometimes(_many.map(lambda many: {str(place) for place in range(many)}), st.sets(_names, min_size=1, max_size=5))
    if record.kind == "ranking":
        long = _many.map(lambda many: {str(place): float(place * 7 % many) for place in range(many)})
        return _sometimes(long, st.dictionaries(_names, _fine_scores, min_size=1, max_size=5))
    return _blobs


def _sometimes(rare: st.SearchStrategy[Any], usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*[usual] * 7, rare)


def histories(model: Model, operations: frozenset[str], longest: int) -> st.SearchStrategy[list[Call]]:
    """Lists of 1 to `longest` operations on up to four keys of one collection."""
    return st.lists(
        _one_of(model, operations, _pooled(st.lists(keys(model), min_size=1, max_size=4, unique=True))), min_size=1, max_size=longest
    )


def tours(model: Model, operations: frozenset[str]) -> st.SearchStrategy[list[Call]]:
    """`put` of one record, then each of `operations` once on it, so that none depends on being drawn in a history."""
    key: st.SearchStrategy[Any] = _plain_text if model.key == "text" else st.integers(0, 20)
    return st.tuples(*_calls(model, ["put", *sorted(operations)], _pooled(st.tuples(key)))).map(list)


def drawable(model: Model) -> frozenset[str]:
    """The operations whose arguments can be drawn for this model."""
    return frozenset(_arguments(model, keys(model)))


def may_refuse(operation: str, args: tuple[Any, ...]) -> bool:
    """Whether a store may refuse these arguments with an error: they are not plain, or have a position or a number of entries past 31
    bits."""
    positions = [part for arg in args if type(arg) is tuple for part in arg if isinstance(part, int)]
    counts = [arg for arg in args[1:] if type(arg) is int] if operation in _COUNTING else []
    return not is_plain(args) or any(number >= _31_BITS for number in (*positions, *counts))


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


def _pooled(pools: st.SearchStrategy[Sequence[Any]]) -> st.SearchStrategy[Any]:
    """Keys of one pool, which is drawn once for each example.

    With `flatmap`, Hypothesis would have new strategies to look through for each pool, which takes longer than to draw from them.
    """
    pool = st.shared(pools)

    @st.composite
    def key(draw: st.DrawFn) -> Any:
        keys = draw(pool)
        return keys[draw(st.integers(0, len(keys) - 1))]

    return key()


def _one_of(model: Model, operations: frozenset[str], key: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    # Some writes are listed twice: a history of mostly reads finds little.
    chosen = [*sorted(operations & drawable(model)), *sorted(operations & {"put", "put_many", "set_field", "set_fields"})]
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
        **dict.fromkeys(("put_many", "insert_many"), st.tuples(st.dictionaries(key, record, min_size=1, max_size=3))),
        "get_field": st.tuples(key, fields),
        "set_field": st.tuples(key, fields, _blobs),
        "delete_field": st.tuples(key, fields),
        "get_fields": st.tuples(key, st.lists(fields, max_size=4)),
        "set_fields": st.tuples(key, st.dictionaries(fields, _blobs, max_size=4)),
        "get_path": st.tuples(key, _paths),
        "set_path": st.tuples(key, _paths, _json),
        "unset_path": st.tuples(key, _paths),
        "get_paths": st.tuples(key, st.lists(_short_paths, max_size=4)),
        "set_paths": st.tuples(key, st.dictionaries(_short_paths, _json, max_size=3)),
        "increment": st.tuples(key, st.integers(0, 2**40) | st.sampled_from(_WIDE)),
        "put_if_absent": st.tuples(key, record),
        "compare_and_set": st.tuples(key, record, record),
        "scan": st.tuples(st.one_of(st.none(), key), _counts, st.booleans()),
        "get_and_set": st.tuples(key, record),
        "append": st.tuples(key, _blobs),
        "increment_field": st.tuples(key, fields, _increments),
        "increment_path": st.tuples(key, _short_paths, st.one_of(_increments, _scores)),
        "push_item": st.tuples(key, _short_paths, _items | _json),
        "insert_item": st.tuples(key, st.tuples(_short_paths, st.integers(0, 3)).map(lambda drawn: (*drawn[0], drawn[1])), _items | _json),
        "pull_item": st.tuples(key, _short_paths, _items | _json),
        "add_to_set": st.tuples(key, _short_paths, _items | _json),
        "item_count": st.tuples(key, _short_paths),
        "push_back": st.tuples(key, _blobs),
        "push_front": st.tuples(key, _blobs),
        "pop_front": st.tuples(key),
        "pop_back": st.tuples(key),
        "list_range": st.tuples(key, _positions, st.integers(0, 6) | _counts),
        "list_length": st.tuples(key),
        "add_member": st.tuples(key, _names),
        "remove_member": st.tuples(key, _names),
        "has_member": st.tuples(key, _names),
        "member_count": st.tuples(key),
        "set_score": st.tuples(key, _names, _fine_scores),
        "add_score": st.tuples(key, _names, _scores),
        "remove_score": st.tuples(key, _names),
        "score_of": st.tuples(key, _names),
        "rank_of": st.tuples(key, _names),
        "top": st.tuples(key, _counts),
        "ranking_size": st.tuples(key),
    }
    if model.key == "text":
        known["scan_prefix"] = st.tuples(key.map(lambda whole: str(whole)[:2]), _counts)
    return known
