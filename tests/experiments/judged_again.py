"""Runs rounds in this process, and judges them again from their evidence."""

from __future__ import annotations

import io
from copy import deepcopy
from typing import Any

from storeproof.evidence import StoreEvidence, evidence_file, member_of, read_evidence
from storeproof.experiments.durability.replay import replay_workload
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.rounds_summary import WorkloadSummary


def run(rounds: StrikeRounds[Any], case: str = "durability.workload/process_crash") -> StoreEvidence:
    """All rounds; what follows from their evidence, as a file has it, is what the run found. Returns the evidence."""
    strike, summary = rounds.strikes[0](), rounds.workload.summary
    assert isinstance(summary, WorkloadSummary)
    again = deepcopy(summary)
    rounds.run()
    evidence = kept(rounds, case)
    if isinstance(again, LinearizabilitySummary):
        again.explains = False
    replay_workload(evidence, again, strike.name)
    assert [*again.parts()] == [*summary.parts()]
    assert again.cluster_rounds == summary.cluster_rounds
    assert [named(each) for each in again.findings] == [named(each) for each in summary.findings]
    for claimed in (True, False):
        assert again.outcome(claimed=claimed) is summary.outcome(claimed=claimed)
    return evidence


def kept(rounds: StrikeRounds[Any], case: str) -> StoreEvidence:
    """The evidence of rounds, as it is read from a file."""
    made = rounds.workload.evidence(case, "7 memory:only", "memory:only", cuts_off=rounds.strikes[0]().cuts_off)
    (found,) = read_evidence(io.BytesIO(evidence_file("r1", [member_of(made)])), "r1")
    return found


def named(finding: object) -> str:
    """What is wrong, without the part of a history that shows it, which is looked for in a run alone."""
    return str(finding).partition(": no order")[0]
