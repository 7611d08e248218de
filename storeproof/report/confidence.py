"""How much the rounds of a fault support, in the words of a report."""

from __future__ import annotations

from typing import Final

from storeproof import units
from storeproof.check.strength import percent
from storeproof.result.model import GuaranteeRecord

NOTE: Final = (
    "In brackets: how many faults struck, how many of them cost anything, and below which share of such faults this lies with 95 % "
    "confidence (the exact binomial limit of Clopper and Pearson). None of 20 leaves room for up to 14 %: rounds without a loss are no "
    "proof that there never is one."
)


def brief(record: GuaranteeRecord) -> str:
    """For a cell of the ladder; empty where the rounds are no evidence."""
    if record.loss_bound is None:
        return ""
    hit = units.whole(record.faults_with_loss) if record.faults_with_loss else "none"
    return f" ({hit} of {units.plural(record.rounds, 'fault')} lost anything; 95 %: {limit(record)})"


def limit(record: GuaranteeRecord) -> str:
    """The share of such faults that lose anything."""
    if record.loss_bound is None:
        return "–"
    return "all may" if record.loss_bound >= 1 else f"< {percent(record.loss_bound)}"


def struck_during(record: GuaranteeRecord) -> str:
    """How often, by what went on then."""
    shapes = ", ".join(f"{number} {name}" for name, number in record.faults_by_load.items())
    return f"{shapes}; {record.second_faults} again during the recovery" if record.second_faults else shapes or "–"


def gravest(record: GuaranteeRecord) -> str:
    worst = record.worst_loss
    return f"{worst.shape}: {units.plural(worst.records, 'operation')} of {worst.window_ms:,.0f} ms" if worst else "–"
