"""What a role costs on a store, by the reader's own prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storeproof.result.needs.judged_need import JudgedNeed
from storeproof.spec.questions.needs import Costs, Machine, Role

SECONDS_PER_MONTH: Final = 365.2425 / 12 * 86_400
"""A twelfth of a mean Gregorian year."""


@dataclass(frozen=True)
class Cost:
    """The cost of one role on one store. None: see `unknown`."""

    role: str
    target: str
    per_million: float | None = None
    """Money for the server's processor time of a million operations."""
    per_month: float | None = None
    """The same at the rate that is needed, in a month."""
    cores: float | None = None
    """Cores that are busy with it on average."""
    memory_bytes: float | None = None
    """Resident memory of the needed number of records."""
    disk_bytes: float | None = None
    """Disk of the same."""
    licence_per_month: float = 0.0
    unknown: str = ""
    """Why processor time is not known."""


def cost_of(role: Role, rate: JudgedNeed, machine: Machine, prices: Costs) -> Cost:
    """What the load of a role costs.

    Args:
        rate: what is said of the role's rate; what it was measured with has the cost of an operation.
        machine: of which one costs `prices.host_per_month`; a busy core costs its share.
    """
    licence = prices.licence_per_month.get(rate.target.partition(":")[0], 0.0)
    if role.load is None or not rate.seen:
        return Cost(rate.need.role, rate.target, licence_per_month=licence, unknown="no load was measured")
    measured = rate.seen[0].measured
    if measured is None or measured.cost is None:
        reason = measured.cost_reason if measured else ""
        unknown = reason or "the result is of a format that has no cost of an operation"
        return Cost(rate.need.role, rate.target, licence_per_month=licence, unknown=unknown)
    cost, core_second = measured.cost, prices.host_per_month / (machine.cores * SECONDS_PER_MONTH)
    cores = role.load.rate * cost.cpu_us / 1e6

    def of_records(each: float | None) -> float | None:
        return None if each is None or role.records is None else each * role.records

    return Cost(
        rate.need.role,
        rate.target,
        per_million=cost.cpu_us * core_second,
        per_month=cores * SECONDS_PER_MONTH * core_second,
        cores=cores,
        memory_bytes=of_records(cost.resident_per_record),
        disk_bytes=of_records(cost.disk_per_record),
        licence_per_month=licence,
    )
