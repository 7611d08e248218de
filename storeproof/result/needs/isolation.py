"""Whether the transactions of a store guarantee what a role needs: what its levels claim, and what random transactions showed of them."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.check import FORBIDS, is_at_least
from storeproof.outcome import SHOWN, Outcome
from storeproof.result.model import OutcomeRecord
from storeproof.result.needs.joined_results import Evidence
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict, Seen, missed_in_words, seen_in_words, to_show
from storeproof.result.needs.need import Need
from storeproof.spec import Spec, shipped
from storeproof.spec.cases import ISOLATION, isolation_case
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import Guarantees, in_words
from storeproof.spec.questions.needs import Role
from storeproof.units import whole

_BEST_FIRST = (NeedVerdict.MET, NeedVerdict.NOT_SHOWN, NeedVerdict.NOT_MET)


def judge_isolation(need: Need, role: Role, evidence: Evidence, spec: Spec) -> JudgedNeed:
    """One level is enough; of several that are met, the weakest is named.

    An edition from before there were such cases demands none of them: what its levels must be tried by is then that of the draft.
    """
    assert role.isolation is not None
    trying = spec if spec.mixes else shipped()
    claims = _claims(evidence)
    enough = [level for level in LEVELS if level in claims and is_at_least(claims[level], role.isolation)]
    if enough:
        judged = [_at(level, claims[level], need, role.isolation, evidence, trying) for level in enough]
        return min(judged, key=lambda each: _BEST_FIRST.index(each.verdict))
    if evidence.levels is None and not claims:
        return JudgedNeed(need, evidence.target, NeedVerdict.NOT_SHOWN, "neither a file of it nor a result says what its levels guarantee")
    offered = [f"begin({level}) {in_words(claims[level])}" for level in LEVELS if level in claims]
    why = f"no level of it claims as much: {', '.join(offered)}" if offered else "it claims no isolation level"
    return JudgedNeed(need, evidence.target, NeedVerdict.NOT_MET, why)


def _claims(evidence: Evidence) -> Mapping[Isolation, Guarantees]:
    """What is claimed of each level: in the store's file, or where the project has none, in the results."""
    if evidence.levels is not None:
        return {level: claim.guarantees for level, claim in evidence.levels.items()}
    cases = (each for source in reversed(evidence.sources) for each in source.cases.values())
    counts = (each.isolation for each in cases if each.id.startswith(f"{ISOLATION}/"))
    return {each.level: each.guarantees for each in counts if each is not None}


def _at(level: Isolation, claimed: Guarantees, need: Need, wanted: Guarantees, evidence: Evidence, trying: Spec) -> JudgedNeed:
    """What was seen at one level that claims as much. A mix that the store cannot be tried by, as it does not append, shows nothing; reads
    at several nodes have a claim of their own."""
    asked = f"begin({level})" + f", which claims {in_words(claimed)}" * (claimed != wanted)
    names = {mix: isolation_case(level, mix) for mix, each in trying.mixes.items() if not each.readers}
    tried = {mix: found for mix, case in names.items() if (found := evidence.case(case)) is not None}
    open_ = [mix for mix in names if mix not in tried]
    cases = [case for _, case in tried.values()]
    seen = tuple(Seen(source, case.id, seen_in_words(case)) for source, case in tried.values())
    counts = [case.isolation for case in cases if case.outcome in SHOWN and case.isolation is not None]

    def judged(verdict: NeedVerdict, reason: str, command: str = "") -> JudgedNeed:
        return JudgedNeed(need, evidence.target, verdict, reason, seen, command)

    if refuting := [case for case in cases if _refutes(case, wanted)]:
        return judged(NeedVerdict.NOT_MET, f"{asked}: {missed_in_words(refuting[0])}")
    if broken := [case for case in cases if case.outcome not in (*SHOWN, Outcome.UNSUPPORTED)]:
        return judged(NeedVerdict.NOT_SHOWN, f"{asked}: {missed_in_words(broken[0])}; {in_words(wanted)} allows that")
    if open_:
        command = to_show(evidence.target, f"{ISOLATION}/{level}/", trying)
        by = f" by {', '.join(open_)}" if tried else ""
        return judged(NeedVerdict.NOT_SHOWN, f"no result says anything of begin({level}){by}", command)
    if not counts:
        return judged(NeedVerdict.NOT_MET, f"{asked}: {missed_in_words(cases[0])}")
    committed, contended = sum(each.committed for each in counts), sum(each.contended for each in counts)
    return judged(NeedVerdict.MET, f"{asked}: not refuted by {whole(committed)} transactions, {whole(contended)} of them contended")


def _refutes(case: OutcomeRecord, wanted: Guarantees) -> bool:
    """Whether something was seen that is forbidden where it is needed; or the case failed, and by no anomaly: data was read that no client
    wrote."""
    anomalies = case.isolation.anomalies if case.isolation is not None else []
    if any((each.kind, each.order) in FORBIDS[wanted] for each in anomalies):
        return True
    failed = case.outcome not in (*SHOWN, Outcome.UNSUPPORTED)
    return failed and not any(each.forbidden for each in anomalies)
