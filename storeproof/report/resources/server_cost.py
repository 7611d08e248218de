"""What an operation costs the server: processor time, bytes written and syncs, and the memory and disk that its records take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import Pair, setting
from storeproof.report.tables import Cell, Table
from storeproof.result.server_cost import ServerCost

COST_NOTE = (
    "What an operation costs the server is counted over the measured rounds alone: processor time of its processes, bytes that they handed "
    "to the block device, and syncs (fsync, fdatasync, writes that wait for the device). Memory and disk are those of the whole server "
    "after the last round, with logs and what it set aside. A batch counts as its records."
)

_COLUMNS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("cpu_us", "CPU / operation", lambda value: units.micros(value)),
    ("written_bytes", "written / operation", lambda value: units.size(_bytes(value))),
    ("syncs", "syncs / operation", units.amount),
    ("resident_bytes", "memory", lambda value: units.size(int(value))),
    ("resident_per_record", "memory / record", lambda value: units.size(_bytes(value))),
    ("disk_bytes", "on disk", lambda value: units.size(int(value))),
    ("disk_per_record", "on disk / record", lambda value: units.size(_bytes(value))),
)


def costs(measured: Sequence[Pair]) -> Table | None:
    """One workload on each store; None where no server could be looked at."""
    if all(each.cost is None for _, each in measured):
        return None
    rows = [
        [
            Cell(formatting.name_of(store), "strong"),
            Cell(store.durability.shown, "" if store.durability.proven else "open"),
            Cell(str(each.clients)),
            Cell(str(each.indexes)),
            Cell(setting(each) or "–"),
            *(_cell(each.cost, each.cost_reason, name, write) for name, _, write in _COLUMNS),
        ]
        for store, each in measured
    ]
    header = ("store:variant", "durability proven", "clients", "indexes", "with", *(title for _, title, _ in _COLUMNS))
    return Table(header, rows, "Not measured.", frozenset({2, 3, *range(5, 5 + len(_COLUMNS))}))


def about_costs(measured: Sequence[Pair]) -> str:
    """What the table is about, and why figures are missing, in one line."""
    titles = {name: title for name, title, _ in _COLUMNS}
    found: dict[tuple[str, str], dict[str, None]] = {}
    for store, each in measured:
        unknown = each.cost.unknown if each.cost is not None else {"": each.cost_reason or "not measured"}
        for name, why in unknown.items():
            if name in titles or not name:
                found.setdefault((formatting.name_of(store), why), {})[titles.get(name, "")] = None
    lines = (f"{store}: {', '.join(filter(None, names))}{': ' if any(names) else ''}{why}" for (store, why), names in found.items())
    return "; ".join(["What an operation costs the server", *lines]) + ":"


def _cell(cost: ServerCost | None, reason: str, name: str, write: Callable[[float], str]) -> Cell:
    if cost is None:
        return Cell("–", "dim", hint=reason)
    value = getattr(cost, name)
    return Cell("–", "dim", hint=cost.unknown.get(name, "")) if value is None else Cell(write(value))


def _bytes(value: float) -> int:
    """To whole bytes: less than one is shown as none."""
    return round(value)
