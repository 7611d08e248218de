"""Collections of the least and of the most: one with no family, and one with all, which gives the reply that it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storeproof.contract import OPERATIONS
from storeproof.spec.query import Aggregation, Browse, Query, Where


class Bare:
    """What every collection must have, and no family."""

    def prepare(self) -> None: ...

    def clear(self) -> None: ...

    def describe(self) -> Mapping[str, str]:
        return {"indexes": "0"}


class Answering(Bare):
    """Has every family, and answers whatever it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def _reply(self, *args: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


for operation in OPERATIONS:
    setattr(Answering, operation, Answering._reply)

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "count": (),
    "put": ("k", b""),
    "get_many": (["a", "b"],),
    "put_many": ({"a": b""},),
    "insert_many": ({"a": b""},),
    "get_field": ("k", "f"),
    "set_field": ("k", "f", b""),
    "delete_field": ("k", "f"),
    "get_fields": ("k", ["f", "g"]),
    "get_path": ("k", ("a",)),
    "get_paths": ("k", [("a",), ("b",)]),
    "set_path": ("k", ("a",), 1),
    "unset_path": ("k", ("a",)),
    "increment": ("k", 1),
    "put_if_absent": ("k", b""),
    "compare_and_set": ("k", b"", b""),
    "put_expiring": ("k", b"", 1),
    "put_swept": ("k", b"", 1),
    "scan": (None, 2, False),
    "find": (Query(limit=2),),
    "count_where": (Where(),),
    "aggregate": (Aggregation.model_validate({"by": {"a": ["a"]}, "compute": {"n": ["count"]}}),),
    "browse": (Browse.model_validate({"facets": {"f": ["a"]}, "limit": 2}),),
    "update_where": (Where(), ("a",), 1),
    "delete_where": (Where(),),
    "get_and_set": ("k", b""),
    "append": ("k", b""),
    "increment_field": ("k", "f", 1),
    "increment_path": ("k", ("a",), 1),
    "push_item": ("k", ("a",), 1),
    "insert_item": ("k", ("a", 0), 1),
    "pull_item": ("k", ("a",), 1),
    "add_to_set": ("k", ("a",), 1),
    "item_count": ("k", ("a",)),
    "expire": ("k", 1),
    "scan_prefix": ("a", 2),
    "walk": (None, 2),
    "push_back": ("k", b""),
    "push_front": ("k", b""),
    "list_range": ("k", 1, 3),
    "add_member": ("k", "m"),
    "remove_member": ("k", "m"),
    "has_member": ("k", "m"),
    "set_score": ("k", "m", 1.0),
    "add_score": ("k", "m", 1.0),
    "remove_score": ("k", "m"),
    "score_of": ("k", "m"),
    "rank_of": ("k", "m"),
    "top": ("k", 2),
    "add_place": ("k", "m", 0.0, 0.0),
    "remove_place": ("k", "m"),
    "distance_between": ("k", "m", "n"),
    "nearest": ("k", 0.0, 0.0, 1.0, 2),
}
