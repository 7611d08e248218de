"""The operations by name: the family, whether it writes, and the shape of its reply."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from storeproof.contract import administration, families, feeds, structures
from storeproof.contract.values import MISSING, FacetedPage, Layout, Missing, Row
from storeproof.printable import shortened
from storeproof.spec.model import CounterRecord, Document, Hash, MembersRecord, Model, QueueRecord, RankingRecord, Value

ReplyCheck = Callable[[Model, tuple[Any, ...], Any], str | None]
"""(model, arguments, reply) -> what is wrong with the reply, or None."""


@dataclass(frozen=True)
class OperationKind:
    """One method of the contract."""

    name: str
    family: type
    writes: bool
    check: ReplyCheck


def _is_record(model: Model, reply: Any) -> str | None:
    record = model.record
    if isinstance(record, Value):
        good, wanted = type(reply) is bytes, "bytes"
    elif isinstance(record, CounterRecord):
        good, wanted = type(reply) is int, "an int"
    elif isinstance(record, Hash):
        good = type(reply) is dict and all(type(k) is str and type(v) is bytes for k, v in reply.items())
        wanted = "a dict of str to bytes"
    elif isinstance(record, Document):
        good, wanted = type(reply) is dict and _is_json(reply), "a dict of JSON values"
    elif isinstance(record, QueueRecord):
        good, wanted = type(reply) is list and all(type(item) is bytes for item in reply), "a list of bytes"
    elif isinstance(record, MembersRecord):
        good, wanted = type(reply) is set and all(type(member) is str for member in reply), "a set of str"
    elif isinstance(record, RankingRecord):
        good = type(reply) is dict and all(type(member) is str and _is_score(score) for member, score in reply.items())
        wanted = "a dict of str to float"
    else:
        good = isinstance(reply, Row) and type(reply.integer) is int and type(reply.real) is float
        wanted = "a Row of int and float"
    return None if good else f"a record of {model.model} is {wanted}; found {_shorten(reply)}"


_WHOLE_LEAVES = frozenset((bool, int, str, type(None)))
_NAMES = frozenset((str,))


def _is_json(value: Any) -> bool:
    """Every document that is read passes here: a leaf costs no call of its own."""
    if isinstance(value, dict):
        if not _NAMES.issuperset(map(type, value)):
            return False
        items: Collection[Any] = value.values()
    elif isinstance(value, list):
        items = value
    elif type(value) in (float, Decimal):
        return math.isfinite(value)
    else:
        return type(value) in _WHOLE_LEAVES
    if _WHOLE_LEAVES.issuperset(map(type, items)):
        return True
    return all([type(each) in _WHOLE_LEAVES or _is_json(each) for each in items])  # noqa: C419 - a generator takes longer than its items


def _is_score(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _shorten(reply: Any) -> str:
    return shortened(f"{type(reply).__name__} {reply!r}", 80)


def _record_or_none(model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    return None if reply is None else _is_record(model, reply)


def _exactly(*types: type) -> ReplyCheck:
    names = " or ".join(kind.__name__ for kind in types)

    def check(_model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
        return None if type(reply) in types else f"the reply is {names}; found {_shorten(reply)}"

    return check


def _records_in_order(model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    if not isinstance(reply, Sequence) or isinstance(reply, (str, bytes)) or len(reply) != len(args[0]):
        return f"the reply has one entry per key, {len(args[0])}; found {_shorten(reply)}"
    return "; ".join(wrong for item in reply if item is not None and (wrong := _is_record(model, item))) or None


def _keyed_records(model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    key_type = str if model.key == "text" else int
    if not isinstance(reply, Sequence) or isinstance(reply, (str, bytes)) or len(reply) > args[1]:
        return f"the reply has at most {args[1]} pairs; found {_shorten(reply)}"
    wrong = []
    for pair in reply:
        if not isinstance(pair, tuple) or len(pair) != 2 or type(pair[0]) is not key_type:
            wrong.append(f"each entry is a pair of {key_type.__name__} and record; found {_shorten(pair)}")
        elif breach := _is_record(model, pair[1]):
            wrong.append(breach)
    return "; ".join(wrong) or None


def _json_or_missing(_model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    return None if reply is MISSING or _is_json(reply) else f"the reply is a JSON value or MISSING; found {_shorten(reply)}"


def _in_order(of: str, check: Callable[[Any], bool], wanted: str) -> ReplyCheck:
    """One entry for each item of the second argument, such as a field."""

    def checked(_model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
        if not isinstance(reply, Sequence) or isinstance(reply, (str, bytes)) or len(reply) != len(args[1]):
            return f"the reply has one entry per {of}, {len(args[1])}; found {_shorten(reply)}"
        wrong = [entry for entry in reply if not check(entry)]
        return f"each entry is {wanted}; found {_shorten(wrong[0])}" if wrong else None

    return checked


def _number_or_none(_model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    good = reply is None or type(reply) in (int, Decimal) or _is_score(reply)
    return None if good else f"the reply is int, finite float or NoneType; found {_shorten(reply)}"


def _items(_model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    most = max(0, args[2] - args[1])
    good = isinstance(reply, list) and len(reply) <= most and all(type(item) is bytes for item in reply)
    return None if good else f"the reply is a list of at most {most} items of bytes; found {_shorten(reply)}"


def _ranked(_model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    if not isinstance(reply, list) or len(reply) > args[1]:
        return f"the reply is a list of at most {args[1]} pairs; found {_shorten(reply)}"
    wrong = [pair for pair in reply if not isinstance(pair, tuple) or len(pair) != 2 or type(pair[0]) is not str or not _is_score(pair[1])]
    return f"each entry is a pair of str and finite float; found {_shorten(wrong[0])}" if wrong else None


def _members(_model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    good = isinstance(reply, list) and len(reply) <= args[4] and all(type(member) is str for member in reply)
    return None if good else f"the reply is a list of at most {args[4]} members; found {_shorten(reply)}"


def _part_of_a_walk(model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    if not isinstance(reply, tuple) or len(reply) != 2 or type(reply[0]) not in (str, int, type(None)) or not isinstance(reply[1], list):
        return f"the reply is a pair of a cursor and a list of keys; found {_shorten(reply)}"
    wrong = [key for key in reply[1] if not _is_key(model, key)]
    return f"a key of {model.model} is {model.key}; found {_shorten(wrong[0])}" if wrong else None


def _found_records(model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    query = args[0]
    if not isinstance(reply, Sequence) or (query.limit is not None and len(reply) > query.limit):
        return f"the reply has at most {query.limit} pairs; found {_shorten(reply)}"
    return "; ".join(wrong for pair in reply if (wrong := _pair(model, pair))) or None


def _pair(model: Model, pair: Any) -> str | None:
    if isinstance(pair, tuple) and len(pair) == 2 and _is_key(model, pair[0]) and type(pair[1]) is dict and _is_json(pair[1]):
        return None
    return f"each entry is a pair of a key and a dict of JSON values; found {_shorten(pair)}"


def _is_key(model: Model, key: Any) -> bool:
    return type(key) is (str if model.key == "text" else int)


def _joined(model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    for entry in reply if isinstance(reply, Sequence) else [reply]:
        if not isinstance(entry, tuple) or len(entry) != 3 or _pair(model, entry[:2]):
            return f"each entry is a key, a dict and a dict or None; found {_shorten(entry)}"
        if entry[2] is not None and not (type(entry[2]) is dict and _is_json(entry[2])):
            return f"what is joined is a dict or None; found {_shorten(entry[2])}"
    return None


def _names(_model: Model, _args: tuple[Any, ...], reply: Any) -> str | None:
    good = isinstance(reply, Sequence) and not isinstance(reply, str) and all(type(name) is str for name in reply)
    return None if good and list(reply) == sorted(reply) else f"the reply is a sorted list of names; found {_shorten(reply)}"


def _changes(model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    if not isinstance(reply, Sequence) or isinstance(reply, (str, bytes)) or len(reply) > args[0]:
        return f"the reply has at most {args[0]} changes; found {_shorten(reply)}"
    for change in reply:
        if not isinstance(change, feeds.Change) or change.kind not in ("put", "delete") or not _is_key(model, change.key):
            return f"each entry is a Change of a kind and a key; found {_shorten(change)}"
        if change.record is not None and (breach := _is_record(model, change.record)):
            return breach
    return None


def _groups(_model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    names = {*args[0].by, *args[0].compute}
    if not isinstance(reply, Sequence) or isinstance(reply, (str, bytes)):
        return f"the reply is a list of groups; found {_shorten(reply)}"
    wrong = [group for group in reply if type(group) is not dict or group.keys() != names or not _is_json(group)]
    return f"each group is a dict of {', '.join(sorted(names))}; found {_shorten(wrong[0])}" if wrong else None


def _page_and_facets(model: Model, args: tuple[Any, ...], reply: Any) -> str | None:
    browse = args[0]
    if not isinstance(reply, FacetedPage) or type(reply.total) is not int or not isinstance(reply.keys, list):
        return f"the reply is a FacetedPage; found {_shorten(reply)}"
    if len(reply.keys) > browse.limit or not all(_is_key(model, key) for key in reply.keys):
        return f"the page has at most {browse.limit} keys; found {_shorten(reply.keys)}"
    if reply.facets.keys() != browse.facets.keys():
        return f"the facets are {', '.join(browse.facets)}; found {_shorten(list(reply.facets))}"
    entries = [entry for facet in reply.facets.values() for entry in facet]
    wrong = [entry for entry in entries if not isinstance(entry, tuple) or len(entry) != 2 or type(entry[1]) is not int]
    return f"a facet has pairs of a value and a count; found {_shorten(wrong[0])}" if wrong else None


_NOTHING = _exactly(type(None))
_YES_OR_NO = _exactly(bool)
_VALUES = _in_order("field", lambda entry: entry is None or type(entry) is bytes, "bytes or None")
_PARTS = _in_order("path", lambda entry: entry is MISSING or _is_json(entry), "a JSON value or MISSING")

OPERATIONS: dict[str, OperationKind] = {
    operation.name: operation
    for operation in (
        OperationKind("get", families.KeyValue, False, _record_or_none),
        OperationKind("put", families.KeyValue, True, _NOTHING),
        OperationKind("delete", families.KeyValue, True, _YES_OR_NO),
        OperationKind("exists", families.KeyValue, False, _YES_OR_NO),
        OperationKind("count", families.Count, False, _exactly(int)),
        OperationKind("get_many", families.BatchRead, False, _records_in_order),
        OperationKind("put_many", families.BatchWrite, True, _NOTHING),
        OperationKind("insert_many", families.BatchInsert, True, _YES_OR_NO),
        OperationKind("get_field", families.Fields, False, _exactly(bytes, type(None))),
        OperationKind("set_field", families.Fields, True, _NOTHING),
        OperationKind("delete_field", families.Fields, True, _YES_OR_NO),
        OperationKind("get_fields", families.SeveralFields, False, _VALUES),
        OperationKind("set_fields", families.SeveralFields, True, _NOTHING),
        OperationKind("get_path", families.Paths, False, _json_or_missing),
        OperationKind("set_path", families.Paths, True, _YES_OR_NO),
        OperationKind("unset_path", families.Paths, True, _YES_OR_NO),
        OperationKind("get_paths", families.SeveralPaths, False, _PARTS),
        OperationKind("set_paths", families.SeveralPaths, True, _YES_OR_NO),
        OperationKind("increment", families.Counter, True, _exactly(int)),
        OperationKind("put_if_absent", families.Conditional, True, _YES_OR_NO),
        OperationKind("compare_and_set", families.Conditional, True, _YES_OR_NO),
        OperationKind("put_expiring", families.Expiry, True, _NOTHING),
        OperationKind("put_swept", families.SweptExpiry, True, _NOTHING),
        OperationKind("scan", families.Ordered, False, _keyed_records),
        OperationKind("find", families.Find, False, _found_records),
        OperationKind("count_where", families.Find, False, _exactly(int)),
        OperationKind("aggregate", families.Aggregate, False, _groups),
        OperationKind("browse", families.Facets, False, _page_and_facets),
        OperationKind("update_where", families.Bulk, True, _exactly(int)),
        OperationKind("delete_where", families.Bulk, True, _exactly(int)),
        OperationKind("find_joined", families.Lookup, False, _joined),
        OperationKind("create_index", administration.Indexing, True, _NOTHING),
        OperationKind("drop_index", administration.Indexing, True, _YES_OR_NO),
        OperationKind("index_names", administration.Indexing, False, _names),
        OperationKind("require", administration.Validation, True, _NOTHING),
        OperationKind("transfer", administration.Procedures, True, _YES_OR_NO),
        OperationKind("get_and_set", families.Swap, True, _record_or_none),
        OperationKind("append", families.Append, True, _NOTHING),
        OperationKind("increment_field", families.FieldCounter, True, _exactly(int)),
        OperationKind("increment_path", families.PathCounter, True, _number_or_none),
        OperationKind("push_item", families.Arrays, True, _YES_OR_NO),
        OperationKind("insert_item", families.Arrays, True, _YES_OR_NO),
        OperationKind("pull_item", families.Arrays, True, _YES_OR_NO),
        OperationKind("add_to_set", families.Arrays, True, _YES_OR_NO),
        OperationKind("item_count", families.Arrays, False, _exactly(int, Missing)),
        OperationKind("expire", families.ExpiryControl, True, _YES_OR_NO),
        OperationKind("expires_in", families.ExpiryControl, False, _exactly(float, type(None))),
        OperationKind("persist", families.ExpiryControl, True, _YES_OR_NO),
        OperationKind("scan_prefix", families.Prefix, False, _keyed_records),
        OperationKind("walk", families.Walk, False, _part_of_a_walk),
        OperationKind("push_back", structures.Queue, True, _exactly(int)),
        OperationKind("push_front", structures.Queue, True, _exactly(int)),
        OperationKind("pop_front", structures.Queue, True, _exactly(bytes, type(None))),
        OperationKind("pop_back", structures.Queue, True, _exactly(bytes, type(None))),
        OperationKind("list_range", structures.Queue, False, _items),
        OperationKind("list_length", structures.Queue, False, _exactly(int)),
        OperationKind("add_member", structures.Members, True, _YES_OR_NO),
        OperationKind("remove_member", structures.Members, True, _YES_OR_NO),
        OperationKind("has_member", structures.Members, False, _YES_OR_NO),
        OperationKind("member_count", structures.Members, False, _exactly(int)),
        OperationKind("set_score", structures.Ranking, True, _YES_OR_NO),
        OperationKind("add_score", structures.Ranking, True, _exactly(float)),
        OperationKind("remove_score", structures.Ranking, True, _YES_OR_NO),
        OperationKind("score_of", structures.Ranking, False, _exactly(float, type(None))),
        OperationKind("rank_of", structures.Ranking, False, _exactly(int, type(None))),
        OperationKind("top", structures.Ranking, False, _ranked),
        OperationKind("ranking_size", structures.Ranking, False, _exactly(int)),
        OperationKind("add_place", structures.Places, True, _YES_OR_NO),
        OperationKind("remove_place", structures.Places, True, _YES_OR_NO),
        OperationKind("place_count", structures.Places, False, _exactly(int)),
        OperationKind("distance_between", structures.Places, False, _exactly(float, type(None))),
        OperationKind("nearest", structures.Places, False, _members),
        OperationKind("follow", feeds.Feed, False, _NOTHING),
        OperationKind("changes", feeds.Feed, False, _changes),
        OperationKind("leave_feed", feeds.ResumableFeed, False, _NOTHING),
        OperationKind("resume_feed", feeds.ResumableFeed, False, _NOTHING),
        OperationKind("save_search", feeds.StoredSearches, True, _NOTHING),
        OperationKind("searches_for", feeds.StoredSearches, False, _names),
    )
}
"""Every operation that a case, an oracle or a workload may name."""


def wrong_reply(operation: OperationKind, layout: Layout, args: tuple[Any, ...], reply: Any) -> str | None:
    """What is wrong with a reply's shape, or None."""
    return operation.check(layout.model, args, reply)


_PLAIN = (bool, int, float, Decimal, str, bytes, list, tuple, dict, set, Row, FacetedPage, Missing, type(None))
_SEQUENCES = (_VALUES, _PARTS, _records_in_order, _keyed_records, _items, _ranked, _members, _found_records, _joined, _changes, _groups)


def is_of_adapter(operation: OperationKind, reply: Any) -> bool:
    """Whether a reply of the wrong shape was made so by the adapter, and not by the server.

    The adapter makes what is around the data: nothing, yes or no, the list, the pair of cursor and keys, the sorted names. What is in it, a
    record, a field, a key, a number or how many of them, comes from the server.
    """
    if operation.check in (_NOTHING, _YES_OR_NO, _names) or type(reply) not in _PLAIN:
        return True
    if operation.check in _SEQUENCES:
        return not isinstance(reply, (list, tuple))
    if operation.check is _part_of_a_walk:
        return not (isinstance(reply, tuple) and len(reply) == 2 and isinstance(reply[1], list))
    return operation.check is _page_and_facets and not isinstance(reply, FacetedPage)
