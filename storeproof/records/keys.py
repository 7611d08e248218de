"""Which key the next request is about. Keys are numbers, written as the model's keys are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final

from storeproof.contract.values import Key
from storeproof.records.distributions import NOTHING_LOADED, Draw, Newest, fnv, make_draw, sequential
from storeproof.spec.model import Model
from storeproof.spec.workload import Distribution


def key_of(model: Model, number: int) -> Key:
    """The key with a number: `key:000000000042`, `user6284781860667377211` where keys are hashed, or 42."""
    return form_of(model).key(number)


@dataclass(frozen=True)
class KeyForm:
    """How keys are written."""

    prefix: str
    digits: int
    """Decimals, with zeros before them; 0: the key is an integer."""
    hashed: bool = False
    """Whether it is the number's hash that is written, as YCSB does."""

    def key(self, number: int) -> Key:
        """The key with a number."""
        return f"{self.prefix}{self.shown(number):0{self.digits}d}" if self.digits else number

    def shown(self, number: int) -> int:
        """The number that the key has in it."""
        return fnv(number) if self.hashed else number


ORDERED: Final = KeyForm("key:", 12)
HASHED: Final = KeyForm("user", 19, hashed=True)
"""YCSB's (`CoreWorkload.buildKeyName` with `insertorder=hashed`), with its property `zeropadding=19`: no hash has more digits."""
INTEGER: Final = KeyForm("", 0)


def form_of(model: Model) -> KeyForm:
    """How a model's keys are written."""
    if model.key == "integer":
        return INTEGER
    return HASHED if model.key_order == "hashed" else ORDERED


@lru_cache(maxsize=8)
def greatest(form: KeyForm, known: int) -> Key:
    """The last of the keys 0 to known - 1 in the order of keys. Those that are hashed are all looked at: a second for half a million."""
    return max(map(form.key, range(known))) if form.hashed else form.key(known - 1)


class NewKeys:
    """Keys that no other client and no earlier request wrote.

    Clients take turns, `first + position * clients + client`: the ranges are disjoint without any word between
    the clients, and together they grow without gaps, as an auto-increment column does.
    """

    def __init__(
        self, first: int, client: int, clients: int, position: int, random: Random, removed: int = 0, indeterminate: Iterable[int] = ()
    ) -> None:
        self.client = client
        self.clients = clients
        self._first = first + client
        self._random = random.random
        self.position = position
        """New keys taken so far."""
        self.removed = removed
        """How many of them, the first ones, are to be there no more."""
        self.indeterminate = set(indeterminate)
        """Numbers of keys whose write was not acknowledged: they may be there or not."""

    def number(self, position: int) -> int:
        """Of the new key at a position, from 0 on."""
        return self._first + position * self.clients

    def draw(self, distinct: float = 1.0) -> Draw:
        """New keys for this share of the draws; the others take an earlier one of the same client."""
        first, clients, random = self._first, self.clients, self._random

        def new() -> int:
            number = first + self.position * clients
            self.position += 1
            return number

        def new_or_earlier() -> int:
            if self.position and random() >= distinct:
                return first + int(random() * self.position) * clients
            return new()

        return new if distinct == 1 else new_or_earlier

    @property
    def any_left(self) -> bool:
        """Whether there is a new key that was not removed; those that are not sure to be there are passed over."""
        while self.removed < self.position and self.number(self.removed) in self.indeterminate:
            self.removed += 1
        return self.removed < self.position

    def oldest(self) -> int:
        """The first new key that is there, to be removed. Ask `any_left` before."""
        number = self.number(self.removed)
        self.removed += 1
        return number


def draw_existing(keys: Distribution, known: int, fresh: NewKeys, random: Random) -> Draw:
    """Keys of the loaded records 0 to known - 1, and where they lean to what is newest, the client's own new ones too.

    Clients know nothing of each other's new keys: the newest of all is here the newest of the client.

    Raises:
        ValueError: nothing was loaded.
    """
    if keys not in ("latest", "exponential"):
        return sequential(known, fresh.client, fresh.clients) if keys == "sequential" else make_draw(keys, known, random)
    if known < 1:
        raise ValueError(NOTHING_LOADED)
    newest = Newest(keys, known, random)

    def recent() -> int:
        while True:
            own = fresh.position - fresh.removed
            back = newest.draw(known + own)
            if back >= own:
                return known - 1 - (back - own)
            if (number := fresh.number(fresh.position - 1 - back)) not in fresh.indeterminate:
                return number

    return recent
