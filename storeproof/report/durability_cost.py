"""What durability costs: for each variant what it loses by each fault, and how fast it writes. Every cell shows a field of a result.

Here, and nowhere else, unlike durability is set side by side: it is what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from storeproof import units
from storeproof.errors import UsageError
from storeproof.report.answer_table import AnswerCell, AnswerTable, Group, judged_alike, losses, product, rate_cell, sources
from storeproof.report.axes import Pair, setting, typical
from storeproof.report.speed import numbers
from storeproof.report.tables import workloads
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.result.ratios.number_ratio import number_ratio

_NOTHING = AnswerCell("–", "–")
_Variant = tuple[str, str, str | None]
"""A store, its variant and its version: another version is another store."""


def durability_cost(results: Sequence[Result], speeds: Result, workload: str) -> AnswerTable:
    """One row for each variant: losses, the rate of a workload, its share of the same store's fastest variant, and the 99th percentile.

    `results`: judged alike, with the losses. `speeds`: another one, or the only one, with the rates of the same versions.

    Raises:
        UsageError: the results are not judged alike, no fault struck in them, or the workload was not measured.
    """
    measured = workloads(speeds)
    if workload not in measured:
        raise UsageError(f"{workload}: not measured in this result; it has {', '.join(measured) or 'no workload'}")
    stores = judged_alike(results)
    lost = losses(stores)
    if lost is None:
        raise UsageError(
            "no fault struck in this result: run the durability stage with the workload, or name the result that has the losses"
        )
    rates = {_variant(store): each for store, each in _plain(measured[workload])}
    clients = units.plural(next(iter(rates.values())).clients, "client")
    title = next(iter(rates.values())).title.lower()
    rows = [_cells(store, rates) for store in stores]
    names = [(product(store), store.variant) for store in stores]
    notes = [
        *sources(results, speeds, "Losses"),
        "Of its fastest: the rate as a share of the same store's fastest variant in the same blocks of rounds, with its 95 % interval.",
        f"Grades by half the 95 % interval over rounds: {numbers.BRIEF}.",
        "Yellow, and not promised: the variant does not claim to survive this; red: it does.",
    ]
    return AnswerTable("", names, [lost, Group("speeds", f"{title}, {clients}", ["per second", "of its fastest", "p99"], rows)], notes)


def _plain(measured: list[Pair]) -> Iterator[Pair]:
    """Without indexes, and with one setting of all else."""
    yield from (pair for pair in typical(measured) if not pair[1].indexes and not setting(pair[1]))


def _variant(store: StoreResult) -> _Variant:
    return store.store, store.variant, store.version


def _cells(store: StoreResult, rates: Mapping[_Variant, Measurement]) -> list[AnswerCell]:
    measured = rates.get(_variant(store))
    if measured is None:
        return [_NOTHING] * 3
    if measured.invalid:
        return [rate_cell(measured), _NOTHING, _NOTHING]
    p99 = measured.latency_us.p99
    return [
        rate_cell(measured),
        _share(store, measured, rates),
        AnswerCell(units.micros(p99), units.micros(p99)) if p99 is not None else _NOTHING,
    ]


def _share(store: StoreResult, measured: Measurement, rates: Mapping[_Variant, Measurement]) -> AnswerCell:
    """Of the store's fastest variant, block by block; nothing where their rounds were not interleaved, or one of them has no rate."""
    own = {variant: each for (name, variant, _), each in rates.items() if name == store.store and not each.invalid}
    fastest = max(own, key=lambda variant: own[variant].throughput.median)
    if fastest == store.variant:
        return AnswerCell("fastest" if len(own) > 1 else "–", "fastest" if len(own) > 1 else "–")
    found = number_ratio(measured, own[fastest], paired=True)
    if f"{store.store}:{fastest}" not in measured.interleaved_with or found.ratio is None:
        return _NOTHING
    share = f"{found.bound} {found.ratio.middle:.2f}".lstrip()
    return AnswerCell(f"{share}\n[{found.ratio.low:.2f}, {found.ratio.high:.2f}]", share)
