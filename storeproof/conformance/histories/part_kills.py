"""Whether the case of a composite store, one server of which was killed, is what its histories show. A result has no counts of it."""

from __future__ import annotations

from storeproof.conformance.histories.judged_rounds import JudgedRounds
from storeproof.conformance.histories.kept_case import check_case, kept_case
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strikes.part import part_kill, promised
from storeproof.outcome import SHOWN
from storeproof.result.model import RunInfo, StoreResult
from storeproof.spec import Target
from storeproof.spec.editions.records import Judge
from storeproof.spec.store import Role


def check_part_kill(
    role: Role, found: JudgedRounds | None, run: RunInfo, store: StoreResult, target: Target, known: KnownJudges, judge: Judge
) -> list[str]:
    """In what the histories of a disputed case differ from its outcome.

    Args:
        found: what they show; None: there are none.
        judge: whether it kept them.

    Raises:
        ClaimRefused: a case that is not disputed has a better outcome than its histories show; or they are missing, or not whole.
    """
    name, rounds = part_kill(role), known.scale(run.scale).durability.rounds
    record = kept_case(name, found, store, kept=judge.parts)
    if record is None or found is None:
        return []
    if not target.parts:
        raise ClaimRefused(Reason.EVIDENCE, f"there are histories of {record.id}, and {target.store.name} is no composite store")
    differs = check_case(record, found, run, target, known, claimed=promised(target, role), rounds=rounds)
    if not differs and record.outcome in SHOWN:
        _check_rounds(record.id, found, rounds)
    return differs


def _check_rounds(case: str, found: JudgedRounds, wanted: int) -> None:
    """Raises `ClaimRefused`: a server was not killed `wanted` times at the end of a burst and as often amid a stream."""
    assert isinstance(found.summary, DurabilitySummary), "its clients write records"
    for shape, number in (("burst", found.summary.bursts), ("stream", found.summary.streams)):
        if number != wanted:
            raise ClaimRefused(Reason.ROUNDS, f"{case}: {number} kills under the load `{shape}`, where the scale wants {wanted}")
    if not found.read_all:
        raise ClaimRefused(Reason.ROUNDS, f"{case}: the last audit did not read the keys of all rounds")
