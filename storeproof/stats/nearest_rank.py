"""Percentiles of a few response times, by the nearest rank: with a few hundred the 99th is one of the longest, and no estimate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


def nearest_rank_us(nanoseconds: Sequence[int], share: float) -> float | None:
    """The smallest of them that so large a share of them does not exceed, in microseconds; None without any."""
    return sorted(nanoseconds)[max(ceil(len(nanoseconds) * share), 1) - 1] / 1000 if nanoseconds else None
