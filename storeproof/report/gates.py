"""The gates of a number's validity, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof import units
from storeproof.result.measurement import Measurement
from storeproof.result.part import Gate

MEANINGS: Final[Mapping[str, str]] = {
    "errors": "share of the requests that failed",
    "client_cpu": "share of the time in which the load generator ran, or waited for a processor",
    "client_ceiling": "share of the rate that the load generator itself reaches, against a server that does nothing",
    "littles_law": "how far rate times time is from the requests in flight (Little's law)",
    "steady_state": "how much the rate still changed when the rounds began",
    "spread": "half the 95 % interval, as a share of the median",
    "schedule_lag": "how late the load generator itself sent requests, as a share of the response time (p50 or p99, the greater share)",
    "missed_send_ratio": "share of the offered requests that were never sent",
}
"""What the value of each is."""

LEGEND: Final = "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items())


def exceeded(gates: Mapping[str, Gate]) -> list[str]:
    """Those that fail, each with its value."""
    return [f"{name} {units.amount(gate.value)} (limit {units.amount(gate.limit)})" for name, gate in gates.items() if not gate.ok]


def failing(measured: Measurement) -> list[str]:
    """What speaks against a number, each with its value."""
    found = exceeded(measured.gates)
    return found if measured.verified else [*found, "data not verified"]


def all_of(measured: Measurement) -> str:
    """Every gate, and what was not measured."""
    found = ["data verified after the rounds" if measured.verified else "data not verified after the rounds"]
    for name, gate in measured.gates.items():
        found.append(f"{name}: {units.amount(gate.value)} (limit {units.amount(gate.limit)}, {'ok' if gate.ok else 'failing'})")
    if measured.ceiling_reason:
        found.append(f"client_ceiling: not measured: {measured.ceiling_reason}")
    return "; ".join(found)
