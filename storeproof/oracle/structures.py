"""The oracle for operations on lists, sets, rankings and geospatial sets.

Removing the last item is `UNDEFINED`: the specification (`structures`) has named alternatives for whether the empty record still exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from storeproof.contract.values import Key
from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.place import distance
from storeproof.spec.place import is_place


def _items(state: State, key: Key) -> list[bytes]:
    record = state.get(key, [])
    assert isinstance(record, list)
    return record


def _push_back(state: State, key: Key, item: bytes) -> tuple[Any, State]:
    items = [*_items(state, key), item]
    return len(items), {**state, key: items}


def _push_front(state: State, key: Key, item: bytes) -> tuple[Any, State]:
    items = [item, *_items(state, key)]
    return len(items), {**state, key: items}


def _pop(state: State, key: Key, position: int) -> tuple[Any, State]:
    items = list(_items(state, key))
    if not items:
        return None, state
    item = items.pop(position)
    return (item, {**state, key: items}) if items else (UNDEFINED, state)


def _list_range(state: State, key: Key, start: int, stop: int) -> tuple[Any, State]:
    return _items(state, key)[start : max(start, stop)], state


def _members(state: State, key: Key) -> set[str]:
    record = state.get(key, set())
    assert isinstance(record, set)
    return record


def _add_member(state: State, key: Key, member: str) -> tuple[Any, State]:
    members = _members(state, key)
    return member not in members, {**state, key: members | {member}}


def _remove_member(state: State, key: Key, member: str) -> tuple[Any, State]:
    members = _members(state, key)
    if member not in members:
        return False, state
    return (True, {**state, key: members - {member}}) if len(members) > 1 else (UNDEFINED, state)


def _scores(state: State, key: Key) -> dict[str, float]:
    record = state.get(key, {})
    assert isinstance(record, dict)
    return record  # type: ignore[return-value]


def _set_score(state: State, key: Key, member: str, score: float) -> tuple[Any, State]:
    scores = _scores(state, key)
    return member not in scores, {**state, key: {**scores, member: score}}


def _add_score(state: State, key: Key, member: str, by: float) -> tuple[Any, State]:
    scores = _scores(state, key)
    score = scores.get(member, 0.0)
    total = score + by
    exact = math.isfinite(total) and Fraction(total) == Fraction(score) + Fraction(
        by
    )  # else stores that compute in decimal round differently
    return (total, {**state, key: {**scores, member: total}}) if exact else (UNDEFINED, state)


def _remove_named(state: State, key: Key, member: str) -> tuple[Any, State]:
    scores = _scores(state, key)
    if member not in scores:
        return False, state
    rest = {other: score for other, score in scores.items() if other != member}
    return (True, {**state, key: rest}) if rest else (UNDEFINED, state)


def _places(state: State, key: Key) -> dict[str, tuple[float, float]]:
    record = state.get(key, {})
    assert isinstance(record, dict)
    return record  # type: ignore[return-value]


def _add_place(state: State, key: Key, member: str, longitude: float, latitude: float) -> tuple[Any, State]:
    places = _places(state, key)
    if not is_place((longitude, latitude)):
        return REFUSAL, state
    return member not in places, {**state, key: {**places, member: (longitude, latitude)}}  # type: ignore[dict-item]


def _distance_between(state: State, key: Key, member: str, other: str) -> tuple[Any, State]:
    places = _places(state, key)
    return (distance(places[member], places[other]) if {member, other} <= places.keys() else None), state


def _nearest(state: State, key: Key, longitude: float, latitude: float, metres: float, count: int) -> tuple[Any, State]:
    far = sorted((distance(place, (longitude, latitude)), member) for member, place in _places(state, key).items())
    return [member for metre, member in far if metre <= metres][:count], state


def _in_order(state: State, key: Key) -> list[tuple[str, float]]:
    return sorted(_scores(state, key).items(), key=lambda entry: (entry[1], entry[0]), reverse=True)


def _rank_of(state: State, key: Key, member: str) -> tuple[Any, State]:
    return next((rank for rank, (other, _) in enumerate(_in_order(state, key)) if other == member), None), state


STRUCTURES: dict[str, Callable[..., tuple[Any, State]]] = {
    "push_back": _push_back,
    "push_front": _push_front,
    "pop_front": lambda state, key: _pop(state, key, 0),
    "pop_back": lambda state, key: _pop(state, key, -1),
    "list_range": _list_range,
    "list_length": lambda state, key: (len(_items(state, key)), state),
    "add_member": _add_member,
    "remove_member": _remove_member,
    "has_member": lambda state, key, member: (member in _members(state, key), state),
    "member_count": lambda state, key: (len(_members(state, key)), state),
    "set_score": _set_score,
    "add_score": _add_score,
    "remove_score": _remove_named,
    "score_of": lambda state, key, member: (_scores(state, key).get(member), state),
    "rank_of": _rank_of,
    "top": lambda state, key, count: (_in_order(state, key)[:count], state),
    "ranking_size": lambda state, key: (len(_scores(state, key)), state),
    "add_place": _add_place,
    "remove_place": _remove_named,
    "place_count": lambda state, key: (len(_places(state, key)), state),
    "distance_between": _distance_between,
    "nearest": _nearest,
}
"""For each operation: (state, key, arguments) -> the correct answer and the state afterwards."""
