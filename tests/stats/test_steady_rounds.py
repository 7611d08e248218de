"""Rounds are steady by the rule that the makers of disks have agreed on."""

from __future__ import annotations

import pytest

from storeproof.stats.steady_rounds import steady_from


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([100] * 4, None),
        ([100] * 5, 1),
        ([300, 150, 100, 100, 100, 100, 100], 3),
        ([91, 110, 91, 110, 98], 1),
        ([89, 111, 89, 111, 100], None),
        ([100, 102.4, 104.9, 107.3, 109.8], 1),
        ([100, 103, 106, 109, 112], None),
        ([0] * 5, None),
    ],
    ids=["four", "alike", "from-the-third", "within-a-fifth", "more-than-a-fifth", "rising-a-little", "rising-more", "nothing"],
)
def test_the_first_window_that_is_steady(values: list[float], first: int | None) -> None:
    """The range is at most 20 % of the mean, and the line through the window changes by at most 10 %."""
    assert steady_from(values) == first


def test_every_series_has_to_be() -> None:
    """In the same rounds."""
    settles = [300.0, 150, 100, 100, 100, 100, 100]
    assert steady_from(settles, [5.0] * 7) == 3
    assert steady_from(settles, [*[5.0] * 6, 9]) is None
    assert steady_from() is None
