"""What one operation of a mix calls of the store's client, and how its replies are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from storeproof.contract import OPERATIONS, Collection, Unsupported, why_not
from storeproof.contract.operations import OperationKind, wrong_reply
from storeproof.contract.values import MISSING, Key, Layout, Record
from storeproof.errors import UsageError
from storeproof.load.engine import Plan, operation_name
from storeproof.spec.workload import Mix


@dataclass(frozen=True)
class BoundOperation:
    """The call for one operation of a mix. The reply of `call` is for `wrong` and `missed` alone to look into."""

    operation: OperationKind
    call: Callable[..., Any]
    wrong: Callable[[tuple[Any, ...], Any], str | None]
    """(arguments, reply) -> how the reply breaks the contract, or None."""
    missed: Callable[[Any], int]
    """(reply) -> how many of the records that the request was about were not there."""


def bind_operation(collection: Collection, plan: Plan, mix: Mix) -> BoundOperation:
    """How a mix of a plan is called.

    Raises:
        UsageError: the engine does not run the operation.
        Unsupported: the store does not offer it.
    """
    name, layout = operation_name(mix), plan.layout
    if name not in MISSED:
        raise UsageError(f"the driver engine does not run `{name}`; it runs {', '.join(sorted(MISSED))}")
    operation = OPERATIONS[name]
    if not isinstance(collection, operation.family):
        raise Unsupported(why_not(collection, operation.family.__name__), f"{name} on {layout.model.model}")
    call: Callable[..., Any] = getattr(collection, name)
    if mix.reads_first:
        return _after_a_read(collection, layout, operation, call)
    if name == "scan":
        assert plan.greatest is not None, "a plan that scans knows where the loaded keys end"
        return BoundOperation(operation, call, _wrong_scan(layout, plan.greatest), MISSED[name])
    return BoundOperation(operation, call, lambda args, reply: wrong_reply(operation, layout, args, reply), MISSED[name])


def _after_a_read(collection: Collection, layout: Layout, operation: OperationKind, write: Callable[..., Any]) -> BoundOperation:
    """The record is read and then written, where it is there; the reply is a pair of both replies."""
    get, read = OPERATIONS["get"], collection.get  # type: ignore[attr-defined]
    missed = MISSED[operation.name]

    def call(*args: Any) -> tuple[Record | None, Any]:
        found = read(args[0])
        return found, None if found is None else write(*args)

    def wrong(args: tuple[Any, ...], reply: tuple[Record | None, Any]) -> str | None:
        found, written = reply
        return wrong_reply(get, layout, args[:1], found) or (None if found is None else wrong_reply(operation, layout, args, written))

    return BoundOperation(operation, call, wrong, lambda reply: 1 if reply[0] is None else missed(reply[1]))


def _wrong_scan(layout: Layout, greatest: Key) -> Callable[[tuple[Any, ...], Any], str | None]:
    """A scan begins at a record that is there, and has as many as were asked for, unless it came to the end: to the greatest loaded key,
    which stays, or beyond."""
    scan = OPERATIONS["scan"]

    def wrong(args: tuple[Any, ...], reply: Sequence[tuple[Any, Record]]) -> str | None:
        if (breach := wrong_reply(scan, layout, args, reply)) or not reply:
            return breach
        start, count, _backwards = args
        keys = [key for key, _ in reply]
        if keys[0] != start:
            return f"it begins at {keys[0]}, where {start} was asked for and is there"
        if any(one >= other for one, other in pairwise(keys)):
            return "the records are not in the order of their keys"
        if len(keys) < count and keys[-1] < greatest:
            return f"it has {len(keys)} of {count} records and ends at {keys[-1]}, before the last one, {greatest}"
        return None

    return wrong


def _never(_reply: Any) -> int:
    return 0


def _if_none(reply: Any) -> int:
    return 1 if reply is None else 0


def _if_false(reply: Any) -> int:
    return 0 if reply else 1


def _if_missing(reply: Any) -> int:
    return 1 if reply is MISSING else 0


def _if_any_none(reply: Any) -> int:
    return 1 if None in reply else 0


def _if_any_missing(reply: Any) -> int:
    return 1 if MISSING in reply else 0


def _nones(reply: Any) -> int:
    return sum(1 for each in reply if each is None)


def _if_empty(reply: Any) -> int:
    return 0 if reply else 1


def _if_nothing_found(reply: Any) -> int:
    return 0 if reply.total else 1


MISSED: Final[Mapping[str, Callable[[Any], int]]] = {
    "get": _if_none,
    "put": _never,
    "exists": _if_false,
    "get_many": _nones,
    "put_many": _never,
    "insert_many": _if_false,
    "get_field": _if_none,
    "set_field": _never,
    "get_path": _if_missing,
    "set_path": _if_false,
    "get_fields": _if_any_none,
    "set_fields": _never,
    "get_paths": _if_any_missing,
    "set_paths": _if_false,
    "increment": _never,
    "put_if_absent": _if_false,
    "delete": _if_false,
    "find": _if_empty,
    "count_where": _if_empty,
    "aggregate": _if_empty,
    "browse": _if_nothing_found,
    "scan": _if_empty,
}
"""(reply) -> how many of the records that a request was about were not there; for each operation the engine can run.

What is asked is asked of words and values of records that are there: an empty answer is one that was missed.
"""
