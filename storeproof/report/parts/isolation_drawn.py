"""The anomalies among the transactions of a run, drawn and told step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storeproof.report.formatting import name_of
from storeproof.report.parts.isolation_table import named, tried
from storeproof.report.pictures.transactions import transaction_lanes
from storeproof.result.measured.isolation import AnomalySeen
from storeproof.result.model import Result, StoreResult


@dataclass(frozen=True)
class AnomalyDrawn:
    """The smallest of its kind."""

    title: str
    forbidden: bool
    svg: str
    story: Sequence[str]


def anomalies_drawn(store: StoreResult) -> Iterator[tuple[str, list[AnomalyDrawn]]]:
    """By the id of the case, those that are forbidden first."""
    for record, counts in tried(store):
        if counts.anomalies:
            yield record.id, [drawn_of(each) for each in sorted(counts.anomalies, key=lambda each: not each.forbidden)]


def drawn_of(seen: AnomalySeen) -> AnomalyDrawn:
    return AnomalyDrawn(
        f"{'forbidden' if seen.forbidden else 'allowed'}: {named(seen)}", seen.forbidden, transaction_lanes(seen), seen.story
    )


def of_result(result: Result) -> list[tuple[str, list[AnomalyDrawn]]]:
    """Those of all stores, by store and case."""
    return [(f"{name_of(store)}: {case}", drawn) for store in result.stores for case, drawn in anomalies_drawn(store)]
