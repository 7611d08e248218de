"""What durability costs: for each variant what it loses by each fault, and how fast it writes. Every cell shows a field of a result.

Here, and nowhere else, unlike durability is set side by side: it is what is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from storeproof import units
from storeproof.errors import UsageError
from storeproof.report import answer_table
from storeproof.report.axes import Pair, setting, typical
from storeproof.report.formatting import name_of
from storeproof.report.speed import numbers
from storeproof.report.tables import workloads
from storeproof.result.compare import Side, pair_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.result.product import short_product
from storeproof.result.ratios.noise import noise_of

_NOTHING = answer_table.AnswerCell("–", "–")
_ABOUT: Final = frozenset({"durability"})
"""What the sides may differ in, here and on the site's page of costs: it is what is asked."""
_Rate = tuple[Side, Measurement]
_Variant = tuple[str, str, str | None]
"""A store, its variant and its version: another version is another store."""


def durability_cost(results: Sequence[Result], speeds: Result, workload: str) -> answer_table.AnswerTable:
    """One row for each variant: losses, the rate of a workload, its share of the same store's fastest variant, and the 99th percentile.

    `results`: judged alike, with the losses. `speeds`: another one, or the only one, with the rates of the same versions.

    Raises:
        UsageError: the results are not judged alike, no fault struck in them, or the workload was not measured.
    """
    measured = workloads(speeds)
    if workload not in measured:
        raise UsageError(f"{workload}: not measured in this result; it has {', '.join(measured) or 'no workload'}")
    stores = answer_table.judged_alike(results)
    lost = answer_table.losses(stores)
    if lost is None:
        raise UsageError(
            "no fault struck in this result: run the durability stage with the workload, or name the result that has the losses"
        )
    column = list(_plain(measured[workload]))
    apart = answer_table.set_apart(column)
    floors = noise_of(speeds)
    rates = {_variant(store): (Side(speeds, store, floors), each) for store, each in column}
    clients = units.plural(column[0][1].clients, "client")
    title = column[0][1].title.lower()
    rows = [[answer_table.APART, _NOTHING, _NOTHING] if name_of(store) in apart else _cells(store, rates, apart) for store in stores]
    names = [(short_product(store.title, store.version), store.configuration) for store in stores]
    notes = [
        *answer_table.sources(results, speeds, "Losses"),
        "Of its fastest: the rate as a share of the same store's fastest variant in the same blocks of rounds, with its 95 % interval.",
        f"Grades by half the 95 % interval over rounds: {numbers.BRIEF}.",
        "Yellow, and not promised: the variant does not claim to survive this; red: it does.",
        *answer_table.at_least(stores),
        *answer_table.reasons_apart(apart),
    ]
    return answer_table.AnswerTable(
        "", names, [lost, answer_table.ColumnGroup("speeds", f"{title}, {clients}", ["per second", "of its fastest", "p99"], rows)], notes
    )


def _plain(measured: list[Pair]) -> Iterator[Pair]:
    """Without indexes, and with one setting of all else."""
    yield from (pair for pair in typical(measured) if not pair[1].indexes and not setting(pair[1]))


def _variant(store: StoreResult) -> _Variant:
    return store.store, store.configuration, store.version


def _cells(store: StoreResult, rates: Mapping[_Variant, _Rate], apart: Collection[str]) -> list[answer_table.AnswerCell]:
    found = rates.get(_variant(store))
    if found is None:
        return [_NOTHING] * 3
    measured = found[1]
    if measured.invalid:
        return [answer_table.rate_cell(measured), _NOTHING, _NOTHING]
    p99 = measured.latency_us.p99
    return [
        answer_table.rate_cell(measured),
        _share(*found, [each for each in rates.values() if each[0].name not in apart]),
        answer_table.AnswerCell(units.micros(p99), units.micros(p99)) if p99 is not None else _NOTHING,
    ]


def _share(side: Side, measured: Measurement, rates: Sequence[_Rate]) -> answer_table.AnswerCell:
    """The ratio to the store's fastest variant, block by block; nothing where their rounds were not interleaved, or there is no ratio."""
    own = [each for each in rates if each[0].store.store == side.store.store and not each[1].invalid]
    fastest = max(own, key=lambda each: each[1].throughput.median)
    if fastest[1] is measured:
        return answer_table.AnswerCell("fastest" if len(own) > 1 else "–", "fastest" if len(own) > 1 else "–")
    found = pair_of(side, measured, *fastest, about=_ABOUT)
    if not found.paired or found.ratio is None:
        return _NOTHING
    share = f"{found.bound} {found.ratio.middle:.2f}".lstrip()
    return answer_table.AnswerCell(f"{share}\n[{found.ratio.low:.2f}, {found.ratio.high:.2f}]", share)
