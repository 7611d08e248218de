"""Latencies as HdrHistograms, in nanoseconds; and percentiles of a few values, by the nearest rank: with a few hundred response times the
99th is one of the longest, and no estimate."""

from __future__ import annotations

import copyreg
import struct
import zlib
from array import array
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Sequence
from ctypes import addressof, sizeof
from math import ceil
from typing import Final

import pyhdrh
from hdrh.codec import HdrHistogramEncoder, payload_header_size
from hdrh.histogram import HdrHistogram

LONGEST_NS: Final = 120_000_000_000
"""The longest latency that is recorded as it is; the engine's patience ends a request long before."""
DIGITS: Final = 3

_COOKIE: Final = 8
"""Bytes before what is compressed."""
_SHAPE: Final = struct.Struct(">12xIQQ")
"""The shape of an unpacked histogram: digits, lowest and highest value, after three other numbers."""
_LARGEST: Final = 1 << 18
"""Bytes, unpacked: one with a count in every bucket has fewer."""


def new_histogram() -> HdrHistogram:
    """An empty histogram from 1 ns to 120 s with three significant digits."""
    return HdrHistogram(1, LONGEST_NS, DIGITS)


_BUCKETS: Final = new_histogram()
"""Written by each `check`, and read by none."""


def record_all(histogram: HdrHistogram, latencies: array[int]) -> None:
    """Add nanoseconds. Values are first cut to twelve significant bits, finer than the histogram keeps, and counted:
    equal ones are then recorded at once, which takes a third of the time."""
    for value, count in Counter([(value >> (shift := max(value.bit_length() - 12, 0))) << shift for value in latencies]).items():
        histogram.record_value(min(max(value, 1), LONGEST_NS), count)


def merged(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    found = new_histogram()
    for each in histograms:
        found.add(each)
    return found


def mean(histogram: HdrHistogram) -> float:
    """Nanoseconds; 0 of an empty histogram. As `get_mean_value` of the library, which walks through every bucket in Python and takes ten
    times as long."""
    if not histogram.get_total_count():
        return 0.0
    total = 0
    for index, count in enumerate(histogram.counts):
        if count:
            lowest = histogram.get_value_from_index(index)
            total += count * (lowest + ((histogram.get_highest_equivalent_value(lowest) + 1 - lowest) >> 1))
    return float(total / histogram.get_total_count())


def encode(histogram: HdrHistogram) -> str:
    """HdrHistogram V2, compressed, base64: other tools read it."""
    encoded: bytes = histogram.encode()
    return encoded.decode("ascii")


def decode(text: str) -> HdrHistogram:
    """What `encode` wrote. Raises `ValueError`, and whatever the codec raises, for anything else.

    The text may be forged: a kilobyte of it may hold a megabyte, and its header says how much memory the histogram takes.
    """
    _unpacked(text)
    return HdrHistogram.decode(text.encode("ascii"))


def check(text: str) -> None:
    """Raises as `decode` does. Without making a histogram, whose empty buckets take most of that time: a result has hundreds of them."""
    counts = _unpacked(text)
    HdrHistogramEncoder.decode(text.encode("ascii"))
    buckets = _BUCKETS.counts
    pyhdrh.decode(counts, payload_header_size, addressof(buckets), len(buckets), sizeof(buckets) // len(buckets))


def _unpacked(text: str) -> bytes:
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(b64decode(text, validate=True)[_COOKIE:], _LARGEST)
    if not unpacker.eof:
        raise ValueError("is cut off, or larger than any histogram")
    if _SHAPE.unpack_from(unpacked) != (DIGITS, 1, LONGEST_NS):
        raise ValueError("is a histogram of other values")
    return unpacked


copyreg.pickle(HdrHistogram, lambda histogram: (decode, (encode(histogram),)))  # its own members are of ctypes, and cannot be pickled


def nearest_rank(values: Sequence[float], share: float) -> float | None:
    """The smallest of them that so large a share of them does not exceed; None without any."""
    return sorted(values)[max(ceil(len(values) * share), 1) - 1] if values else None


def nearest_rank_us(nanoseconds: Sequence[int], share: float) -> float | None:
    """The same of response times, in microseconds."""
    found = nearest_rank(nanoseconds, share)
    return None if found is None else found / 1000
