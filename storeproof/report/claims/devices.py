"""The devices that a text tested, as it printed them."""

from __future__ import annotations

from typing import Final

from storeproof.report.tables import Cell, Table
from storeproof.result.claims import DeviceTested, JudgedClaims

TITLE: Final = "Devices that the texts tested"
ANCHOR: Final = "devices-that-the-texts-tested"
"""As GitHub makes it of the title; the HTML page uses the same."""
LEGEND: Final = (
    "Mean waits of one store for its I/O, in milliseconds, as printed: overall (the unweighted mean of the other four), save (S), journal "
    "(J), merge read (MR) and merge write (MW). The figures of claims on waits are from here."
)
_HEADER: Final = ("text", "device", "arrangement", "overall", "S", "J", "MR", "MW")


def summary(judged: JudgedClaims) -> str:
    """How many there are, and how far they are apart."""
    waits = [each.overall for each in judged.devices]
    return f"{len(waits)} rows from {min(waits):.2f} to {max(waits):.2f} ms"


def table(judged: JudgedClaims) -> Table:
    return Table(_HEADER, [_row(each) for each in judged.devices], "", frozenset(range(3, len(_HEADER))))


def _row(tested: DeviceTested) -> list[Cell]:
    waits = (tested.overall, tested.save, tested.journal, tested.merge_read, tested.merge_write)
    return [Cell(each) for each in (tested.source, tested.device, tested.arrangement, *(f"{each:.2f}" for each in waits))]
