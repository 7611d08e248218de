"""Judges the load of a role: the rate, and the response time at that rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from storeproof.outcome import SHOWN
from storeproof.result.measurement import Measurement
from storeproof.result.needs.bounds import load_in_words, p99_in_words, p99_within
from storeproof.result.needs.joined_results import Evidence, JoinedPart
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen, missed_in_words, seen_in_words, to_show
from storeproof.result.needs.need import Need
from storeproof.spec import Spec, Workload
from storeproof.spec.operation import OperationName
from storeproof.spec.questions.needs import Load, Role, requests_case
from storeproof.units import amount, times

SHARE_IS_ALL: Final[Mapping[OperationName, Mapping[str, Any]]] = {"get": {}, "put": {}, "exists": {}, "set_field": {"path": ("*",)}}
"""Operations of a mix that need nothing beside their share, and the rest of their description."""
_ALIKE: Final = 0.05
"""By which the share of an operation may differ from the wanted one."""


def judge_rate(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """The highest rate that was measured decides, of the slowest variation of the records: by the low end of its interval, or, where the
    load generator was the limit, by what it reached. One whose whole interval is lower refutes the need. Of a rate that drifts all rounds
    are its interval."""
    assert role.load is not None
    if (refuted := _refuted(need, role, evidence)) is not None:
        return refuted
    found = list(_measured(role, evidence, spec, "closed"))
    if not found:
        return _unmeasured(need, role, evidence, spec, "closed")
    fastest: dict[str, tuple[JoinedPart, Measurement]] = {}
    for each in found:
        known = fastest.setdefault(each[1].record, each)
        if _lowest(each[1]) > _lowest(known[1]):
            fastest[each[1].record] = each
    source, best = min(fastest.values(), key=lambda each: _lowest(each[1]))
    rate, enough = best.throughput, role.load.rate
    sign = "at least " if best.at_least else ""
    reached = f"{sign}{amount(rate.median)} [{amount(rate.low)}, {amount(rate.high)}] {rate.unit}, {best.grade}, {load_in_words(best)}"
    if best.trend.drifting:
        reached = f"{reached}, drifting, its slowest round {amount(_lowest(best))}"
    seen = (Seen(source, _name(best), reached, best),)
    headroom = _lowest(best) / enough
    if headroom >= 1:
        verdict, reason = NeedVerdict.MET, f"{times(headroom)} times what is needed: {reached}"
    elif best.at_least or _highest(best) >= enough:
        verdict, reason = NeedVerdict.NOT_SHOWN, f"{reached}, which does not decide it"
    else:
        verdict, reason = NeedVerdict.NOT_MET, f"{times(rate.median / enough)} of what is needed: {reached}"
    return JudgedNeed(need, evidence.target, verdict, reason, seen, headroom=headroom, at_least=best.at_least)


def judge_p99(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """Only an open loop shows it, at a rate that decides it."""
    assert role.load is not None
    assert role.load.p99_ms is not None
    if (refuted := _refuted(need, role, evidence)) is not None:
        return refuted
    found = list(_measured(role, evidence, spec, "open"))
    decided = p99_within([each for _, each in found], role.load.rate, role.load.p99_ms)
    if decided is not None:
        met, best = decided
        source = next(source for source, each in found if each is best)
        reason = p99_in_words(best)
        seen = (Seen(source, _name(best), reason, best),)
        headroom = (best.rate or 0) / role.load.rate if met else None
        return JudgedNeed(need, evidence.target, NeedVerdict.MET if met else NeedVerdict.NOT_MET, reason, seen, headroom=headroom)
    return _unmeasured(need, role, evidence, spec, "open")


def same_load(load: Load, model: str, workload: Workload) -> bool:
    """Whether a workload asks for the same: the one that is named, or the same operations and requests in the same shares."""
    if load.workload is not None:
        return workload.workload == load.workload
    if workload.model != model or any(mix.batch > 1 for mix in workload.mix):
        return False
    given: dict[str, int] = {}
    for mix in workload.mix:
        given[mix.asked] = given.get(mix.asked, 0) + mix.weight
    return same_shares(load, given)


def same_shares(load: Load, given: Mapping[str, int]) -> bool:
    """Whether weights are those of a mix, to within five per cent of the whole. `given`: by operation, with its request (`Mix.asked`)."""
    weights: dict[str, int] = {}
    for each in load.mix:
        weights[each.asked] = weights.get(each.asked, 0) + each.weight
    wanted, there = _shares(weights), _shares(given)
    return wanted.keys() == there.keys() and all(abs(there[name] - share) <= _ALIKE for name, share in wanted.items())


def measurable(load: Load, model: str, spec: Spec) -> bool:
    """Whether a load says all that a measurement must know: a workload does, requests do, and shares of operations that need no more."""
    named = any(same_load(load, model, each) for each in spec.workloads.values())
    return named or all(each.operation in SHARE_IS_ALL or each.request is not None for each in load.mix)


def _refuted(need: Need, role: Role, evidence: Evidence) -> JudgedNeed | None:
    """A store that refuses a request of the load, or answers it wrong, cannot have the rate; None where nothing shows that."""
    case = requests_case(need.role, role)
    found = evidence.case(case) if case is not None else None
    if case is None or found is None or found[1].outcome in SHOWN:
        return None
    source, outcome = found
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, missed_in_words(outcome), (Seen(source, case, seen_in_words(outcome)),))


def _shares(weights: Mapping[str, int]) -> dict[str, float]:
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _measured(role: Role, evidence: Evidence, spec: Spec, loop: str) -> Iterator[tuple[JoinedPart, Measurement]]:
    """Numbers that count: valid, in an open loop not drifting, of the same load, with the indexes and with no more clients than the role
    has. Of the preferred source that has any."""
    load = role.load
    assert load is not None
    for source in evidence.sources:
        found = [
            (source, each)
            for each in source.store.measurements
            if each.load_model == loop and not each.invalid and not (loop == "open" and each.trend.drifting)
            if each.workload in spec.workloads and same_load(load, role.model, spec.workloads[each.workload])
            if each.indexes == load.indexes and each.pipeline == 1 and load.record in (None, each.record)
            if load.clients is None or each.clients <= load.clients
        ]
        if found:
            yield from found
            return


def _unmeasured(need: Need, role: Role, evidence: Evidence, spec: Spec, loop: str) -> JudgedNeed:
    assert role.load is not None
    fit = [name for name, each in spec.workloads.items() if each.loop == loop and same_load(role.load, role.model, each)]
    if not fit:
        kind = "at a fixed rate" if loop == "open" else "of this mix"
        own = role.model in spec.own_models
        reason = "no workload is of a model of your own" if own else f"no workload {kind} is specified for {role.model}"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, reason)
    chosen = f"stateful.{role.model}/ or test_workload and ({' or '.join(fit)})"
    command = to_show(evidence.target, chosen, spec)
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, f"{' or '.join(fit)}: no valid number", command=command)


def _lowest(measured: Measurement) -> float:
    """What the store reached for certain."""
    if measured.trend.drifting:
        return min(each.throughput for each in measured.rounds)
    return measured.throughput.median if measured.at_least else measured.throughput.low


def _highest(measured: Measurement) -> float:
    """What it did not exceed."""
    return max(each.throughput for each in measured.rounds) if measured.trend.drifting else measured.throughput.high


def _name(measured: Measurement) -> str:
    more = (f"{measured.pipeline}p" if measured.pipeline > 1 else "", f"{measured.rate:.0f}r" if measured.rate else "", measured.record)
    return "/".join(filter(None, (f"performance.{measured.workload}", f"{measured.indexes}i", f"{measured.clients}c", *more)))
