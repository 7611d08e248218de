"""A rate as the pages show it: with its interval, its marks, and the reasons of its marks."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import setting
from storeproof.report.speed import numbers
from storeproof.result.measurement import Measurement
from storeproof.result.model import StoreResult
from storeproof.site.names import number_anchor


@dataclass(frozen=True)
class Rate:
    anchor: str
    title: str
    workload: str
    how: str
    """Clients, indexes, and how it differs from the plainest of its kind."""
    text: str
    """`≥ 151k`, or what broke."""
    note: str
    """`±5 %`, `drifting`, or `not valid`."""
    interval: str
    grade: str
    """Empty where it is not valid."""
    tone: str
    p99: str
    why: str
    """The reasons of its marks; empty where it has none."""


def rate_of(store: StoreResult, measured: Measurement) -> Rate:
    rate = measured.throughput
    text, note = numbers.in_words(measured)
    valid = numbers.valid(measured)
    how = [units.plural(measured.clients, "client"), *([formatting.indexes(measured.indexes)] if measured.indexes else [])]
    how += [each] if (each := setting(measured)) else []
    return Rate(
        anchor=number_anchor(store.store, store.configuration, measured),
        title=measured.title,
        workload=measured.workload,
        how=", ".join(how),
        text=text,
        note=note,
        interval=f"{units.whole(rate.low)} to {units.whole(rate.high)} {rate.unit}",
        grade=measured.grade if valid else "",
        tone="" if valid else "bad",
        p99=units.micros(measured.latency_us.p99),
        why="; ".join(numbers.reasons(measured)),
    )


def rates_of(store: StoreResult) -> list[Rate]:
    """All numbers of a variant, in the order of the result. Of two of one plan, which no run has, the first is shown."""
    found: dict[str, Rate] = {}
    for each in store.measurements:
        rate = rate_of(store, each)
        found.setdefault(rate.anchor, rate)
    return list(found.values())
