"""The gates of a number, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from storeproof import units
from storeproof.load.quality.gates import BOTTLENECK as LIMITS
from storeproof.load.quality.gates import VALIDITY
from storeproof.result.measurement import Measurement
from storeproof.result.part import Gate

MEANINGS: Final[Mapping[str, str]] = {
    "errors": "share of the requests that failed",
    "client_cpu": "share of the time in which the load generator ran, or waited for a processor",
    "client_ceiling": "share of the rate that the load generator itself reaches, against a server that does nothing",
    "littles_law": "how far rate times time is from the requests in flight (Little's law)",
    "schedule_lag": "how late the load generator itself sent requests, as a share of the response time (p50 or p99, the greater share)",
    "missed_send_ratio": "share of the offered requests that were never sent",
    "joint_start": "share of the round for which the load of one role was on without that of another",
    "joint_ceiling": "share of the load generator's cores that the loads of all roles together need",
}
"""What the value of each is."""

LEGEND: Final = (
    "Not valid by "
    + "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items() if name in VALIDITY)
    + "; audit: the data was not whole after the rounds. ≥ by "
    + "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items() if name in LIMITS)
)

__all__ = ["LEGEND", "LIMITS", "MEANINGS", "all_of", "exceeded"]


def exceeded(gates: Mapping[str, Gate], names: Collection[str] | None = None) -> list[str]:
    """The gates that fail, each with its value; of some, or of all."""
    return [
        f"{name} {units.amount(gate.value)} (limit {units.amount(gate.limit)})"
        for name, gate in gates.items()
        if not gate.ok and (names is None or name in names)
    ]


def all_of(measured: Measurement) -> str:
    """Every gate that counts, and what was not measured. Results before format 2.1 have gates that count no longer."""
    found = ["data verified after the rounds" if measured.verified else "data not whole after the rounds"]
    for name, gate in measured.gates.items():
        if name in MEANINGS:
            found.append(f"{name}: {units.amount(gate.value)} (limit {units.amount(gate.limit)}, {'ok' if gate.ok else 'exceeded'})")
    if measured.ceiling_reason:
        found.append(f"client_ceiling: not measured: {measured.ceiling_reason}")
    return "; ".join(found)
