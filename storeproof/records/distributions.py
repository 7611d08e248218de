"""Random draws of existing keys: YCSB's request distributions, and an exact Zipf distribution.

Names and constants are those of YCSB's `requestdistribution` and its generators (https://github.com/brianfrankcooper/YCSB,
`core/.../generator/`). A draw is the number of a key, from 0. Draws beyond the last key are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log
from random import Random
from typing import Final, Literal

from storeproof.spec.workload import Distribution

Draw = Callable[[], int]
"""Returns the number of the next key."""

NOTHING_LOADED: Final = "keys are drawn from loaded records, and none were loaded"
THETA: Final = 0.99
"""Zipf's constant (`ZipfianGenerator.ZIPFIAN_CONSTANT`)."""
ITEMS: Final = 10_000_000_000
"""Number of items from which `zipfian` draws before hashing (`ScrambledZipfianGenerator.ITEM_COUNT`)."""
ZETA: Final = 26.46902820178302
"""Sum of 1 / k^0.99 for k from 1 to `ITEMS` (`ScrambledZipfianGenerator.ZETAN`)."""
HOT_KEYS: Final = 0.2
"""Size of the hot set, as a share of the keys (`hotspotdatafraction`)."""
HOT_REQUESTS: Final = 0.8
"""Share of the requests that go to the hot set (`hotspotopnfraction`)."""
EXPONENTIAL_PERCENTILE: Final = 95.0
"""Per cent of the requests that fall on the newest `EXPONENTIAL_SHARE` of the keys (`exponential.percentile`)."""
EXPONENTIAL_SHARE: Final = 0.8571428571
"""Share of the keys that gets `EXPONENTIAL_PERCENTILE` of the requests (`exponential.frac`)."""

_BASIS: Final = 0xCBF29CE484222325
_PRIME: Final = 1099511628211
_BITS: Final = 0xFFFFFFFFFFFFFFFF
_NULLS: Final = tuple(pow(_PRIME, count, 1 << 64) for count in range(9))


def fnv(number: int) -> int:
    """YCSB's `Utils.fnvhash64` of a number below 2^64: a hash of its eight bytes, lowest first. As in Java, the absolute value of a
    signed 64-bit integer.

    It is FNV-1a (xor, then multiply) with the 64-bit constants of http://www.isthe.com/chongo/tech/comp/fnv/, although a comment in
    YCSB says FNV-1.
    """
    hashed, left = _BASIS, 8
    while number:
        hashed = ((hashed ^ (number & 0xFF)) * _PRIME) & _BITS
        number >>= 8
        left -= 1
    hashed = (hashed * _NULLS[left]) & _BITS  # for a zero byte, FNV-1a only multiplies
    return hashed if hashed < 1 << 63 else (1 << 64) - hashed


@cache
def zeta(items: int, theta: float) -> float:
    """Sum of 1 / k^theta for k from 1 to `items`, to 13 digits: 1,000 terms, and the rest by the Euler-Maclaurin formula."""
    head = min(items, 1000)
    total: float = sum(k**-theta for k in range(1, head + 1))
    if items > head:
        a, b = float(head), float(items)
        whole = log(b / a) if theta == 1 else (b ** (1 - theta) - a ** (1 - theta)) / (1 - theta)
        total += whole + (b**-theta - a**-theta) / 2 - theta * (b ** (-theta - 1) - a ** (-theta - 1)) / 12
    return total


class Zipf:
    """An exact Zipf distribution: ranks from 0, rank k with a probability proportional to 1 / (k + 1)^theta.

    By rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996).
    """

    def __init__(self, items: int, random: Random, theta: float = THETA) -> None:
        """`theta`: positive and not 1. Raises `ValueError`: `theta` is outside this range, or there are no items."""
        if theta <= 0 or theta == 1 or items < 1:
            raise ValueError(f"Zipf's constant is above 0 and not 1, of at least one item; found {theta} of {items}")
        self._random = random.random
        self._exponent = 1 - theta
        self._theta = theta
        self._first = self._integral(1.5) - 1
        self._near = 2 - self._inverse(self._integral(2.5) - 2**-theta)
        self._items = items
        self._last = self._integral(items + 0.5)

    def draw(self) -> int:
        exponent, last, near = self._exponent, self._last, self._near
        reach, scale = self._first - last, 1 / exponent
        while True:
            area = last + self._random() * reach
            place = (1 + area * exponent) ** scale
            rank = min(max(int(place + 0.5), 1), self._items)
            if rank - place <= near or area >= self._integral(rank + 0.5) - rank**-self._theta:
                return rank - 1

    def _integral(self, place: float) -> float:
        """An antiderivative of x^-theta."""
        return float((place**self._exponent - 1) / self._exponent)

    def _inverse(self, area: float) -> float:
        return float((1 + area * self._exponent) ** (1 / self._exponent))


