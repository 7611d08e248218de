"""What differs between the measurements of one workload on one store: their clients, or what a series goes through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof import units
from storeproof.result.measurement import Measurement
from storeproof.result.model import StoreResult

Pair = tuple[StoreResult, Measurement]


@dataclass(frozen=True)
class Axis:
    """One of them; of a measurement that it says nothing about it is 0."""

    name: str
    of: Callable[[Measurement], int]


def _record(kind: str) -> Callable[[Measurement], int]:
    """Of records that differ from those of the model: `size-1000` and its like."""

    def value(measured: Measurement) -> int:
        name, _, number = measured.record.partition("-")
        return int(number) if name == kind else 0

    return value


CLIENTS: Final = Axis("clients", lambda measured: measured.clients)
RATE: Final = Axis("requests offered per second", lambda measured: int(measured.rate or 0))
_OTHERS: Final = (
    RATE,
    Axis("requests in flight per client", lambda measured: measured.pipeline),
    Axis("bytes of a value", _record("size")),
    Axis("fields", _record("fields")),
    Axis("depth", _record("depth")),
)


def axis_of(measured: Sequence[Pair]) -> Axis:
    """What the measurements of a workload go through: the axis on which they have most values; clients, if they go through nothing."""
    return max((CLIENTS, *_OTHERS), key=lambda axis: len({axis.of(each) for _, each in measured}))


def setting(measured: Measurement) -> str:
    """How a measurement differs from the plainest of its kind, apart from its clients and indexes; empty if it does not."""
    found = [f"{units.amount(measured.rate)}/s offered"] if measured.rate else []
    found += [f"{measured.pipeline} in flight"] if measured.pipeline > 1 else []
    kind, _, number = measured.record.partition("-")
    if kind == "size":
        found.append(units.plural(int(number), "byte"))
    elif kind == "sizes":
        drawn, *sizes = number.split("-")
        found.append(f"{sizes[0].partition('x')[0]} to {sizes[-1].partition('x')[0]} bytes, {drawn}")
    elif kind == "fields":
        found.append(units.plural(int(number), "field"))
    elif kind:
        found.append(f"{kind} {number}")
    return ", ".join(found)


def typical(measured: Sequence[Pair]) -> list[Pair]:
    """The measurements that stand for a workload where one number is shown of each store: the farthest on its axis.

    Of numbers of clients it is the middle one, since the largest shows what a store does when it is asked too much. In open loops it is
    the highest rate without missed sends on any store; the lowest, if there is none.
    """
    axis = axis_of(measured)
    values = sorted({axis.of(each) for _, each in measured}, reverse=True)
    if axis is CLIENTS:
        values = values[(len(values) - 1) // 2 :]
    elif axis is RATE:
        kept = [value for value in values if all(_achieved(each) for _, each in measured if axis.of(each) == value)]
        values = kept or values[-1:]
    return [pair for pair in measured if axis.of(pair[1]) == values[0]]


def is_plain(measured: Sequence[Pair]) -> bool:
    """Whether a workload is measured as it is, and not in a series that changes it."""
    return not any(setting(each) for _, each in measured)


def _achieved(measured: Measurement) -> bool:
    return "missed_send_ratio" not in measured.invalid
