"""Stores that lie about everything in one way: the variant's option `lie` says which. Whatever a run asks of one, the run must end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite
from storeproof.contract import OPERATIONS, Address, FacetedPage, Refused, Unknown, Unsupported, WrongReply

LATE_SECONDS = 1.0
_CONDITIONAL = ("put_if_absent", "compare_and_set")
_YES_OR_NO = frozenset(name for name, each in OPERATIONS.items() if each.check is OPERATIONS["delete"].check)
_OK: Mapping[str, Any] = {
    **dict.fromkeys(("count", "count_where", "update_where", "delete_where", "increment", "increment_field", "increment_path"), 0),
    **dict.fromkeys(("push_back", "push_front", "list_length", "member_count", "ranking_size", "place_count", "item_count"), 0),
    **dict.fromkeys(("scan", "scan_prefix", "find", "find_joined", "aggregate", "index_names", "searches_for", "changes"), ()),
    **{name: [] for name in ("list_range", "nearest", "top")},
    **dict.fromkeys(_YES_OR_NO, True),
    "add_score": 0.0,
    "walk": (None, []),
}
"""What an answer to a request that failed is, where it is not None."""
_OF_EACH = ("get_many", "get_fields", "get_paths")
"""Requests whose last argument has several parts, each of which has an answer."""

Method = Callable[..., Any]


def says_no(name: str, method: Method) -> Method:
    """Refuses every condition, whether or not it holds."""
    return (lambda *_: False) if name in _CONDITIONAL else method


def says_yes(name: str, method: Method) -> Method:
    """Whatever can be answered with yes or no is answered with yes."""

    def yes(*arguments: Any) -> Any:
        method(*arguments)
        return True

    return yes if name in _YES_OR_NO else method


def late(_name: str, method: Method) -> Method:
    """Answers right, and a second late."""

    def answer(*arguments: Any) -> Any:
        time.sleep(LATE_SECONDS)
        return method(*arguments)

    return answer


def all_is_well(name: str, method: Method) -> Method:
    """Turns every error into success."""

    def answer(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except (Refused, Unknown, Unsupported, WrongReply):
            if name in _OF_EACH:
                return [None] * len(arguments[-1])
            if name == "browse":
                return FacetedPage(0, [], {facet: [] for facet in arguments[1].facets})
            return _OK.get(name)

    return answer


def never_empty(name: str, method: Method) -> Method:
    """A queue that always has another item."""
    return (lambda *_: b"1:0") if name == "pop_front" else method


def refuses_to_count(name: str, method: Method) -> Method:
    """Refuses one kind of query for ever."""

    def refuse(*_: Any) -> Any:
        raise Refused("not now")

    return refuse if name == "count_where" else method


LIES: Mapping[str, Callable[[str, Method], Method]] = {
    "no": says_no,
    "yes": says_yes,
    "late": late,
    "ok": all_is_well,
    "full": never_empty,
    "deaf": refuses_to_count,
}
_OF_A_SESSION = ("begin", "commit", "rollback", "compact")
_OF_A_COLLECTION = (*OPERATIONS, "prepare", "clear")


def _changed(honest: type, lie: str, names: tuple[str, ...]) -> type:
    told = {name: LIES[lie](name, getattr(honest, name)) for name in names if hasattr(honest, name)}
    return type(f"{honest.__name__}Lying{lie.title()}", (honest,), told)


def _session(lie: str) -> type[SQLite]:
    tables = {kind: _changed(table, lie, _OF_A_COLLECTION) for kind, table in SQLite.tables.items()}
    session: type[SQLite] = type("Liar", (_changed(SQLite, lie, _OF_A_SESSION),), {"tables": tables})
    return session


_SESSIONS = {lie: _session(lie) for lie in LIES}


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    return _SESSIONS[options["lie"]](Link(address))
