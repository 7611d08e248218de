"""Histograms keep three digits, and survive being written down."""

from __future__ import annotations

import struct
import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable
from random import Random

import pytest
from hdrh.histogram import HdrHistogram

from storeproof.stats.latency import LONGEST_NS, check, decode, encode, mean, new_histogram, record_all


def test_counting_equal_values_changes_nothing_that_the_histogram_keeps() -> None:
    """Against recording one by one: the same counts at all percentiles."""
    random = Random(6)
    values = array("q", [int(random.lognormvariate(13, 2)) for _ in range(20_000)])
    quick, slow = new_histogram(), HdrHistogram(1, LONGEST_NS, 3)
    record_all(quick, values)
    for value in values:
        slow.record_value(value)
    assert quick.get_total_count() == 20_000
    for percent in (1, 25, 50, 75, 90, 99, 99.9, 100):
        assert quick.get_value_at_percentile(percent) == slow.get_value_at_percentile(percent)


def test_extremes_are_kept() -> None:
    """Nothing is lost: what is too short or too long goes to the ends."""
    histogram = new_histogram()
    record_all(histogram, array("q", [0, 1, LONGEST_NS * 2]))
    assert histogram.get_total_count() == 3


def test_the_mean_is_the_one_of_the_library() -> None:
    """To the last bit, of values of every magnitude, and read back from text."""
    random, histogram = Random(1), new_histogram()
    assert mean(histogram) == histogram.get_mean_value() == 0
    record_all(histogram, array("q", [1, LONGEST_NS, *(int(10 ** random.uniform(0, 11)) for _ in range(300))]))
    assert mean(histogram) == histogram.get_mean_value() == mean(decode(encode(histogram)))


def test_written_and_read() -> None:
    """The text is HdrHistogram's own V2 format."""
    histogram = new_histogram()
    record_all(histogram, array("q", [50_000, 60_000, 70_000_000]))
    text = encode(histogram)
    assert text.startswith("HIST")
    assert decode(text).get_total_count() == 3
    assert decode(text).get_max_value() == histogram.get_max_value()


def test_what_is_too_large_is_not_unpacked() -> None:
    """A histogram in a result may be forged: sixty megabytes of zeros, or a header that asks for as much."""
    text = b64decode(encode(new_histogram()))
    begin = zlib.decompress(text[8:])
    for content in (begin + b"\0" * (60 << 20), begin[:12] + (5).to_bytes(4, "big") + begin[16:], begin[:20]):
        packed = zlib.compress(content)
        with pytest.raises((ValueError, struct.error)):
            decode(b64encode(text[:4] + len(packed).to_bytes(4, "big") + packed).decode())
        with pytest.raises((ValueError, struct.error)):
            check(b64encode(text[:4] + len(packed).to_bytes(4, "big") + packed).decode())


def test_what_cannot_be_decoded_is_not_readable() -> None:
    """A result is checked without making its histograms: what the check lets through must not break a picture."""
    histogram, random = new_histogram(), Random(1)
    record_all(histogram, array("q", [50_000, 60_000, 70_000_000]))
    whole = encode(histogram)
    check(whole)
    check(encode(new_histogram()))
    raw = b64decode(whole)
    content = zlib.decompress(raw[8:])
    for _ in range(500):
        at = random.randrange(len(content))
        packed = zlib.compress(content[:at] + random.randbytes(random.choice((1, 9))) + content[at + 1 :])
        text = b64encode(raw[:4] + len(packed).to_bytes(4, "big") + packed).decode()
        assert raised(check, text) == raised(decode, text)
    for text in (whole[:-8], "x" + whole, b64encode(b"\0" * 4 + raw[4:]).decode(), ""):
        assert raised(check, text)
        assert raised(decode, text)


def raised(reading: Callable[[str], object], text: str) -> bool:
    """Whether it refuses the text, with any error: base64, zlib and the codec each have their own."""
    try:
        reading(text)
    except Exception:  # noqa: BLE001
        return True
    return False
