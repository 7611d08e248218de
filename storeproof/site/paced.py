"""Response times at a fixed rate, which clients keep however long the store takes; where they wait for replies, times say less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.result.measurement import Measurement
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


def paced_times(sources: Sequence[SourceResult], variants: Sequence[SiteVariant]) -> PacedTimes:
    """Of the run that knows most of them; without rates where no run has one."""
    return max(
        (_of(source, variants) for source in sources), key=lambda each: sum(len(times) - times.count(None) for times in each.times.values())
    )


def _of(source: SourceResult, variants: Sequence[SiteVariant]) -> PacedTimes:
    measured = {
        variant.name: {round(each.rate): each for each in joined.store.measurements if each.workload == WORKLOAD and each.rate is not None}
        for variant in variants
        for joined in variant.joined
        if joined.source is source
    }
    rates = tuple(sorted({rate for each in measured.values() for rate in each}))
    times = {name: [_time(by_rate.get(rate)) for rate in rates] for name, by_rate in measured.items() if by_rate}
    return PacedTimes(source, rates, times)


def _time(measured: Measurement | None) -> float | None:
    if measured is None:
        return None
    if measured.invalid == [_BEHIND]:
        return -1.0
    return None if measured.invalid else measured.latency_us.p99
