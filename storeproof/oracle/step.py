"""One operation on one collection, as the contract defines it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

from storeproof.contract.values import MISSING, Key, Path, Record
from storeproof.oracle import query
from storeproof.oracle.equality import same
from storeproof.spec.query import Where

State = Mapping[Key, Record]
"""The records of a collection."""


class Answer(Enum):
    """Answers that are no values."""

    REFUSAL = "the store must refuse"
    UNDEFINED = "the contract does not say; the operation is left out"


REFUSAL: Final = Answer.REFUSAL
UNDEFINED: Final = Answer.UNDEFINED


def step(state: State, operation: str, args: tuple[Any, ...]) -> tuple[Any, State]:
    """The right answer, and the state after it. The state given is not changed."""
    return _STEPS[operation](state, *args)


def _get(state: State, key: Key) -> tuple[Any, State]:
    return state.get(key), state


def _put(state: State, key: Key, record: Record) -> tuple[Any, State]:
    return None, {**state, key: copy.deepcopy(record)}


def _without(state: State, key: Key) -> State:
    return {other: record for other, record in state.items() if other != key}


def _delete(state: State, key: Key) -> tuple[Any, State]:
    return key in state, _without(state, key)


def _exists(state: State, key: Key) -> tuple[Any, State]:
    return key in state, state


def _count(state: State) -> tuple[Any, State]:
    return len(state), state


def _get_many(state: State, keys: list[Key]) -> tuple[Any, State]:
    return [state.get(key) for key in keys], state


def _put_many(state: State, records: Mapping[Key, Record]) -> tuple[Any, State]:
    return None, {**state, **copy.deepcopy(dict(records))}


def _get_field(state: State, key: Key, field: str) -> tuple[Any, State]:
    return _hash(state, key).get(field), state


def _set_field(state: State, key: Key, field: str, value: bytes) -> tuple[Any, State]:
    return None, {**state, key: {**_hash(state, key), field: value}}


def _delete_field(state: State, key: Key, field: str) -> tuple[Any, State]:
    fields = _hash(state, key)
    if field not in fields:
        return False, state
    rest = {name: value for name, value in fields.items() if name != field}
    if not rest:
        return UNDEFINED, state  # whether an empty hash is a record is a named alternative: fields.delete-field/003
    return True, {**state, key: rest}


def _hash(state: State, key: Key) -> dict[str, bytes]:
    record = state.get(key, {})
    assert isinstance(record, dict)
    return record  # type: ignore[return-value]


def _walk(node: Any, path: Path) -> Any:
    """The value at the path; MISSING, or UNDEFINED where a name is used on a list or a position on an object."""
    for part in path:
        if isinstance(node, dict) and isinstance(part, str):
            if part not in node:
                return MISSING
            node = node[part]
        elif isinstance(node, list) and isinstance(part, int):
            if part >= len(node):
                return MISSING
            node = node[part]
        elif isinstance(node, (dict, list)):
            return UNDEFINED
        else:
            return MISSING
    return node


def _get_path(state: State, key: Key, path: Path) -> tuple[Any, State]:
    return (_walk(state[key], path) if key in state else MISSING), state


def _set_path(state: State, key: Key, path: Path, value: Any) -> tuple[Any, State]:
    if key not in state:
        return False, state
    parent, last = _walk(state[key], path[:-1]), path[-1]
    if parent is UNDEFINED:
        return UNDEFINED, state
    if (isinstance(parent, dict) and isinstance(last, str)) or (isinstance(parent, list) and isinstance(last, int) and last < len(parent)):
        record: Any = copy.deepcopy(state[key])
        _walk(record, path[:-1])[last] = copy.deepcopy(value)
        return True, {**state, key: record}
    # A position beyond the end pads the list in some stores; a name on a list is an error in some, a no-op in others.
    return (UNDEFINED if isinstance(parent, (dict, list)) else REFUSAL), state


def _unset_path(state: State, key: Key, path: Path) -> tuple[Any, State]:
    if key not in state:
        return False, state
    parent, last = _walk(state[key], path[:-1]), path[-1]
    if parent is UNDEFINED or isinstance(parent, list) or (isinstance(parent, dict) and isinstance(last, int)):
        return UNDEFINED, state
    if not isinstance(parent, dict) or last not in parent:
        return True, state
    record: Any = copy.deepcopy(state[key])
    del _walk(record, path[:-1])[last]
    return True, {**state, key: record}


def _increment(state: State, key: Key, by: int) -> tuple[Any, State]:
    number = state.get(key, 0)
    assert isinstance(number, int)
    if not -(2**63) <= number + by < 2**63:
        return UNDEFINED, state  # beyond 64 bits some stores refuse and some wrap
    return number + by, {**state, key: number + by}


def _put_if_absent(state: State, key: Key, record: Record) -> tuple[Any, State]:
    return (False, state) if key in state else (True, _put(state, key, record)[1])


def _compare_and_set(state: State, key: Key, expected: Record, record: Record) -> tuple[Any, State]:
    if key not in state or state[key] != expected:
        return False, state
    if not same(state[key], expected):
        return UNDEFINED, state  # 1 and 1.0 in a document: whether these are equal is a question of how a store keeps numbers
    return True, _put(state, key, record)[1]


def _scan(state: State, start: Key | None, count: int, backwards: bool) -> tuple[Any, State]:
    keys = sorted(state, reverse=backwards)
    if start is not None:
        keys = [key for key in keys if (key <= start if backwards else key >= start)]  # type: ignore[operator]
    return [(key, state[key]) for key in keys[:count]], state


def _answering(answer: Callable[[Any, Any], Any]) -> Callable[..., tuple[Any, State]]:
    return lambda state, request: (answer(state, request), state)


def _update_where(state: State, where: Where, path: Path, value: Any) -> tuple[Any, State]:
    matching = [key for key, record in state.items() if query.holds(where.filter, record)]
    for key in matching:
        done, state = _set_path(state, key, path, value)
        if done is not True:
            return UNDEFINED, state  # one of many that cannot be changed: some stores refuse all, some change the others
    return len(matching), state


def _delete_where(state: State, where: Where) -> tuple[Any, State]:
    kept = {key: record for key, record in state.items() if not query.holds(where.filter, record)}
    return len(state) - len(kept), kept


_STEPS: dict[str, Callable[..., tuple[Any, State]]] = {
    "get": _get,
    "put": _put,
    "delete": _delete,
    "exists": _exists,
    "count": _count,
    "get_many": _get_many,
    "put_many": _put_many,
    "get_field": _get_field,
    "set_field": _set_field,
    "delete_field": _delete_field,
    "get_path": _get_path,
    "set_path": _set_path,
    "unset_path": _unset_path,
    "increment": _increment,
    "put_if_absent": _put_if_absent,
    "compare_and_set": _compare_and_set,
    "scan": _scan,
    "find": _answering(query.find),
    "count_where": _answering(query.count_where),
    "aggregate": _answering(query.aggregate),
    "browse": _answering(query.browse),
    "update_where": _update_where,
    "delete_where": _delete_where,
}