class Gray:
    """YCSB's `ZipfianGenerator`: a Zipf distribution, exact for the first two ranks, approximate for the others; fast for many items.

    From Gray et al., "Quickly generating billion-record synthetic databases", 1994.
    """

    def __init__(self, items: int, random: Random, theta: float = THETA, total: float | None = None) -> None:
        """`theta`: between 0 and 1. `total`: the sum of the weights, if known; otherwise it is computed.
        Raises `ValueError`: `theta` is outside this range, or there are no items."""
        if not 0 < theta < 1 or items < 1:
            raise ValueError(f"Zipf's constant is between 0 and 1, of at least one item; found {theta} of {items}")
        self._random = random.random
        self._theta = theta
        self._second = 1 + 0.5**theta
        self._total = zeta(items, theta) if total is None else total
        self._set(items)

    def grow(self, items: int) -> None:
        """Increase the number of ranks to `items`; a smaller number has no effect."""
        if items > self.items:
            self._total += sum(rank**-self._theta for rank in range(self.items + 1, items + 1))
            self._set(items)

    def _set(self, items: int) -> None:
        self.items = items
        exponent = 1 - self._theta
        # For one or two items both parts of the fraction are 0; they have no third rank, so that eta is not used.
        self._eta = (1 - (2 / items) ** exponent) / (1 - self._second / self._total) if items > 2 else 1.0
        self._power = 1 / exponent

    def draw(self) -> int:
        even = self._random()
        mass = even * self._total
        if mass < 1:
            return 0
        if mass < self._second:
            return 1
        rank = int(self.items * (self._eta * (even - 1) + 1) ** self._power)
        return rank if rank < self.items else self.items - 1


def scrambled(known: int, random: Random, theta: float = THETA) -> Draw:
    """`zipfian`, as YCSB's `ScrambledZipfianGenerator`, whose range 0 to `ITEMS` includes both ends."""
    ranks = Gray(ITEMS + 1, random, theta, ZETA if theta == THETA else None).draw
    return lambda: fnv(ranks()) % known


def hotspot(known: int, random: Random) -> Draw:
    """`hotspot`, as YCSB's `HotspotIntegerGenerator`, with at least one key in the hot set."""
    hot = max(int(known * HOT_KEYS), 1)
    cold, draw = known - hot, random.random
    return lambda: int(draw() * hot) if draw() < HOT_REQUESTS or not cold else hot + int(draw() * cold)


def sequential(known: int, first: int = 0, step: int = 1) -> Draw:
    """`sequential`, as YCSB's `SequentialGenerator`. Of n clients, client i uses `first` = i and `step` = n."""
    number = first - step

    def next_key() -> int:
        nonlocal number
        number += step
        return number % known

    return next_key


class Newest:
    """Draws for `latest` and `exponential`: distances back from the newest key."""

    def __init__(self, keys: Literal["latest", "exponential"], known: int, random: Random, theta: float = THETA) -> None:
        """`known`: the number of preloaded keys. As in YCSB, the mean of `exponential` is proportional to it, and ignores later inserts."""
        self._random = random.random
        self._ranks = Gray(known, random, theta) if keys == "latest" else None
        self._mean = known * EXPONENTIAL_SHARE / -log(1 - EXPONENTIAL_PERCENTILE / 100)

    def draw(self, items: int) -> int:
        """A distance from 0 to items - 1; 0 is the newest key."""
        if (ranks := self._ranks) is not None:
            ranks.grow(items)
            return ranks.draw()
        while (back := int(-log(1 - self._random()) * self._mean)) >= items:
            pass
        return back


def make_draw(keys: Distribution, known: int, random: Random, theta: float = THETA) -> Draw:
    """A function that draws from the keys 0 to known - 1, of which the last is the newest. Raises `ValueError`: there are no keys."""
    if known < 1:
        raise ValueError(NOTHING_LOADED)
    draw = random.random
    match keys:
        case "uniform":
            return lambda: int(draw() * known)
        case "zipf":
            return Zipf(known, random, theta).draw
        case "zipfian":
            return scrambled(known, random, theta)
        case "latest" | "exponential":
            newest = Newest(keys, known, random, theta)
            return lambda: known - 1 - newest.draw(known)
        case "sequential":
            return sequential(known)
        case "hotspot":
            return hotspot(known, random)


def draw(keys: Distribution, known: int, count: int, seed: int, theta: float = THETA) -> list[int]:
    """`count` draws: the reference for `storeproof.native.draw`, which is tested against the same properties."""
    next_key = make_draw(keys, known, Random(seed), theta)
    return [next_key() for _ in range(count)]
