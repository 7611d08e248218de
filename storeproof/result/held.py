"""Which guarantee held, by what its faults did."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.outcome import REFUTED, SHOWN
from storeproof.result.model import GuaranteeRecord
from storeproof.spec.guarantee import LADDER


def highest_held(guarantees: Sequence[GuaranteeRecord]) -> str | None:
    """The highest guarantee that held, with all below it; `volatile` where the lowest with a fault was refuted; None without evidence."""
    held: str | None = None
    for name in LADDER[1:]:  # the lowest has no fault
        record = next((each for each in guarantees if each.guarantee == name), None)
        if record is not None and record.outcome in SHOWN:
            held = name
            continue
        if record is not None and record.outcome in REFUTED and record.rounds and held is None:
            held = LADDER[0]  # it lost data at a clean restart
        break  # a rung without evidence neither proves nor refutes the ones above
    return held
