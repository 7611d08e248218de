"""What is computed from the reads of a cache."""

from __future__ import annotations

import pytest

from storeproof.experiments.performance.caches.cold_start import back_at
from storeproof.experiments.performance.caches.dogpile import Dogpile
from storeproof.experiments.performance.caches.reads import Read, hit_rate

MS = 1_000_000


def reads(hits: str) -> list[Read]:
    """One read a millisecond, each of which takes one: `h` is a hit, `m` a miss."""
    return [Read(number * MS, (number + 1) * MS, each == "h") for number, each in enumerate(hits)]


def test_the_hit_rate_is_the_share_of_hits() -> None:
    """Without reads there is none."""
    assert hit_rate(reads("hhhm")) == 0.75
    assert hit_rate([]) == 0


@pytest.mark.parametrize(
    ("hits", "wanted", "back"),
    [
        ("h" * 200, 0.95, 200),
        ("h" * 199, 0.95, None),
        ("m" * 300, 0.95, None),
        ("m" * 300 + "h" * 200, 0.95, 490),
        ("m" * 300 + "h" * 189 + "m" * 100, 0.95, None),
        ("hm" * 300, 0.5, 200),
        ("hm" * 300, 0.51, None),
    ],
)
def test_the_hit_rate_is_back_with_the_first_200_reads_that_show_it(hits: str, wanted: float, back: int | None) -> None:
    """The moment is the answer of the last of them."""
    assert back_at(reads(hits), wanted) == (None if back is None else back * MS)


def test_each_read_of_the_home_belongs_to_the_expiry_before_it() -> None:
    """What came before the first counts for none; response times are those near an expiry, and the others."""
    found = Dogpile(clients=4)
    moments = [10 * MS, 50 * MS, 100 * MS]
    found.add(reads("m" * 8 + "h" * 4 + "mmm" + "h" * 40 + "m" + "h" * 60), moments)
    assert found.home_reads == [3, 1, 0]
    assert found.record.home_reads_median == 1
    assert found.record.home_reads_most == 3
    assert len(found.near) + len(found.far) == 116 - 9
    assert (len(found.near), found.record.p99_us) == (20 + 20 + 17, 1000)
