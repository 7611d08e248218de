"""The protocols for records that are lists, sets, rankings and sets of places; `families` says what holds for all protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storeproof.contract.values import Key


@runtime_checkable
class Queue(Protocol):
    """Lists of items (`queue`), whose record is a `list` of bytes. Positions count from 0.

    An absent list is as an empty one. Whether the record is there when its last item was taken is a named alternative.
    """

    def push_back(self, key: Key, item: bytes) -> int:
        """Add at the end, to an absent list too; how many items there are then."""

    def push_front(self, key: Key, item: bytes) -> int:
        """Add at the beginning, to an absent list too; how many items there are then."""

    def pop_front(self, key: Key) -> bytes | None:
        """Take the first item away, atomically: no two clients get the same; None if there is none."""

    def pop_back(self, key: Key) -> bytes | None:
        """Take the last item away, as `pop_front`."""

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        """The items from `start` up to `stop`, without that at `stop`; 0 <= start. What is beyond the end is left out."""

    def list_length(self, key: Key) -> int:
        """How many items there are; 0 where there is no record."""


@runtime_checkable
class Members(Protocol):
    """Sets of text (`members`), whose record is a `set` of str; the whole set is read by `get`.

    An absent set is as an empty one. Whether the record is there when its last member was removed is a named alternative.
    """

    def add_member(self, key: Key, member: str) -> bool:
        """Add to the set, to an absent one too; whether the member is new."""

    def remove_member(self, key: Key, member: str) -> bool:
        """Remove from the set; whether the member was there."""

    def has_member(self, key: Key, member: str) -> bool:
        """Whether the member is there."""

    def member_count(self, key: Key) -> int:
        """How many members there are; 0 where there is no record."""


@runtime_checkable
class Ranking(Protocol):
    """Members with scores (`ranking`), whose record is a `dict` of str to float.

    The order is from the highest score to the lowest; among equal scores from the member that is last by code point to the first:
    it is the order of (score, member), backwards.

    An absent ranking is as an empty one. Whether the record is there when its last member was removed is a named alternative.
    """

    def set_score(self, key: Key, member: str, score: float) -> bool:
        """Give the member this score, in an absent ranking too; whether the member is new."""

    def add_score(self, key: Key, member: str, by: float) -> float:
        """Add to the member's score atomically and answer the sum; an absent member starts from zero."""

    def remove_score(self, key: Key, member: str) -> bool:
        """Remove the member; whether it was there."""

    def score_of(self, key: Key, member: str) -> float | None:
        """The member's score, or None."""

    def rank_of(self, key: Key, member: str) -> int | None:
        """The member's position in the order, 0 for the first; None if it is not there."""

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        """The first `count` members with their scores, in order."""

    def ranking_size(self, key: Key) -> int:
        """How many members there are; 0 where there is no record."""


@runtime_checkable
class Places(Protocol):
    """Members with places on the Earth (`places`), in degrees. Distances are metres on a sphere, whose radius is the store's own choice.

    A store may round a place: it is asked for, and never read back. An absent set is as an empty one. Whether the record is there when its
    last member was removed is a named alternative.
    """

    def add_place(self, key: Key, member: str, longitude: float, latitude: float) -> bool:
        """Give the member this place, in an absent set too; whether the member is new."""

    def remove_place(self, key: Key, member: str) -> bool:
        """Remove the member; whether it was there."""

    def place_count(self, key: Key) -> int:
        """How many members there are; 0 where there is no record."""

    def distance_between(self, key: Key, member: str, other: str) -> float | None:
        """The distance of two members; None if one of them is not there."""

    def nearest(self, key: Key, longitude: float, latitude: float, metres: float, count: int) -> Sequence[str]:
        """The members that are not farther than `metres`, the nearest first, `count` of them at most."""
