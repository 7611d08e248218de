"""Percentiles of a few values, by the nearest rank: with a few hundred response times the 99th is one of the longest, and no estimate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


def nearest_rank(values: Sequence[float], share: float) -> float | None:
    """The smallest of them that so large a share of them does not exceed; None without any."""
    return sorted(values)[max(ceil(len(values) * share), 1) - 1] if values else None


def nearest_rank_us(nanoseconds: Sequence[int], share: float) -> float | None:
    """The same of response times, in microseconds."""
    found = nearest_rank(nanoseconds, share)
    return None if found is None else found / 1000
