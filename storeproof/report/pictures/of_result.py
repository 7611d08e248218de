"""All pictures of a result, as the report shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storeproof.report import formatting, tables
from storeproof.report.axes import Pair, axis_of
from storeproof.report.pictures import curves, drawing, histories, outages, plots, tradeoffs
from storeproof.result.model import Result, StoreResult


class Pictures:
    """The pictures of one result. A store has one colour in all of them."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._workloads = tables.workloads(result)
        # Those without indexes come first, since colours are few.
        self._lines = drawing.Lines(
            [*map(formatting.name_of, result.stores), *(name for each in self._workloads.values() for name in drawing.series_of(each))]
        )

    def of_report(self) -> dict[str, Any]:
        """Pictures about all stores, by the names that the page has for them."""
        costs = tradeoffs.in_variants(self._workloads)
        compared = drawing.Lines(name for measured in costs.values() for name in measured)
        bars, sweeps = self._plots()
        return {
            "bars": bars,
            "sweeps": sweeps,
            "rungs": drawing.rungs([pair for measured in self._workloads.values() if not plots.is_sweep(measured) for pair in measured]),
            "cost": tradeoffs.cost_of_durability(costs, compared) if costs else None,
            "cost_legend": compared.legend(),
            "scatter": tradeoffs.features_against_speed(self._result, self._workloads),
            "outage_pictures": outages.pictures(self._result),
            "outage_legend": outages.legend(),
        }

    def of_workload(self, measured: Sequence[Pair]) -> dict[str, Any]:
        title = measured[0][1].title
        return {"curves": curves.curves(measured, title, self._lines), "legend": self._lines.legend(drawing.series_of(measured))}

    def of_store(self, store: StoreResult) -> dict[str, Any]:
        """The histories that no order explains, by case."""
        return {each.case: {"plot": histories.lanes(each), "key": each.key, "operations": each.operations} for each in store.histories}

    def _plots(self) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
        bars: list[Mapping[str, Any]] = []
        sweeps: list[Mapping[str, Any]] = []
        for name, measured in self._workloads.items():
            title = measured[0][1].title
            if len(measured) == 1:
                continue  # one bar is as long as any other
            if not plots.is_sweep(measured):
                clients = sorted({each.clients for _, each in measured})
                spoken = f"{', '.join(map(str, clients))} {'client' if clients == [1] else 'clients'}"
                unit = " / ".join(dict.fromkeys(each.throughput.unit for _, each in measured))
                bars.append({"workload": name, "title": title, "clients": f"{spoken} · {unit}", "plot": plots.bars(measured, title)})
                continue
            for durability, group in _by_durability(measured):
                sweeps.append(
                    {
                        "workload": name,
                        "title": title,
                        "axis": axis_of(measured).name,
                        "durability": durability,
                        "legend": self._lines.legend(drawing.series_of(group)),
                        "plot": plots.sweep(group, durability, title, self._lines),
                    }
                )
        return bars, sweeps


def _by_durability(measured: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    for _, _, durability in drawing.rungs(measured):
        yield durability, [pair for pair in measured if drawing.proven(pair) == durability]
