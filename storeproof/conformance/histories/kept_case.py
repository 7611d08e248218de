"""Whether a case of which a result keeps no counts is what its histories show."""

from __future__ import annotations

from storeproof.blame import judge_error
from storeproof.conformance.histories.judged_rounds import JudgedRounds, no_better, outcome_by_histories
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.contract import Refused
from storeproof.errors import StoreDied, Unusable
from storeproof.evidence import Broken
from storeproof.experiments.fault_experiment import AT_LEAST
from storeproof.outcome import SHOWN, Outcome
from storeproof.result.model import OutcomeRecord, RunInfo, StoreResult
from storeproof.spec import Target


def kept_case(name: str, found: JudgedRounds | None, store: StoreResult, *, kept: bool) -> OutcomeRecord | None:
    """The record of a case in the result; None if there is nothing to hold it against.

    Args:
        name: after `durability.`.
        kept: whether the judge keeps its histories.

    Raises:
        ClaimRefused: its histories are missing, or there are some of a case that the result does not have.
    """
    case = f"durability.{name}"
    record = next((each for each in store.outcomes if each.id == case), None)
    if found is None:
        if kept and record is not None and record.outcome in SHOWN:
            raise ClaimRefused(Reason.EVIDENCE, f"{case} is {record.outcome} in the result, and there are no histories of it")
        return None
    if record is None:
        raise ClaimRefused(Reason.EVIDENCE, f"there are histories of {case}, which is no case of the result")
    return record


def check_case(
    record: OutcomeRecord, found: JudgedRounds, run: RunInfo, target: Target, known: KnownJudges, *, claimed: bool, rounds: int
) -> list[str]:
    """In what the histories of a disputed case differ from its outcome.

    Args:
        claimed: whether the variant promises what was tried.
        rounds: how many there are, not counting those that were spoiled.

    Raises:
        ClaimRefused: a case that is not disputed has a better outcome than its histories show; or they are not whole.
    """
    case, says = record.id, record.outcome
    if not all(found.spoiled[:-1]):
        first = found.spoiled.index(False) + 1
        raise ClaimRefused(Reason.ATTEMPTS, f"{case} was tried again after attempt {first}, which was not spoiled")
    if says in SHOWN and sum(found.spoiled) > max(AT_LEAST, rounds):
        raise ClaimRefused(Reason.ATTEMPTS, f"{case} is {says} after {sum(found.spoiled)} spoiled attempts, where a run gives up")
    shows = outcome_by_histories(found.summary, case, run, target, claimed=claimed)
    if found.broken is not None and not found.summary.findings:
        shows = _of_broken(found.broken, claimed=claimed, cuts_off=found.cuts_off)
        if shows is Outcome.FAIL and says is Outcome.KNOWN_FAIL:  # what the store said is in its log alone
            shows = says
    says_nothing = found.spoiled[-1] and not found.summary.findings and says not in SHOWN
    if no_better(says, shows) or says_nothing:
        return []
    differs = f"{case} is {says} in the result, and {shows} by the histories"
    if case in known.disputed:
        return [differs]
    raise ClaimRefused(Reason.DURABILITY, differs)


def _of_broken(broken: Broken, *, claimed: bool, cuts_off: bool) -> Outcome:
    """The outcome of a case that ends with an unusable store. `cuts_off`: the fault cut its power."""
    died = Unusable if cuts_off else StoreDied
    error = Refused(broken.reason) if broken.needs_repair else died(broken.reason, broken.log)
    return judge_error(error, claimed=claimed).outcome
