"""Latencies as HdrHistograms, in nanoseconds."""

from __future__ import annotations

import copyreg
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Final

from hdrh.histogram import HdrHistogram

LONGEST_NS: Final = 120_000_000_000
"""The longest latency that is recorded as it is; the engine's patience ends a request long before."""
DIGITS: Final = 3


def new_histogram() -> HdrHistogram:
    """An empty histogram from 1 ns to 120 s with three significant digits."""
    return HdrHistogram(1, LONGEST_NS, DIGITS)


def record_all(histogram: HdrHistogram, latencies: array[int]) -> None:
    """Add nanoseconds. Values are first cut to twelve significant bits, finer than the histogram keeps, and counted:
    equal ones are then recorded at once, which takes a third of the time."""
    for value, count in Counter([(value >> (shift := max(value.bit_length() - 12, 0))) << shift for value in latencies]).items():
        histogram.record_value(min(max(value, 1), LONGEST_NS), count)


def merged(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    """All values of these in one histogram."""
    found = new_histogram()
    for each in histograms:
        found.add(each)
    return found


def encode(histogram: HdrHistogram) -> str:
    """HdrHistogram V2, compressed, base64: other tools read it."""
    encoded: bytes = histogram.encode()
    return encoded.decode("ascii")


def decode(text: str) -> HdrHistogram:
    """What `encode` wrote."""
    return HdrHistogram.decode(text.encode("ascii"))


copyreg.pickle(HdrHistogram, lambda histogram: (decode, (encode(histogram),)))  # its own members are of ctypes, and cannot be pickled
