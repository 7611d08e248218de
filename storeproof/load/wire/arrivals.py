"""Open loop: when the requests of a job are due."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof.load.arrivals import SECOND, exponential
from storeproof.load.wire.request import Job


def gaps(job: Job) -> Iterator[int]:
    """Nanoseconds from one intended time to the next, the first from the start."""
    if job.poisson:
        yield from exponential(job.rate, f"{job.seed}:gaps")
    place = told = 0
    mean = SECOND / job.rate
    while True:
        yield int(place * mean) - told
        place, told = place + 1, int(place * mean)
