"""Open loop: the schedule of send times, which does not wait for replies."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from random import Random
from threading import Lock
from typing import Final

SECOND: Final = 1_000_000_000


def exponential(rate: float, seed: str) -> Iterator[int]:
    """Nanoseconds from each of the requests to the next, of which there are `rate` in a second on the average; the first from the start."""
    random, mean = Random(seed).random, SECOND / rate
    while True:
        yield int(-log(1 - random()) * mean)


class Schedule:
    """The requests of one round, which clients in several threads take as each becomes free."""

    def __init__(self, rate: float, seed: str, start_ns: int, seconds: float) -> None:
        self._gaps = exponential(rate, seed)
        self._due = start_ns + next(self._gaps)
        self._lock = Lock()
        self.deadline = start_ns + int(seconds * SECOND)
        """Nanoseconds of the monotonic clock, as all times here."""
        self._given_up = 0

    def take(self) -> int | None:
        """When the next request is due; None where none is before the deadline."""
        with self._lock:
            due = self._due
            if due >= self.deadline:
                return None
            self._due += next(self._gaps)
            return due

    def give_up(self) -> None:
        """A request that was taken is not sent, since the deadline has passed."""
        with self._lock:
            self._given_up += 1

    def missed_sends(self, now: int) -> int:
        """Requests that were due before now and the deadline and were never sent; asked once, when all clients have ended."""
        with self._lock:
            while self._due < min(now, self.deadline):
                self._given_up += 1
                self._due += next(self._gaps)
            return self._given_up
