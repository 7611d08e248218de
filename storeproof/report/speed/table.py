"""The numbers of one workload as a table: rates and ratios first, then latencies, and how each number is marked; and the operations of a
mix, each by itself: what all of them together took says little of any one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from storeproof import units
from storeproof.report import formatting, gates
from storeproof.report.axes import Pair, setting
from storeproof.report.speed import numbers
from storeproof.report.speed.ratios import Beside
from storeproof.report.tables import Cell, Table
from storeproof.result.measurement import Measurement


def speed(measured: Iterable[Pair], ratios: Beside | None = None) -> Table:
    """Every store's numbers beside the durability that was proven for it; without ratios where there is one store."""
    rows = []
    for number, (store, each) in enumerate(measured):
        latency = each.latency_us
        rate = f"{numbers.at_least(each)}{units.amount(each.throughput.median)}"
        rows.append(
            [
                Cell(formatting.name_of(store), "strong"),
                Cell(store.durability.shown, "" if store.durability.proven else "open"),
                Cell(str(each.clients)),
                Cell(str(each.indexes)),
                Cell(setting(each) or "–"),
                Cell(rate, "bad" if each.invalid else "strong"),
                mark(each),
                Cell(f"{units.amount(each.throughput.low)} – {units.amount(each.throughput.high)}"),
                *([ratios.cells[number]] if ratios else []),
                *(Cell(units.micros(getattr(latency, point))) for point in ("mean", "p50", "p95", "p99", "p999", "max")),
                Cell(" + ".join(map(str, each.laps or [len(each.rounds)]))),
                Cell(units.whole(each.errors), "bad" if each.errors else "dim"),
                Cell(units.whole(each.misses), "bad" if each.misses else "dim"),
                Cell("; ".join(_reasons(each)) or "–", "bad" if each.invalid else "" if numbers.reasons(each) else "dim"),
            ]
        )
    header = (
        *("store:variant", "durability proven", "clients", "indexes", "with", "median /s", "grade", "95 % interval"),
        *([ratios.heading] if ratios else []),
        *("mean", "p50", "p95", "p99", "p99.9", "max", "rounds", "errors", "misses", "why"),
    )
    right = {name for name in header if name not in ("store:variant", "durability proven", "with", "grade", "why")}
    return Table(header, rows, "Not measured.", frozenset(place for place, name in enumerate(header) if name in right))


def mark(measured: Measurement) -> Cell:
    """How a number is marked; the hint has all that was looked at."""
    return Cell(numbers.mark(measured), numbers.tone(measured), hint="; ".join([*numbers.reasons(measured), gates.all_of(measured)]))


def about(measured: Sequence[Pair]) -> str:
    """What the measurements of one workload have in common, in one line."""

    def values(name: str) -> str:
        return " / ".join(dict.fromkeys(str(getattr(each, name)) for _, each in measured))

    load = " / ".join(
        dict.fromkeys(f"{each.load_model} loop" + (f" at {units.amount(each.rate)}/s" if each.rate else "") for _, each in measured)
    )
    batch = values("batch")
    corpus = f", corpus {values('corpus')}" if any(each.corpus for _, each in measured) else ""
    loaded = " / ".join(dict.fromkeys(f"{each.loaded:,}" for _, each in measured if each.loaded))
    there = f"{loaded} records loaded before, " if loaded else ""
    turns = max((len(each.interleaved_with) + 1 for _, each in measured), default=1)
    interleaved = f", {turns} stores, interleaved rounds" if turns > 1 else ""
    return (
        f"model {values('model')}, operation {values('operation')}, {batch} {'record' if batch == '1' else 'records'} a request, "
        f"{there}{values('payload_bytes')} bytes of payload a record{corpus}, engine {values('engine')}, {load}{interleaved}, "
        f"throughput in {' / '.join(dict.fromkeys(each.throughput.unit for _, each in measured))}"
    )


def _reasons(measured: Measurement) -> list[str]:
    return [*numbers.reasons(measured), *(["client_ceiling not measured"] if measured.ceiling_reason else [])]


def operations_of(measured: Sequence[Pair]) -> Table | None:
    """The latencies of each operation on each store; None for a workload of one operation."""
    if not any(each.parts for _, each in measured):
        return None
    header = (
        *("operation", "store:variant", "clients", "indexes", "with", "records"),
        *("mean", "p50", "p95", "p99", "p99.9", "max", "errors", "misses", "of a number"),
    )
    names = dict.fromkeys((part.name, part.operation) for _, each in measured for part in each.parts)
    rows = [
        [
            Cell(name if name == operation else f"{name} ({operation})", "strong"),
            Cell(formatting.name_of(store)),
            Cell(str(each.clients)),
            Cell(str(each.indexes)),
            Cell(setting(each) or "–"),
            Cell(units.whole(part.records)),
            *(Cell(units.micros(getattr(part.latency_us, point))) for point in ("mean", "p50", "p95", "p99", "p999", "max")),
            Cell(units.whole(part.errors), "bad" if part.errors else "dim"),
            Cell(units.whole(part.misses), "bad" if part.misses else "dim"),
            Cell(f"{numbers.at_least(each)}{numbers.mark(each)}", numbers.tone(each), hint="; ".join(numbers.reasons(each))),
        ]
        for name, operation in names
        for store, each in measured
        for part in each.parts
        if part.name == name
    ]
    return Table(header, rows, "Not measured.", frozenset({2, 3, *range(5, 14)}))
