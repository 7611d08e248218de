"""Whether anomalies that analyses report were seen in results too. Their absence refutes nothing: it is given with how much was tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from storeproof.outcome import TELLING, Outcome
from storeproof.result.claims.judged import AnomalyTried, AnomalyVerdict, ReportedAnomaly
from storeproof.result.compare import Side
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.result.measured.lost import lost_by
from storeproof.result.product import short_product
from storeproof.run_command import RunCommand
from storeproof.spec import Spec
from storeproof.spec.cases import isolation_case
from storeproof.spec.isolation import ANOMALIES, ORDERS, AnomalyKind
from storeproof.spec.questions.analysis import Analysis, ReportedIsolation, ReportedLoss, ReportedOther

_SHOWN_BY: Final[dict[AnomalyKind, frozenset[AnomalyKind]]] = {
    "G-nonadjacent": frozenset({"G0", "G1c", "G-single"}),
    "G2": frozenset({"G2-item"}),
}
"""Kinds beside which another one is not looked for (`storeproof.check.isolation.find`): that it is not listed then says nothing."""


class _Trial(NamedTuple):
    """One case or fault of one store."""

    side: Side
    number: int
    """Contended transactions, or rounds; 0: it says nothing."""
    told: str
    """What was seen, or why it says nothing; empty where nothing was seen."""


def judge_analyses(analyses: Iterable[Analysis], sides: Sequence[Side], spec: Spec) -> list[ReportedAnomaly]:
    """Of each anomaly of each analysis, in the order of their files."""
    return [found for analysis in analyses for found in _judge_analysis(analysis, sides, spec)]


def _judge_analysis(analysis: Analysis, sides: Sequence[Side], spec: Spec) -> Iterator[ReportedAnomaly]:
    for each in analysis.reported:
        there = [side for target in each.tried_on for side in sides if side.name == target]
        if isinstance(each, ReportedIsolation):
            for kind in each.seen:
                trials = [_transactions(each, kind, side, spec) for side in there]
                yield _judged(analysis, each, trials, spec, anomaly=ANOMALIES[kind] + ORDERS[each.order], level=each.level)
        elif isinstance(each, ReportedLoss):
            trials = [_rounds(each, side) for side in there]
            yield _judged(analysis, each, trials, spec, anomaly="acknowledged writes lost", settings=each.settings)
        else:
            yield _judged(analysis, each, [], spec, anomaly=each.what)


def _transactions(reported: ReportedIsolation, kind: AnomalyKind, side: Side, spec: Spec) -> _Trial:
    """Of all mixes at the level that read at as many nodes, of which one that shows it is enough."""
    several = reported.nodes == "several"
    mixes = [name for name, mix in spec.mixes.items() if (mix.across_nodes if several else not mix.of_a_cluster)]
    wanted = {isolation_case(reported.level, name) for name in mixes}
    cases = [each for each in side.store.outcomes if each.id in wanted and each.outcome is not Outcome.EXCLUDED]
    judged = [each.isolation for each in cases if each.isolation is not None and each.outcome in TELLING]
    after = [seen.after for each in judged for seen in each.anomalies if (seen.kind, seen.order) == (kind, reported.order)]
    looked = [each for each in judged if not _is_hidden(each, kind, reported)]
    if after:
        return _Trial(side, sum(each.contended for each in judged), f"first after {min(after):,} commits")
    if looked:
        return _Trial(side, sum(each.contended for each in looked), "")
    if judged:
        return _Trial(side, 0, f"{side.name}: it is not looked for beside the anomalies that were seen")
    return _Trial(side, 0, f"{side.name}: {cases[0].outcome}: {cases[0].why}" if cases else "")


def _is_hidden(counts: IsolationCounts, kind: AnomalyKind, reported: ReportedIsolation) -> bool:
    """Whether something else was seen beside which it is left out."""
    return any(seen.kind in _SHOWN_BY.get(kind, ()) or (seen.kind == kind and seen.order != reported.order) for seen in counts.anomalies)


def _rounds(reported: ReportedLoss, side: Side) -> _Trial:
    """Of all faults that are like those of the analysis."""
    struck = [each for each in side.store.durability.guarantees if each.guarantee in reported.after and each.rounds]
    rounds, lost = sum(each.rounds for each in struck), [each for each in struck if lost_by(each).operations]
    told = ", ".join(f"{lost_by(each).counts} after {each.guarantee}" for each in lost)
    return _Trial(side, rounds, f"{told}, in {sum(each.faults_with_loss for each in lost)} of {rounds} rounds" if lost else "")


def _judged(
    analysis: Analysis,
    reported: ReportedIsolation | ReportedLoss | ReportedOther,
    trials: Sequence[_Trial],
    spec: Spec,
    *,
    anomaly: str,
    level: str = "",
    settings: str = "",
) -> ReportedAnomaly:
    tried = [
        AnomalyTried(
            name=each.side.name,
            product=short_product(each.side.store.title, each.side.store.version),
            run=each.side.result.run.id,
            number=each.number,
            seen=each.told,
        )
        for each in trials
        if each.number
    ]
    seen = [each for each in tried if each.seen]
    if any(_is_own(analysis, each) for each in seen):
        verdict = AnomalyVerdict.REPRODUCED
    elif seen:
        verdict = AnomalyVerdict.STILL_SO
    else:
        verdict = AnomalyVerdict.NOT_SEEN if tried else AnomalyVerdict.CANNOT_SAY
    said: dict[str, Any] = {}
    if verdict is AnomalyVerdict.CANNOT_SAY:
        said = {"reason": _reason(analysis, reported, trials, spec), "command": _command(reported, spec)}
    return ReportedAnomaly(
        analysis=analysis.analysis,
        title=analysis.title,
        source=analysis.source,
        year=analysis.year,
        kind=reported.kind,
        anomaly=anomaly,
        level=level,
        settings=settings,
        nodes=reported.nodes,
        faults=list(reported.faults),
        expected=reported.expected,
        verdict=verdict,
        tried=seen or tried,
        note=analysis.note,
        **said,
    )


def _is_own(analysis: Analysis, tried: AnomalyTried) -> bool:
    """Whether it is of the analysis's own store, in a version that the analysis names."""
    numbers = re.search(r"\d[\d.]*$", tried.product)
    return tried.name.partition(":")[0] == analysis.store and numbers is not None and numbers[0] in analysis.versions


def _reason(analysis: Analysis, reported: ReportedIsolation | ReportedLoss | ReportedOther, trials: Sequence[_Trial], spec: Spec) -> str:
    if reported.untried:
        return reported.untried
    if not reported.tried_on:
        return f"there is no store file {analysis.store}" if analysis.store not in spec.store_files else "no case tries it"
    told = [each.told for each in trials if each.told]
    return "; ".join(dict.fromkeys(told)) or f"not tried in these results on {' or '.join(reported.tried_on)}"


def _command(reported: ReportedIsolation | ReportedLoss | ReportedOther, spec: Spec) -> str:
    """What would try it on the analysis's own store; empty where no case does."""
    if isinstance(reported, ReportedOther) or not reported.tried_on:
        return ""
    if isinstance(reported, ReportedIsolation):
        chosen = isolation_case(reported.level, "")
    else:
        chosen = " or ".join(f"durability.{each}" for each in reported.after)
    return str(RunCommand(store=[reported.tried_on[0]], scale="standard", edition=spec.edition.version, keyword=chosen))
