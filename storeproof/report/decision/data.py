"""A decision as JSON, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from storeproof.report.decision import words
from storeproof.result.needs.decision import Candidate, Decision
from storeproof.result.needs.judged_need import JudgedNeed


def decision_data(decision: Decision) -> dict[str, Any]:
    """All of it: the answer, each candidate with each need and its evidence, and what was read."""
    return {
        "decision": decision.needs.decision,
        "question": decision.needs.question,
        "answer": words.headline(decision),
        "candidates": [_candidate(each, front=each in decision.front) for each in decision.candidates],
        "looser": [{"need": each.need.id, "instead": each.instead.name, "candidates": list(each.candidates)} for each in decision.looser],
        "one_need_less": [{"need": each.need.id, "candidates": list(each.candidates), "gain": each.gain} for each in decision.dropped],
        "runs": [{"run": each.run, "started": each.side.result.run.started, "file": str(each.file)} for each in words.runs(decision)],
        "left_out": words.left_out(decision),
    }


def _candidate(candidate: Candidate, *, front: bool) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "stores": dict(candidate.targets),
        "verdict": words.mark(candidate),
        "front": front,
        "headroom": candidate.headroom,
        "lost_in_power_cut": candidate.lost and {"share": candidate.lost.share, "at_least": candidate.lost.at_least},
        "per_month": candidate.per_month,
        "needs": [_judged(each) for each in candidate.judged],
        "costs": [asdict(each) for each in candidate.costs],
    }


def _judged(found: JudgedNeed) -> dict[str, Any]:
    return {
        "need": found.need.id,
        "must": found.need.must,
        "store": found.target,
        "verdict": found.verdict,
        "reason": found.reason,
        "headroom": found.headroom,
        "command": found.command,
        "evidence": [{"run": each.source.run, "what": each.what, "detail": each.detail} for each in found.seen],
    }
