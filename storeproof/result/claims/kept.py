"""Whether a store kept what a text says it keeps."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.check import ANOMALIES
from storeproof.outcome import REFUTED, SHOWN
from storeproof.result.claims.judged import ClaimVerdict
from storeproof.result.compare import Side
from storeproof.result.measured.lost import lost_by
from storeproof.result.model import GuaranteeRecord
from storeproof.spec.guarantee import rank
from storeproof.spec.questions.claim import Kept


def judge_kept(kept: Kept, sides: Sequence[Side]) -> tuple[ClaimVerdict, str, Side | None]:
    """The verdict, what it rests on or why there is none, and the run with most faults behind it.

    One run in which an acknowledged write was lost refutes the claim, whatever others kept: a fault that does no harm proves little.
    """
    wanted = rank(kept.guarantee)
    tried = [
        (side, each)
        for side in sides
        if side.name == kept.target
        for each in side.store.durability.guarantees
        if each.rounds and 0 < rank(each.guarantee) <= wanted
    ]
    tried.sort(key=lambda pair: (rank(pair[1].guarantee), pair[1].rounds, pair[0].result.run.started), reverse=True)
    for side, each in tried:
        if each.outcome in REFUTED:
            return ClaimVerdict.REFUTED, f"{_harm(each)} in {each.rounds} faults ({each.guarantee})", side
    for side, each in tried:
        if rank(side.store.durability.proven or "") >= wanted and each.outcome in SHOWN:
            most = f"; at most {each.loss_bound * 100:.0f} % of such faults lose one" if each.loss_bound is not None else ""
            found = f"of {each.acknowledged:,} acknowledged writes in {each.rounds} faults ({each.guarantee}): none lost{most}"
            return ClaimVerdict.REPRODUCED, found, side
    if tried:
        return ClaimVerdict.CANNOT_SAY, f"{kept.guarantee} was tried, and neither held nor failed", tried[0][0]
    return ClaimVerdict.CANNOT_SAY, f"not measured: no fault struck {kept.target}", None


def _harm(record: GuaranteeRecord) -> str:
    """Operations of operations; then what was found of the records."""
    harms = [f"{count:,} {name}" for name in ANOMALIES if (count := getattr(record, name))]
    if not harms:
        return f"the store did not come back with its {record.acknowledged:,} acknowledged writes"
    return f"{lost_by(record).counts} acknowledged writes lost (records: {', '.join(harms)})"
