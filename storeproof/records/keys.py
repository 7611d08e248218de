"""Keys under load: how key numbers are written, and which key the next request uses."""

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
    """The key of record `number`: `key:000000000042`, hashed `user6284781860667377211`, or the integer 42."""
    return form_of(model).key(number)


@dataclass(frozen=True)
class KeyForm:
    prefix: str
    digits: int
    """Decimal digits, zero-padded; 0: the key is an integer."""
    hashed: bool = False
    """Whether the hash of the number is written instead of it, as in YCSB."""

    def key(self, number: int) -> Key:
        return f"{self.prefix}{self.shown(number):0{self.digits}d}" if self.digits else number

    def shown(self, number: int) -> int:
        """The number written in the key: `number` or its hash."""
        return fnv(number) if self.hashed else number


ORDERED: Final = KeyForm("key:", 12)
HASHED: Final = KeyForm("user", 19, hashed=True)
"""As YCSB (`CoreWorkload.buildKeyName` with `insertorder=hashed` and `zeropadding=19`: no hash has more digits)."""
INTEGER: Final = KeyForm("", 0)


def form_of(model: Model) -> KeyForm:
    """The format of a model's keys."""
    if model.key == "integer":
        return INTEGER
    return HASHED if model.key_order == "hashed" else ORDERED


@lru_cache(maxsize=8)
def greatest(form: KeyForm, known: int) -> Key:
    """The greatest of the keys 0 to known - 1. Hashed keys are all computed, which takes a second for half a million."""
    return max(map(form.key, range(known))) if form.hashed else form.key(known - 1)


class NewKeys:
    """New keys, which no other client and no earlier request has written.

    Key numbers are `first + position * clients + client`: disjoint between clients without coordination, and together almost
    without gaps, like those of an auto-increment column.
    """

    def __init__(
        self, first: int, client: int, clients: int, position: int, random: Random, removed: int = 0, indeterminate: Iterable[int] = ()
    ) -> None:
        self.client = client
        self.clients = clients
        self._first = first + client
        self._random = random.random
        self.position = position
        """Number of new keys taken so far."""
        self.removed = removed
        """Number of new keys, from the first one on, that were removed again or passed over."""
        self.indeterminate = set(indeterminate)
        """Numbers of keys whose write was not acknowledged: they may exist or not."""

    def number(self, position: int) -> int:
        """The number of the new key at a position, from 0."""
        return self._first + position * self.clients

    def draw(self, distinct: float = 1.0) -> Draw:
        """Draws of which the share `distinct` are new keys; the others repeat an earlier new key of this client."""
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
        """Whether a new key is left to remove. Advances past indeterminate keys."""
        while self.removed < self.position and self.number(self.removed) in self.indeterminate:
            self.removed += 1
        return self.removed < self.position

    def oldest(self) -> int:
        """Take the oldest remaining new key, for removal. Call `any_left` first."""
        number = self.number(self.removed)
        self.removed += 1
        return number


def draw_existing(keys: Distribution, known: int, fresh: NewKeys, random: Random) -> Draw:
    """A function that draws preloaded keys, 0 to known - 1. For `latest` and `exponential`, also the client's own new keys.

    Clients do not know each other's new keys, so the newest key is the client's newest.

    Raises:
        ValueError: no records were preloaded.
    """
    if known < 1:
        raise ValueError(NOTHING_LOADED)
    if keys not in ("latest", "exponential"):
        return sequential(known, fresh.client, fresh.clients) if keys == "sequential" else make_draw(keys, known, random)
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
