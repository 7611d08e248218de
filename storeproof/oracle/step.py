"""The oracle for single operations on one collection, as the contract defines them."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, Final

from storeproof.contract.values import MISSING, Key, Path, Record
from storeproof.oracle import query
from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.equality import same, same_lenient
from storeproof.oracle.structures import STRUCTURES
from storeproof.spec.query import Where

_WHOLE_NUMBER: Final = re.compile(rb"0|-?[1-9][0-9]*")
"""Decimal integers as every store writes them. Stores differ on others, such as `007` and `+7`: some accept them, some refuse."""


def step(state: State, operation: str, args: tuple[Any, ...]) -> tuple[Any, State]:
    """The correct answer, and the state afterwards. `state` is not modified."""
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


def _insert_many(state: State, records: Mapping[Key, Record]) -> tuple[Any, State]:
    there = records.keys() & state.keys()
    if not there:
        return True, _put_many(state, records)[1]
    # Where only some of the keys are there, stores differ on the others: named alternatives of key_access.multi-insert/003.
    return (False if len(there) == len(records) else UNDEFINED), state


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
        return UNDEFINED, state  # stores may keep or delete an empty hash: named alternatives of fields.delete-field/003
    return True, {**state, key: rest}


def _get_fields(state: State, key: Key, fields: Sequence[str]) -> tuple[Any, State]:
    return [_hash(state, key).get(field) for field in fields], state


def _set_fields(state: State, key: Key, values: Mapping[str, bytes]) -> tuple[Any, State]:
    return None, ({**state, key: {**_hash(state, key), **values}} if values else state)


def _hash(state: State, key: Key) -> dict[str, bytes]:
    record = state.get(key, {})
    assert isinstance(record, dict)
    return record  # type: ignore[return-value]


def _walk(node: Any, path: Path) -> Any:
    """The value at the path, or `MISSING`; `UNDEFINED` if a name is applied to a list or a position to an object."""
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
    # For a position beyond the end some stores pad the list; a name on a list is an error in some stores and ignored by others.
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


def _get_paths(state: State, key: Key, paths: Sequence[Path]) -> tuple[Any, State]:
    found = [_get_path(state, key, path)[0] for path in paths]
    return (UNDEFINED if UNDEFINED in found else found), state


def _set_paths(state: State, key: Key, values: Mapping[Path, Any]) -> tuple[Any, State]:
    """All or nothing. Where one path leads into the value of another, some stores refuse, others set both in their order."""
    if key not in state:
        return False, state
    if any(one == other[: len(one)] for one, other in permutations(values, 2)):
        return UNDEFINED, state
    answers, after = [], state
    for path, value in values.items():
        answer, after = _set_path(after, key, path, value)
        answers.append(answer)
    worst = next((bad for bad in (UNDEFINED, REFUSAL) if bad in answers), None)
    return (True, after) if worst is None else (worst, state)


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63  # beyond 64 bits stores refuse, wrap around or continue in floating point


def _increment(state: State, key: Key, by: int) -> tuple[Any, State]:
    number = state.get(key, 0)
    assert isinstance(number, int)
    return (number + by, {**state, key: number + by}) if _fits(number + by) else (UNDEFINED, state)


def _increment_field(state: State, key: Key, field: str, by: int) -> tuple[Any, State]:
    value = _hash(state, key).get(field, b"0")
    if not _WHOLE_NUMBER.fullmatch(value):
        return (UNDEFINED if any(48 <= byte <= 57 for byte in value) else REFUSAL), state
    total = int(value) + by
    if not (_fits(int(value)) and _fits(total)):
        return UNDEFINED, state
    return total, _set_field(state, key, field, b"%d" % total)[1]


def _increment_path(state: State, key: Key, path: Path, by: int | float) -> tuple[Any, State]:
    if key not in state:
        return None, state
    there = _walk(state[key], path)
    if there is not MISSING and there is not UNDEFINED and type(there) not in (int, float):
        return REFUSAL, state
    number = 0 if there is MISSING else there
    total = UNDEFINED if number is UNDEFINED else _sum(number, by)
    done, after = _set_path(state, key, path, total)
    return (total, after) if done is True and total is not UNDEFINED else (UNDEFINED if done is True else done, state)


def _sum(number: int | float, by: int | float) -> Any:
    """The sum; `UNDEFINED` beyond 64 bits, or if it is not exact in a double: stores that compute in decimal round differently."""
    total = number + by
    if isinstance(total, int):
        return total if _fits(total) else UNDEFINED
    return total if math.isfinite(total) and Fraction(total) == Fraction(number) + Fraction(by) else UNDEFINED


def _changed_list(state: State, key: Key, path: Path, change: Callable[[list[Any]], Any]) -> tuple[Any, State]:
    """Apply `change` to the list at the path, in a copy of the record. `change` works in place, or returns `UNDEFINED`."""
    if key not in state:
        return False, state
    there = _walk(state[key], path)
    if not isinstance(there, list):
        return (UNDEFINED if there in (MISSING, UNDEFINED) else REFUSAL), state
    record: Any = copy.deepcopy(state[key])
    if change(_walk(record, path)) is UNDEFINED:
        return UNDEFINED, state
    return True, {**state, key: record}


def _push_item(state: State, key: Key, path: Path, value: Any) -> tuple[Any, State]:
    return _changed_list(state, key, path, lambda items: items.append(copy.deepcopy(value)))


def _insert_item(state: State, key: Key, path: Path, value: Any) -> tuple[Any, State]:
    position: Any = path[-1]

    def change(items: list[Any]) -> Any:
        return items.insert(position, copy.deepcopy(value)) if position <= len(items) else UNDEFINED

    return _changed_list(state, key, path[:-1], change)


def _pull_item(state: State, key: Key, path: Path, value: Any) -> tuple[Any, State]:
    def change(items: list[Any]) -> Any:
        if _unclear(items, value):
            return UNDEFINED
        items[:] = [item for item in items if not same_lenient(item, value)]
        return None

    return _changed_list(state, key, path, change)


def _add_to_set(state: State, key: Key, path: Path, value: Any) -> tuple[Any, State]:
    def change(items: list[Any]) -> Any:
        if _unclear(items, value):
            return UNDEFINED
        return None if any(same_lenient(item, value) for item in items) else items.append(copy.deepcopy(value))

    return _changed_list(state, key, path, change)


def _unclear(items: list[Any], value: Any) -> bool:
    """Whether stores differ on the equality of an item and the value: 1 and 1.0, or objects whose fields are in another order."""
    return any(same_lenient(item, value) and repr(item) != repr(value) for item in items)


def _item_count(state: State, key: Key, path: Path) -> tuple[Any, State]:
    there = _walk(state[key], path) if key in state else MISSING
    return (there if there is UNDEFINED else len(there) if isinstance(there, list) else MISSING), state


def _get_and_set(state: State, key: Key, record: Record) -> tuple[Any, State]:
    return state.get(key), _put(state, key, record)[1]


def _append(state: State, key: Key, value: bytes) -> tuple[Any, State]:
    record = state.get(key, b"")
    assert isinstance(record, bytes)
    return None, {**state, key: record + value}


def _put_if_absent(state: State, key: Key, record: Record) -> tuple[Any, State]:
    return (False, state) if key in state else (True, _put(state, key, record)[1])


def _compare_and_set(state: State, key: Key, expected: Record, record: Record) -> tuple[Any, State]:
    if key not in state or state[key] != expected:
        return False, state
    if not same(state[key], expected):
        return UNDEFINED, state  # equal in Python only, such as 1 and 1.0: depends on how a store keeps numbers
    return True, _put(state, key, record)[1]


def _scan(state: State, start: Key | None, count: int, backwards: bool) -> tuple[Any, State]:
    keys = sorted(state, reverse=backwards)
    if start is not None:
        keys = [key for key in keys if (key <= start if backwards else key >= start)]  # type: ignore[operator]
    return [(key, state[key]) for key in keys[:count]], state


def _scan_prefix(state: State, prefix: str, count: int) -> tuple[Any, State]:
    keys = sorted(key for key in state if isinstance(key, str) and key.startswith(prefix))
    return [(key, state[key]) for key in keys[:count]], state


def _answering(answer: Callable[..., Any]) -> Callable[..., tuple[Any, State]]:
    return lambda state, *request: (answer(state, *request), state)


def _update_where(state: State, where: Where, path: Path, value: Any) -> tuple[Any, State]:
    matching = [key for key, record in state.items() if query.holds(where.filter, record)]
    for key in matching:
        done, state = _set_path(state, key, path, value)
        if done is not True:
            return UNDEFINED, state  # a record that cannot be changed: some stores then refuse the whole update, some change the others
    return len(matching), state


def _delete_where(state: State, where: Where) -> tuple[Any, State]:
    kept = {key: record for key, record in state.items() if not query.holds(where.filter, record)}
    return len(state) - len(kept), kept


def _transfer(state: State, source: Key, target: Key, amount: int) -> tuple[Any, State]:
    have = state.get(source, 0)
    assert isinstance(have, int)
    if have < amount:
        return False, state
    taken = {**state, source: have - amount}
    return True, _increment(taken, target, amount)[1]


_STEPS: dict[str, Callable[..., tuple[Any, State]]] = {
    "get": _get,
    "put": _put,
    "delete": _delete,
    "exists": _exists,
    "count": _count,
    "get_many": _get_many,
    "put_many": _put_many,
    "insert_many": _insert_many,
    "get_field": _get_field,
    "set_field": _set_field,
    "delete_field": _delete_field,
    "get_fields": _get_fields,
    "set_fields": _set_fields,
    "get_path": _get_path,
    "set_path": _set_path,
    "unset_path": _unset_path,
    "get_paths": _get_paths,
    "set_paths": _set_paths,
    "increment": _increment,
    "put_if_absent": _put_if_absent,
    "compare_and_set": _compare_and_set,
    "scan": _scan,
    "find": _answering(query.find),
    "count_where": _answering(query.count_where),
    "aggregate": _answering(query.aggregate),
    "browse": _answering(query.browse),
    "find_joined": _answering(query.find_joined),
    "transfer": _transfer,
    "update_where": _update_where,
    "delete_where": _delete_where,
    "get_and_set": _get_and_set,
    "append": _append,
    "increment_field": _increment_field,
    "increment_path": _increment_path,
    "push_item": _push_item,
    "insert_item": _insert_item,
    "pull_item": _pull_item,
    "add_to_set": _add_to_set,
    "item_count": _item_count,
    "scan_prefix": _scan_prefix,
    **STRUCTURES,
}
