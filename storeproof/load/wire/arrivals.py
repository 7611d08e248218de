"""Open loop: when requests are due, whatever became of the ones before."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from random import Random
from typing import Final

from storeproof.load.wire.request import Job

_SECOND: Final = 1_000_000_000


def gaps(job: Job) -> Iterator[int]:
    """Open loop: nanoseconds from one intended time to the next, the first from the start."""
    mean = _SECOND / job.rate if job.rate else 0.0
    if job.poisson:
        random = Random(f"{job.seed}:gaps").random
        while True:
            yield int(-log(1 - random()) * mean)
    place = told = 0
    while True:
        yield int(place * mean) - told
        place, told = place + 1, int(place * mean)
