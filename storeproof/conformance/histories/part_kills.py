"""Whether the case of a composite store, one server of which was killed, is what its histories show. A result has no counts of it."""

from __future__ import annotations

from storeproof.conformance.histories.judged_rounds import JudgedRounds, no_better, outcome_by_histories
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.experiments.durability.strikes.part import part_kill, promised
from storeproof.experiments.fault_experiment import AT_LEAST
from storeproof.outcome import SHOWN, Outcome
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
    case = f"durability.{part_kill(role)}"
    says = next((each.outcome for each in store.outcomes if each.id == case), Outcome.NOT_RUN)
    if found is None:
        if judge.parts and says in SHOWN:
            raise ClaimRefused(Reason.EVIDENCE, f"{case} is {says} in the result, and there are no histories of it")
        return []
    if not target.parts:
        raise ClaimRefused(Reason.EVIDENCE, f"there are histories of {case}, and {target.store.name} is no composite store")
    rounds = known.scale(run.scale).durability.rounds
    if not all(found.spoiled[:-1]):
        first = found.spoiled.index(False) + 1
        raise ClaimRefused(Reason.ATTEMPTS, f"{case} was tried again after attempt {first}, which was not spoiled")
    if says in SHOWN and sum(found.spoiled) > max(AT_LEAST, rounds):
        raise ClaimRefused(Reason.ATTEMPTS, f"{case} is {says} after {sum(found.spoiled)} spoiled attempts, where a run gives up")
    shows = outcome_by_histories(found.summary, case, run, target, claimed=promised(target, role))
    if not no_better(says, shows):
        differs = f"{case} is {says} in the result, and {shows} by the histories"
        if case in known.disputed:
            return [differs]
        raise ClaimRefused(Reason.DURABILITY, differs)
    if says in SHOWN:
        _check_rounds(case, found, rounds)
    return []


def _check_rounds(case: str, found: JudgedRounds, wanted: int) -> None:
    """Raises `ClaimRefused`: a server was not killed `wanted` times at the end of a burst and as often amid a stream."""
    for shape, number in (("burst", found.summary.bursts), ("stream", found.summary.streams)):
        if number != wanted:
            raise ClaimRefused(Reason.ROUNDS, f"{case}: {number} kills under the load `{shape}`, where the scale wants {wanted}")
    if not found.read_all:
        raise ClaimRefused(Reason.ROUNDS, f"{case}: the last audit did not read the keys of all rounds")
