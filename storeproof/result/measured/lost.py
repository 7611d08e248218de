"""Which share of the acknowledged operations a fault cost. Operations are divided by operations, on every screen, page and picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from storeproof.result.model import GuaranteeRecord
from storeproof.result.older_formats import lost_operations_of
from storeproof.units import share, whole


@dataclass(frozen=True)
class Lost:
    """What a fault cost in all of its rounds."""

    operations: int
    """Acknowledged ones that are certainly lost."""
    acknowledged: int
    at_least: bool = False
    """The result has no count of them: each record that is lost is one or more."""

    @property
    def share(self) -> float:
        """Of those that were acknowledged; 0 where none was."""
        return min(1.0, self.operations / self.acknowledged) if self.acknowledged else 0.0

    @property
    def percent(self) -> str:
        """`23 %`; `< 1 %` for a little more than nothing; `≥ 46 %`, rounded down, where it is a lower bound."""
        if not self.at_least:
            return share(self.share) if self.share >= 0.01 or not self.operations else "< 1 %"
        hundredths = 100 * self.share
        return f"≥ {floor(hundredths)} %" if hundredths >= 1 else f"≥ {floor(hundredths * 10) / 10:g} %"

    @property
    def counts(self) -> str:
        """`9,615 of 42,047`; `≥ 34,265 of 74,251`."""
        return f"{'≥ ' if self.at_least else ''}{whole(self.operations)} of {whole(self.acknowledged)}"


def lost_by(record: GuaranteeRecord) -> Lost:
    """What a fault cost, by the count of the result; of a result before 2026-11-28 by the rounds of a cluster, or else by the detail."""
    if record.lost_operations is not None:
        return Lost(record.lost_operations, record.acknowledged)
    if record.cluster_rounds:
        return Lost(sum(each.lost for each in record.cluster_rounds), record.acknowledged)
    operations, at_least = lost_operations_of(record.lost, record.detail)
    return Lost(operations, record.acknowledged, at_least)
