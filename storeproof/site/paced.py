"""Response times at a fixed rate, which clients keep however long the store takes; where they wait for replies, times say less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.site.joined_results import SiteVariant
from storeproof.site.sources import SourceResult

WORKLOAD: Final = "single-mixed-rates"
_BEHIND: Final = "missed_send_ratio"


@dataclass(frozen=True)
class PacedTimes:
    """Of one run, since machines differ."""

    source: SourceResult
    rates: tuple[int, ...]
    """Requests per second."""
    times: Mapping[str, Sequence[float | None]]
    """By variant, for each rate the microseconds in which 99 of 100 requests were answered; -1 where the store did not keep up, None where
    nothing is known."""


def paced_times(sources: Sequence[SourceResult], variants: Sequence[SiteVariant]) -> PacedTimes | None:
    """Of the run that knows most of them; None: there is none."""
    found = [_of(source, variants) for source in sources]
    return max(found, key=lambda each: sum(time is not None for times in each.times.values() for time in times), default=None)


def _of(source: SourceResult, variants: Sequence[SiteVariant]) -> PacedTimes:
    measured = {
        variant.name: {round(each.rate): each for each in joined.store.measurements if each.workload == WORKLOAD and each.rate is not None}
        for variant in variants
        for joined in variant.joined
        if joined.source is source
    }
    rates = tuple(sorted({rate for each in measured.values() for rate in each}))
    times: dict[str, list[float | None]] = {}
    for name, by_rate in measured.items():
        if by_rate:
            times[name] = []
            for rate in rates:
                each = by_rate.get(rate)
                invalid = set(each.invalid) if each is not None else {""}
                time = -1.0 if invalid == {_BEHIND} else None if each is None or invalid else each.latency_us.p99
                times[name].append(time)
    return PacedTimes(source, rates, times)
