"""Judges one need by what is known of one store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from storeproof.outcome import REFUTED, SHOWN
from storeproof.result.needs.bounds import back_within, first_line, loss_within, losses_in_words
from storeproof.result.needs.clusters import judge_failover, judge_reads, judge_survives
from storeproof.result.needs.isolation import judge_isolation
from storeproof.result.needs.joined_results import Evidence
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen, missed_in_words, seen_in_words, to_show
from storeproof.result.needs.loads import judge_p99, judge_rate
from storeproof.result.needs.need import Need, Subject
from storeproof.spec import LADDER, Spec
from storeproof.spec.cases import metadata_case
from storeproof.spec.questions.needs import Role
from storeproof.support import Support, telling, way_in_words
from storeproof.units import plural

_NAMED: Final = 5
"""Capabilities that a command names at most."""
_SUPPORT: Final = {NeedVerdict.MET: Support.SUPPORTED, NeedVerdict.NOT_SHOWN: Support.NOT_SHOWN, NeedVerdict.NOT_MET: Support.UNSUPPORTED}


def judge_need(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """Whether the store meets the need."""
    return _JUDGES[need.subject](need, role, evidence, spec)


def _model(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:  # noqa: ARG001 - all judges are called alike
    """Random histories of the model's operations show it: whole records are written, read and removed."""
    case = f"stateful.{need.name}"
    found = evidence.case(case)
    if found is None and evidence.models is not None and need.name not in evidence.models:
        records = f"records of the kind {spec.models[need.name].record.kind}" if need.name in spec.own_models else f"records of {need.name}"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, f"its file does not claim {records}")
    if found is None:
        command = to_show(evidence.target, f"stateful.{need.name}/", spec)
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, f"no result has tried records of {need.name}", command=command)
    source, outcome = found
    seen = (Seen(source, case, seen_in_words(outcome)),)
    if outcome.outcome in SHOWN:
        return JudgedNeed(need, evidence.target, NeedVerdict.MET, "random histories were answered correctly", seen)
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, missed_in_words(outcome), seen)


def _capability(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """One of several alternatives is enough. What failed counts as what is lacking: an alternative that was not tried may still do.

    Cases have records of their own, whose fields they name: with a model of the reader's own, the reason says on which it was shown.
    """
    judged = [_together(need, names, evidence, spec) for names in need.capabilities]
    if role.model in spec.own_models:
        judged = [_on_others(each, names, spec) for each, names in zip(judged, need.capabilities, strict=True)]
    position = telling([_SUPPORT[each.verdict] for each in judged])
    found = judged[position]
    if found.verdict is not NeedVerdict.MET or len(judged) == 1:
        return found
    name = need.alternatives[position]
    way = way_in_words(name, spec.capabilities[name].title if name in spec.capabilities else "")
    return replace(found, alternative=position, way=way, reason=f"by {way}: {found.reason}")


def _on_others(judged: JudgedNeed, names: Sequence[str], spec: Spec) -> JudgedNeed:
    models = sorted({spec.capabilities[name].model for name in names})
    return replace(judged, reason=f"{judged.reason}, on records of {', '.join(models)}") if judged.verdict is NeedVerdict.MET else judged


def _together(need: Need, names: Sequence[str], evidence: Evidence, spec: Spec) -> JudgedNeed:
    """Capabilities that are all needed."""
    seen, lacking, open_ = list[Seen](), dict[str, str](), dict[str, str]()
    for name in names:
        deciding = spec.deciding_cases[name]
        if not deciding:
            open_[name] = "has no case that decides in this edition"
        for case, revision in deciding.items():
            found = evidence.case(case)
            if found is None:
                open_.setdefault(name, "was not tried")
            elif revision is not None and found[1].revision != revision:
                open_.setdefault(name, "was tried in an earlier form of its case")
            else:
                source, outcome = found
                seen.append(Seen(source, case, seen_in_words(outcome)))
                if outcome.outcome not in SHOWN:
                    lacking.setdefault(name, missed_in_words(outcome))
    if lacking:
        first, why = next(iter(lacking.items()))
        several = f"{len(lacking)} of {len(names)} capabilities: {', '.join(lacking)}; {first}: {why}"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, why if len(names) == 1 else several, tuple(seen))
    if open_:
        first, why = next(iter(open_.items()))
        command = to_show(evidence.target, " or ".join(f"{each}/" for each in list(open_)[:_NAMED]), spec)
        reason = why if len(names) == 1 else f"{len(open_)} of {len(names)} not tried, such as {first}"
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, reason, tuple(seen), command)
    return JudgedNeed(need, evidence.target, NeedVerdict.MET, plural(len(seen), "case") + " answered correctly", tuple(seen))


def _guarantee(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """Held with all below it, for what belongs to records too; what was refuted counts, whatever an earlier result says."""
    wanted = LADDER.index(role.guarantee)
    for fault in LADDER[1 : wanted + 1]:
        found = evidence.struck(fault)
        if found is None:
            claimed = evidence.sources[0].store.durability.claimed
            if claimed in LADDER and LADDER.index(claimed) < wanted:
                return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, f"the variant promises {claimed} and no more")
            command = to_show(evidence.target, "test_guarantee", spec)
            return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, f"{fault} was not tried", command=command)
        source, record = found
        seen = (Seen(source, f"durability.{fault}", losses_in_words(record)),)
        if record.outcome in REFUTED:
            return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, f"{fault}: {losses_in_words(record)}", seen)
        if (beside := evidence.case(metadata_case(fault))) is not None and beside[1].outcome in REFUTED:
            told = first_line(beside[1].detail)
            return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, told, (*seen, Seen(beside[0], metadata_case(fault), told)))
    return JudgedNeed(need, evidence.target, NeedVerdict.MET, losses_in_words(record), seen)


def _loss(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """The worst fault counts: a number of writes, or those of a number of seconds."""
    assert need.fault is not None
    fault, most = need.fault, role.lost_at_most[need.fault]
    found = evidence.struck(fault)
    if found is None:
        command = to_show(evidence.target, "test_guarantee", spec)
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, f"{fault} was not tried", command=command)
    source, record = found
    seen = (Seen(source, f"durability.{fault}", losses_in_words(record)),)
    met, reason = loss_within(record, most)
    return JudgedNeed(need, evidence.target, NeedVerdict.MET if met else NeedVerdict.NOT_MET, reason, seen)


def _back(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """After a kill -9, as its clients saw it under load."""
    assert role.back_within is not None
    for source in evidence.sources:
        found = back_within(source.store.outages, role.back_within)
        if found is not None:
            seen = (Seen(source, "performance.outage/crash", found.reason),)
            return JudgedNeed(need, evidence.target, NeedVerdict.MET if found.met else NeedVerdict.NOT_MET, found.reason, seen)
    command = to_show(evidence.target, "test_random_histories or test_outage and crash", spec)
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, "no crash under load was measured", command=command)


_JUDGES: Final[Mapping[Subject, Callable[[Need, Role, Evidence, Spec], JudgedNeed]]] = {
    "model": _model,
    "capability": _capability,
    "guarantee": _guarantee,
    "loss": _loss,
    "survives": judge_survives,
    "failover": judge_failover,
    "reads": judge_reads,
    "isolation": judge_isolation,
    "back": _back,
    "rate": judge_rate,
    "p99": judge_p99,
}
