"""The protocols for records that are lists, sets, rankings and sets of places; see `families` for the rules of all protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key


@runtime_checkable
class Queue(Protocol):
    """Lists of items (`queue`), whose record is a `list` of bytes. Positions count from 0.

    An absent list is like an empty one. Whether the record exists after its last item was removed is a named alternative.
    """

    def push_back(self, key: Key, item: bytes) -> int:
        """Append an item; an absent list is created. Returns the new length."""

    def push_front(self, key: Key, item: bytes) -> int:
        """Insert an item at the front; an absent list is created. Returns the new length."""

    def pop_front(self, key: Key) -> bytes | None:
        """Remove and return the first item, atomically: no two clients get the same one; None if there is none."""

    def pop_back(self, key: Key) -> bytes | None:
        """Remove and return the last item, as `pop_front`."""

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        """The items from `start` up to but not including `stop`; 0 <= start. Positions beyond the end are ignored."""

    def list_length(self, key: Key) -> int:
        """The number of items; 0 if there is no record."""


@runtime_checkable
class Members(Protocol):
    """Sets of text (`members`), whose record is a `set` of str; the whole set is read by `get`.

    An absent set is like an empty one. Whether the record exists after its last member was removed is a named alternative.
    """

    def add_member(self, key: Key, member: str) -> bool:
        """Add a member; an absent set is created. Returns whether the member is new."""

    def remove_member(self, key: Key, member: str) -> bool:
        """Remove a member; returns whether it existed."""

    def has_member(self, key: Key, member: str) -> bool:
        """Whether the set has the member."""

    def member_count(self, key: Key) -> int:
        """The number of members; 0 if there is no record."""


@runtime_checkable
class Ranking(Protocol):
    """Members with scores (`ranking`), whose record is a `dict` of str to float.

    The order is that of (score, member), descending: from the highest score to the lowest, and among equal scores by code point from the
    last member to the first.

    An absent ranking is like an empty one. Whether the record exists after its last member was removed is a named alternative.
    """

    def set_score(self, key: Key, member: str, score: float) -> bool:
        """Set the member's score; an absent ranking is created. Returns whether the member is new."""

    def add_score(self, key: Key, member: str, by: float) -> float:
        """Add to the member's score atomically and return the sum; an absent member starts at zero."""

    def remove_score(self, key: Key, member: str) -> bool:
        """Remove the member; returns whether it existed."""

    def score_of(self, key: Key, member: str) -> float | None:
        """The member's score, or None."""

    def rank_of(self, key: Key, member: str) -> int | None:
        """The member's position in the order, 0 for the first; None if it does not exist."""

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        """The first `count` members with their scores, in order."""

    def ranking_size(self, key: Key) -> int:
        """The number of members; 0 if there is no record."""


@runtime_checkable
class Places(Protocol):
    """Members with positions on the Earth (`places`), in degrees. Distances are metres on a sphere, whose radius the store chooses.

    A store may round a position, so positions are queried and never read back. An absent set is like an empty one. Whether the record
    exists after its last member was removed is a named alternative.
    """

    def add_place(self, key: Key, member: str, longitude: float, latitude: float) -> bool:
        """Set the member's position; an absent set is created. Returns whether the member is new."""

    def remove_place(self, key: Key, member: str) -> bool:
        """Remove the member; returns whether it existed."""

    def place_count(self, key: Key) -> int:
        """The number of members; 0 if there is no record."""

    def distance_between(self, key: Key, member: str, other: str) -> float | None:
        """The distance between two members; None if one of them does not exist."""

    def nearest(self, key: Key, longitude: float, latitude: float, metres: float, count: int) -> Sequence[str]:
        """The members within `metres`, nearest first, at most `count`."""
