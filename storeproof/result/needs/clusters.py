"""Judges what a role needs of a cluster: what it survives, how soon it takes writes again, and what its reads show meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storeproof.outcome import REFUTED, SHOWN
from storeproof.result.measured.cluster_round import ClusterRoundRecord
from storeproof.result.measured.failover import failover_in_words
from storeproof.result.model import GuaranteeRecord
from storeproof.result.needs.bounds import first_line, losses_in_words
from storeproof.result.needs.joined_results import Evidence
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen, seen_in_words, to_show
from storeproof.result.needs.need import Need
from storeproof.result.older_formats import without_failover_of
from storeproof.spec import Spec
from storeproof.spec.questions.needs import ReadsOfCluster, Role
from storeproof.units import plural, seconds, whole

_READ_CASES: Final[dict[ReadsOfCluster, str]] = {"linearizable": "linearizable", "session": "sessions"}
"""By what reads must be: the workload whose histories show it, in every fault."""
_ONE_SERVER: Final = "it is one server, and no cluster"


def judge_survives(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:  # noqa: ARG001 - all judges are called alike
    """No acknowledged write was lost by any of its faults."""
    found = evidence.struck(need.name)
    if found is None:
        return _untried(need, evidence, f"{need.name} was not tested", need.name, spec)
    source, record = found
    told = losses_in_words(record)
    broken = record.outcome in REFUTED
    reason = f"{told}{_worst(record.cluster_rounds)}" if broken else told
    seen = (Seen(source, f"durability.{need.name}", told),)
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET if broken else NeedVerdict.MET, reason, seen)


def judge_failover(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """The slowest round decides. Where storeproof promoted the node, the time is without detecting the loss: it shows only misses."""
    assert role.failover_within is not None
    faults = role.failing_over
    found = {fault: each for fault in faults if (each := evidence.struck(fault)) is not None}
    if missing := [fault for fault in faults if fault not in found]:
        return _untried(need, evidence, f"{', '.join(missing)} was not tested", missing[0], spec)
    records = [record for _, record in found.values()]
    seen = tuple(Seen(source, f"durability.{fault}", losses_in_words(record)) for fault, (source, record) in found.items())
    slowest = max(records, key=lambda each: max(each.recovery_seconds, default=0.0))
    took = [second for each in records for second in each.recovery_seconds]
    if stuck := sum(map(rounds_without_failover, records)):
        reason = f"in {plural(stuck, 'fault')} no other node took writes in time"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, reason, seen)
    if not took:
        return _untried(need, evidence, f"no failover of {', '.join(faults)} was seen", faults[0], spec)
    how = failover_in_words([each for record in records for each in record.cluster_rounds])
    told = f"{seconds(min(took))} to {seconds(max(took))} after the fault{f' ({how})' if how else ''}"
    reason = f"writes were taken again {told}, at the latest by {slowest.guarantee}"
    if max(took) > role.failover_within:
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, reason, seen)
    if evidence.topology is not None and evidence.topology.failover == "operator":
        reason = f"{reason}, but promoted by storeproof: with what detects the loss and promotes a node it is not tested"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, reason, seen)
    return JudgedNeed(need, evidence.target, NeedVerdict.MET, f"{reason}, in {plural(len(took), 'fault')}", seen)


def judge_reads(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """What clients read during the faults, of those that the role names; of one server, of its crash."""
    assert role.reads is not None
    faults = role.failing_over if _is_cluster(evidence) else ("process_crash",)
    cases = {fault: f"durability.{_READ_CASES[role.reads]}/{fault}" for fault in faults}
    found = {fault: each for fault, case in cases.items() if (each := evidence.case(case)) is not None}
    seen = tuple(Seen(source, case.id, seen_in_words(case)) for source, case in found.values())
    for fault, (_, case) in found.items():
        if case.outcome not in SHOWN:
            return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, f"{fault}: {first_line(case.detail)}", seen)
    if missing := [fault for fault in faults if fault not in found]:
        command = to_show(evidence.target, cases[missing[0]], spec)
        reason = f"reads during {', '.join(missing)} were not tested"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, reason, seen, command)
    reason = "; ".join(f"{fault}: {first_line(case.detail)}" for fault, (_, case) in found.items())
    return JudgedNeed(need, evidence.target, NeedVerdict.MET, reason, seen)


def rounds_without_failover(record: GuaranteeRecord) -> int:
    """Rounds in which no other node took writes, by a fault that does not keep them from it; of an older result what its detail says."""
    return without_failover_of(record.detail) if record.without_failover is None else record.without_failover


def _is_cluster(evidence: Evidence) -> bool:
    return evidence.sources[0].store.topology != "single"


def _untried(need: Need, evidence: Evidence, why: str, fault: str, spec: Spec) -> JudgedNeed:
    """One server has no other node that could go on; of a cluster a run would show it."""
    if not _is_cluster(evidence):
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, _ONE_SERVER)
    command = to_show(evidence.target, f"test_guarantee and {fault}", spec)
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, why, command=command)


def _worst(rounds: Sequence[ClusterRoundRecord]) -> str:
    """The fault that lost most, and how often it struck so; nothing where no round is known, or there is one fault only."""
    lost = dict[str, list[int]]()
    for each in rounds:
        if each.lost:
            lost.setdefault(each.fault, []).append(each.lost)
    if not lost:
        return ""
    fault, losses = max(lost.items(), key=lambda each: sum(each[1]))
    most = "most" if len(lost) > 1 else "all"
    return f", {most} by {fault}: {whole(sum(losses))} in {plural(len(losses), 'round')}"
