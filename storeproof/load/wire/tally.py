"""What a pump counts while it runs, in a memory that does not grow with the requests."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from storeproof.load.wire import request
from storeproof.stats.latency import LONGEST_NS, encode, new_histogram

_FOLD: Final = 512
"""Times that are folded into the counts at once: a tenth of a millisecond of work."""
_BITS: Final = 12
"""Significant bits that are kept of a time: finer than three decimal digits."""


class Times:
    """Nanoseconds, counted."""

    def __init__(self) -> None:
        self._new: array[int] = array("q")
        self._counts: Counter[int] = Counter()

    def add(self, nanoseconds: int) -> None:
        """One time."""
        new = self._new
        new.append(nanoseconds)
        if len(new) >= _FOLD:
            self._fold()

    def _fold(self) -> None:
        self._counts.update([(time >> (shift := max(time.bit_length() - _BITS, 0))) << shift for time in self._new])
        del self._new[:]

    def __len__(self) -> int:
        return self._counts.total() + len(self._new)

    def encoded(self) -> str:
        """As a histogram, which `storeproof.stats.latency.decode` reads."""
        self._fold()
        histogram = new_histogram()
        for time, count in self._counts.items():
            histogram.record_value(min(max(time, 1), LONGEST_NS), count)
        return encode(histogram)


class Count:
    """Of one operation, while the pump runs."""

    def __init__(self, op: request.Op) -> None:
        self.name = op.name
        self.ok = self.misses = self.errors = self.malformed = self.busy_ns = 0
        self.service = Times()
        self.response = Times()

    def told(self, open_loop: bool) -> Tally:
        """At the end."""
        return Tally(
            self.ok,
            self.misses,
            self.errors,
            self.malformed,
            len(self.service),
            self.busy_ns,
            self.service.encoded(),
            self.response.encoded() if open_loop else "",
        )


class Series:
    """Second by second: records, errors, and the longest request."""

    def __init__(self, counts: list[Count]) -> None:
        self._counts = counts
        self._told = (0, 0)
        self.seconds: list[tuple[int, int, int]] = []
        self.slowest = 0
        """Nanoseconds, of the requests that were answered in the second that is under way."""

    def close(self, seconds: int) -> None:
        """So many seconds are over."""
        while len(self.seconds) < seconds:
            ok = sum(count.ok for count in self._counts)
            errors = sum(count.errors + count.malformed for count in self._counts)
            self.seconds.append((ok - self._told[0], errors - self._told[1], self.slowest // 1000))
            self._told, self.slowest = (ok, errors), 0


@dataclass(frozen=True)
class Tally:
    """What became of one operation, as `storeproof.load.wire.request` says."""

    ok: int
    misses: int
    errors: int
    malformed: int
    requests: int
    busy_ns: int
    service: str
    response: str


@dataclass(frozen=True)
class Measured:
    """What one job found, as `storeproof.load.wire.request` says."""

    ops: list[request.Tally]
    throughput: float
    request_rate: float
    busy_seconds: float
    pause_seconds: float
    cpu_seconds: float
    elapsed_seconds: float
    threads: int
    positions: list[int]
    removed: list[int]
    doubtful: list[int]
    samples: list[str]
    broken: list[int]
    silent: list[int]
    seconds: list[tuple[int, int, int]]
    lag: str
    unissued: int
    bytes_sent: int
    bytes_received: int
    log: bytes = field(repr=False)
