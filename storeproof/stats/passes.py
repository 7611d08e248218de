"""Rounds of several passes: what follows from their order holds within a pass, since between two passes other things happened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def split(rounds: Sequence[float], passes: Sequence[int]) -> list[Sequence[float]]:
    """The rounds of each pass.

    Args:
        passes: how many rounds each pass has, together as many as there are; none: all are of one pass.
    """
    ends = list(accumulate(passes or (len(rounds),)))
    return [rounds[end - length : end] for end, length in zip(ends, passes or ends, strict=True)]
