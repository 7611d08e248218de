"""Whether the cases of transfers, sessions and contended keys under faults are what their histories show."""

from __future__ import annotations

from storeproof.conformance.histories.judged_rounds import JudgedRounds
from storeproof.conformance.histories.kept_case import check_case, kept_case
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.rounds_summary import WorkloadSummary
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.measured.cluster_round import case_rounds
from storeproof.result.model import RunInfo, StoreResult
from storeproof.spec import Target
from storeproof.spec.editions.records import Judge
from storeproof.spec.guarantee import GuaranteeName, NodeGuaranteeName

_COUNTED = (*SHOWN, Outcome.FAIL, Outcome.KNOWN_FAIL)
"""Outcomes that say what the rounds showed."""


def check_workload(
    kind: str,
    guarantee: GuaranteeName | NodeGuaranteeName,
    rounds: int,
    found: JudgedRounds | None,
    run: RunInfo,
    store: StoreResult,
    target: Target,
    known: KnownJudges,
    judge: Judge,
) -> list[str]:
    """In what the histories of a disputed case differ from the result.

    Args:
        rounds: how many the scale has.
        found: what they show; None: there are none.
        judge: whether it kept them.

    Raises:
        ClaimRefused: of a case that is not disputed the result says something else; or histories are missing, or not whole.
    """
    record = kept_case(f"{kind}/{guarantee}", found, store, kept=judge.workloads)
    if record is None or found is None or undecided(found):
        return []
    summary = found.summary
    assert isinstance(summary, WorkloadSummary), "its rounds are judged each by itself"
    if differs := check_case(record, found, run, target, known, claimed=summary.promised(target, guarantee), rounds=rounds):
        return differs
    if record.outcome in SHOWN and (summary.rounds != rounds or found.cut_short):
        raise ClaimRefused(Reason.ROUNDS, f"{record.id} has {summary.rounds} rounds that count, where the scale wants {rounds}")
    if record.outcome not in _COUNTED or found.cut_short:
        return []
    shows = [each for each in summary.parts() if each not in record.detail]
    kept = next((each for each in store.durability.failovers if each.case == record.id), None)
    if summary.cluster_rounds and (kept is None or kept != case_rounds(kept.case, kept.kind, summary.cluster_rounds)):
        shows.append("other rounds by node")
    if shows and record.id not in known.disputed:
        raise ClaimRefused(Reason.DURABILITY, f"{record.id} shows something else by its histories: {in_one_line(shows[0], 160)}")
    return [f"{record.id}: {each}" for each in shows]


def undecided(found: JudgedRounds) -> bool:
    """Whether the search for an order of its answers took longer than there was time for."""
    return isinstance(found.summary, LinearizabilitySummary) and bool(found.summary.undecided) and not found.summary.findings
