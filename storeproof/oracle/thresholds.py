"""Histories that take a record over the sizes at which stores change how they keep it, up and down, and read it back in every way.

Small lists, sets, sorted sets and hashes are one block of bytes in some stores (Redis' listpacks and intsets), and become lists of blocks,
trees or hash tables at a number of entries, at the length of one entry, or at the bytes of all. Long values leave the row (PostgreSQL's
TOAST, InnoDB's and SQLite's overflow pages) at a share of a page of 4, 8 or 16 KiB, and blocks of 64 KiB are common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from storeproof.spec.model import Document, Hash, Model

Call = tuple[str, tuple[Any, ...]]
"""An operation and its arguments."""

ENTRIES: Final = (128, 512)
"""Entries of a collection, fields of a hash or of an object."""
BYTES: Final = (64, 4096, 8192, 65536)
"""Bytes of one value, and of one entry."""
FIELDS: Final = ENTRIES[-1] + 2
"""Fields of the hash that is taken over all of `ENTRIES`. A store whose table has one column for each may refuse them."""

_KEY: Final = "k"
_SPAN: Final = 3
"""Entries that are read around a threshold by each way that reads a few."""


def crossings(model: Model) -> list[list[Call]]:
    """Histories on one key of an empty collection, which the oracle can judge. Every argument is one that no store may refuse."""
    record = model.record
    if isinstance(record, Hash):
        return [_fields_of(record.fields, size) for size in ENTRIES if size < len(record.fields)] + [_field(size) for size in BYTES]
    if isinstance(record, Document):
        return [*map(_array, ENTRIES), *map(_object, ENTRIES), *map(_text, BYTES)]
    of_kind: Mapping[str, tuple[Callable[[int], list[Call]], Callable[[int], list[Call]]]] = {
        "list": (_list, _list_item),
        "set": (_set, _member),
        "ranking": (_ranking, _ranked_member),
    }
    if record.kind in of_kind:
        entries, long = of_kind[record.kind]
        return [*map(entries, ENTRIES), *map(long, BYTES if record.kind == "list" else BYTES[:1])]
    return [_value(size) for size in BYTES] if record.kind == "value" else []


def content(length: int) -> bytes:
    """Bytes of which no part looks like another: a block that is lost, repeated or exchanged shows."""
    return b"".join(b"%07d " % place for place in range(length // 8 + 1))[:length]


def _value(size: int) -> list[Call]:
    whole = content(size + 1)
    return [
        ("put", (_KEY, whole[: size - 1])),
        ("get", (_KEY,)),
        ("append", (_KEY, whole[size - 1 : size])),
        ("get", (_KEY,)),
        ("append", (_KEY, whole[size:])),
        ("get", (_KEY,)),
        ("get_many", ([_KEY, "other"],)),
        ("compare_and_set", (_KEY, whole[:size], b"wrong")),
        ("compare_and_set", (_KEY, whole, whole[:size])),
        ("get", (_KEY,)),
        ("get_and_set", (_KEY, whole)),
        ("get_and_set", (_KEY, whole[: size - 1])),
        ("put_many", ({_KEY: whole, "other": whole[:size]},)),
        ("get_many", (["other", _KEY],)),
        ("insert_many", ({"new": whole, "newer": whole[:size]},)),
        ("get_many", (["newer", "new"],)),
        ("scan", (None, 2, False)),
        ("put", (_KEY, whole[: size - 1])),
        ("get", (_KEY,)),
    ]


def _field(size: int) -> list[Call]:
    whole = content(size + 1)
    read: list[Call] = [("get_field", (_KEY, "field3")), ("get_field", (_KEY, "field4")), ("get", (_KEY,))]
    return [
        ("put", (_KEY, {"field2": b"two", "field3": whole[: size - 1], "field4": b"four"})),
        *(call for end in (size, size + 1, size - 1) for call in (("set_field", (_KEY, "field3", whole[:end])), *read)),
        # All ten together cross it, and none of them alone.
        *(("set_field", (_KEY, f"field{place}", whole[: size // 10 + 1])) for place in range(10)),
        ("get_many", ([_KEY],)),
        ("delete_field", (_KEY, "field9")),
        *read,
        ("get_and_set", (_KEY, {"field3": whole})),
        *read,
    ]


def _fields_of(names: tuple[str, ...], size: int) -> list[Call]:
    """Fields up to one beyond the threshold, and down again."""
    some = {name: name.encode() for name in names[: size - 1]}
    around = names[size - _SPAN : size + 1]
    read: list[Call] = [("get", (_KEY,)), *(("get_field", (_KEY, name)) for name in (names[0], *around))]
    return [
        ("put", (_KEY, some)),
        *(call for name in names[size - 1 : size + 1] for call in (("set_field", (_KEY, name, name.encode())), *read)),
        ("increment_field", (_KEY, names[size + 1], 7)),
        *(call for name in around for call in (("delete_field", (_KEY, name)), *read)),
    ]


def _list(size: int) -> list[Call]:
    items = [b"item-%d" % place for place in range(size + 1)]
    read: list[Call] = [
        ("get", (_KEY,)),
        ("list_length", (_KEY,)),
        ("list_range", (_KEY, 0, size + 1)),
        ("list_range", (_KEY, size - _SPAN, size + _SPAN)),
        ("list_range", (_KEY, size - 1, size)),
        ("list_range", (_KEY, size // 2, size // 2 + 1)),
    ]
    return [
        ("put", (_KEY, items[: size - 1])),
        *(call for item in items[size - 1 :] for call in (("push_back", (_KEY, item)), *read)),
        ("push_front", (_KEY, b"first")),
        *read,
        *(call for end in ("back", "front", "back", "back") for call in ((f"pop_{end}", (_KEY,)), *read)),
    ]


def _list_item(size: int) -> list[Call]:
    """One long item among short ones; and short ones that cross the threshold together."""
    whole = content(size + 1)
    read: list[Call] = [("get", (_KEY,)), ("list_length", (_KEY,)), ("list_range", (_KEY, 1, 2)), ("list_range", (_KEY, 0, 9))]
    together: list[Call] = [("push_front", (_KEY, whole[place : place + size // 4])) for place in range(5)]
    return [
        *(call for end in (size - 1, size, size + 1) for call in (("put", (_KEY, [b"a", whole[:end], b"z"])), *read)),
        ("pop_back", (_KEY,)),
        ("push_back", (_KEY, whole)),
        *read,
        ("pop_back", (_KEY,)),
        ("pop_back", (_KEY,)),
        *together,
        *read,
        ("pop_back", (_KEY,)),
        ("pop_front", (_KEY,)),
        *read,
    ]


def _set(size: int) -> list[Call]:
    """Members that are numbers, which some stores keep as such; then one that is none."""
    members = [str(place) for place in range(size + 1)]
    read: list[Call] = [
        ("get", (_KEY,)),
        ("member_count", (_KEY,)),
        *(("has_member", (_KEY, member)) for member in ("0", *members[size - _SPAN :], str(size + 1), "word")),
    ]
    return [
        ("put", (_KEY, set(members[: size - 1]))),
        *(call for member in members[size - 1 :] for call in (("add_member", (_KEY, member)), *read)),
        ("add_member", (_KEY, members[-1])),
        ("add_member", (_KEY, "word")),
        *read,
        *(call for member in ("0", *members[size - 1 :]) for call in (("remove_member", (_KEY, member)), *read)),
        ("put", (_KEY, {f"member-{place}" for place in range(size + 1)})),
        ("has_member", (_KEY, f"member-{size}")),
        *read,
    ]


def _member(size: int) -> list[Call]:
    long = [content(length).decode().replace(" ", "-") for length in (size - 1, size, size + 1)]
    read: list[Call] = [("get", (_KEY,)), *(("has_member", (_KEY, member)) for member in (*long, "a", long[0][:-1]))]
    return [
        ("put", (_KEY, {"a", "b"})),
        *(call for member in long for call in (("add_member", (_KEY, member)), *read)),
        *(call for member in reversed(long) for call in (("remove_member", (_KEY, member)), *read)),
    ]


def _ranking(size: int) -> list[Call]:
    """Scores in another order than the names."""
    scores = {f"m{place}": float(place * 7 % (size + 1)) for place in range(size + 1)}
    names = list(scores)
    around = (names[0], *names[size - _SPAN :])
    read: list[Call] = [
        ("get", (_KEY,)),
        ("ranking_size", (_KEY,)),
        ("top", (_KEY, _SPAN)),
        ("top", (_KEY, size + _SPAN)),
        *((operation, (_KEY, name)) for name in around for operation in ("score_of", "rank_of")),
    ]
    return [
        ("put", (_KEY, {name: scores[name] for name in names[: size - 1]})),
        *(call for name in names[size - 1 :] for call in (("set_score", (_KEY, name, scores[name])), *read)),
        ("add_score", (_KEY, names[0], size * 2.0)),
        ("set_score", (_KEY, names[-1], -1.5)),
        *read,
        *(call for name in around for call in (("remove_score", (_KEY, name)), *read)),
    ]


def _ranked_member(size: int) -> list[Call]:
    long = [content(length).decode().replace(" ", "-") for length in (size - 1, size, size + 1)]
    read: list[Call] = [("get", (_KEY,)), ("top", (_KEY, 9)), *((each, (_KEY, name)) for name in long for each in ("score_of", "rank_of"))]
    return [
        ("put", (_KEY, {"a": 1.0, "b": 2.0})),
        *(call for place, name in enumerate(long) for call in (("set_score", (_KEY, name, place + 0.5)), *read)),
        *(call for name in reversed(long) for call in (("remove_score", (_KEY, name)), *read)),
    ]


def _array(size: int) -> list[Call]:
    items = [{"number": place} for place in range(size + 1)]
    at: Any = ("orders",)
    read: list[Call] = [
        ("get", (_KEY,)),
        ("item_count", (_KEY, at)),
        ("get_path", (_KEY, at)),
        *(("get_path", (_KEY, (*at, place, "number"))) for place in (0, size // 2, size - 2, size - 1, size, size + 1)),
    ]
    return [
        ("put", (_KEY, {"name": "one", "orders": items[: size - 1]})),
        *(call for item in items[size - 1 :] for call in (("push_item", (_KEY, at, item)), *read)),
        ("set_path", (_KEY, (*at, size - 1, "number"), "changed")),
        ("increment_path", (_KEY, (*at, size, "number"), 1)),
        ("insert_item", (_KEY, (*at, size // 2), {"number": "inserted"})),
        *read,
        ("add_to_set", (_KEY, at, items[1])),
        ("add_to_set", (_KEY, at, {"number": "new"})),
        *read,
        *(call for item in (items[0], items[1], items[size - 2]) for call in (("pull_item", (_KEY, at, item)), *read)),
        ("set_path", (_KEY, at, items[:2])),
        ("get", (_KEY,)),
    ]


def _object(size: int) -> list[Call]:
    """An object in a document, with that many fields."""
    names = [f"f{place}" for place in range(size + 1)]
    around = (names[0], *names[size - _SPAN :])
    read: list[Call] = [("get", (_KEY,)), *(("get_path", (_KEY, ("profile", name))) for name in around)]
    return [
        ("put", (_KEY, {"name": "one", "profile": {name: place for place, name in enumerate(names[: size - 1])}})),
        *(call for name in names[size - 1 :] for call in (("set_path", (_KEY, ("profile", name), name)), *read)),
        *(call for name in around for call in (("unset_path", (_KEY, ("profile", name))), *read)),
    ]


def _text(size: int) -> list[Call]:
    whole = content(size + 1).decode()
    read: list[Call] = [("get_path", (_KEY, ("name",))), ("get_path", (_KEY, ("after",))), ("get", (_KEY,))]
    return [
        ("put", (_KEY, {"before": 1, "name": whole[: size - 1], "after": [1, "z"]})),
        *(call for end in (size, size + 1, size - 1) for call in (("set_path", (_KEY, ("name",), whole[:end])), *read)),
        ("set_path", (_KEY, ("after", 1), whole)),
        *read,
        ("unset_path", (_KEY, ("name",))),
        *read,
        ("get_and_set", (_KEY, {"name": whole})),
        ("get_many", ([_KEY],)),
    ]
