"""The loads of all roles of a candidate at the same time, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from storeproof import units
from storeproof.report.formatting import name_of
from storeproof.report.speed import numbers
from storeproof.report.speed.table import mark
from storeproof.report.tables import Cell, Table
from storeproof.result.measurement import JointLoad
from storeproof.result.model import StoreResult

NOTE: Final = (
    "What a needs file demands of a candidate: the loads of all its roles, at the same time on one machine, each at the rate that it "
    "needs. A response counts from when its request was due."
)
_HEADER: Final = (
    *("candidate", "role", "store:variant", "load", "clients", "records"),
    *("needed /s", "reached /s", "grade", "never sent", "p50", "p99", "max"),
)


def joint_loads(stores: Iterable[StoreResult], anchor: Callable[[StoreResult, str], str] = lambda _store, _name: "") -> Table:
    """A row for each role, candidate by candidate. `anchor`: the id of a row, by the name of its number; without it rows have none."""
    rows = [row for store in stores for joint in store.joint for row in _rows(store, joint, anchor)]
    rows.sort(key=lambda row: row[0].text)
    return Table(_HEADER, rows, "No roles were under load in this run.", frozenset((*range(4, 8), *range(9, 13))))


def _rows(store: StoreResult, joint: JointLoad, anchor: Callable[[StoreResult, str], str]) -> Iterable[list[Cell]]:
    for role in joint.roles:
        measured = joint.numbers.get(role.role)
        if measured is None:  # of another store, or a result from which it was taken out
            continue
        latency, row = measured.latency_us, anchor(store, joint.name_of(role.role))
        yield [
            Cell(joint.candidate, "strong"),
            Cell(role.role, "strong", f"#{row}" if row else "", id=row),
            Cell(name_of(store)),
            Cell(", ".join(filter(None, (role.workload, role.record)))),
            Cell(str(role.clients)),
            Cell(units.whole(measured.loaded or 0)),
            Cell(units.whole(role.rate)),
            Cell(f"{numbers.at_least(measured)}{units.amount(measured.throughput.median)}", "bad" if measured.invalid else "strong"),
            mark(measured),
            Cell(units.whole(measured.missed_sends), "" if measured.missed_sends else "dim"),
            *(Cell(units.micros(each)) for each in (latency.p50, latency.p99, latency.max)),
        ]
