"""Whether a result agrees with itself: sums with their parts, medians with their rounds, what is proven with what the faults did.

A run writes them together, so a file in which they differ was changed afterwards, by hand or by damage, and is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isclose
from pathlib import Path
from statistics import median

from storeproof.errors import UsageError
from storeproof.outcome import REFUTED, SHOWN, Outcome, count, worst
from storeproof.printable import printable
from storeproof.result.capabilities import by_capability, decisive
from storeproof.result.measured.cluster_round import ClusterRoundRecord, Kind
from storeproof.result.measurement import Measurement
from storeproof.result.model import GuaranteeRecord, Harm, Result, StoreResult
from storeproof.spec.guarantee import LADDER


def check_agrees(file: Path, result: Result) -> None:
    """Refuse a result that was changed after its run. Raises `UsageError`: with the first thing that does not agree."""
    if wrong := inconsistencies(result):
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise UsageError(f"{file} does not agree with itself, so it was changed after its run: {printable(wrong[0])}{more}; run it again")


def inconsistencies(result: Result) -> list[str]:
    """What does not agree, in words; empty for a file as a run writes it."""
    return [f"{store.name}: {wrong}" for store in result.stores for wrong in _of_store(store)]


def _of_store(store: StoreResult) -> Iterator[str]:
    tally = count(each.outcome for each in store.outcomes)
    for outcome, number in tally.items():
        if store.counts.get(outcome, 0) != number:
            yield f"{store.counts.get(outcome, 0)} cases are counted as {outcome}, and {number} are listed"
    tried = by_capability(store.outcomes)
    for capability in store.capabilities:
        cases: dict[str, list[Outcome]] = {}
        for each in decisive(tried.get(capability.capability, [])):
            cases.setdefault(each.id, []).append(each.outcome)
        passed = sum(worst(found) in SHOWN for found in cases.values())
        if capability.passed != passed:
            yield f"{capability.capability} has {capability.passed} passed cases, and {passed} are listed"
        elif capability.outcome in SHOWN and passed < capability.cases:
            yield f"{capability.capability} is {capability.outcome} with {passed} of {capability.cases} cases passed"
    yield from _of_durability(store)
    joint = [number for each in store.joint for number in each.numbers.values()]
    for measured in (*store.measurements, *joint):
        yield from (f"{measured.workload} with {measured.clients} clients: {wrong}" for wrong in _of_measurement(measured))


def _of_durability(store: StoreResult) -> Iterator[str]:
    durability = store.durability
    for name in Harm.model_fields:
        found, total = sum(getattr(each, name) for each in durability.guarantees), getattr(durability, name)
        if found != total:
            yield f"durability has {total} {name}, and its faults have {found}"
    for each in durability.guarantees:
        if each.outcome in SHOWN and each.lost:
            yield f"{each.guarantee} is {each.outcome} with {each.lost} lost writes"
        if each.faults_with_loss > each.rounds:
            yield f"{each.guarantee} lost writes in {each.faults_with_loss} of {each.rounds} faults"
        told = sum(one.acknowledged for one in each.cluster_rounds)
        if told > each.acknowledged:
            yield f"{each.guarantee}: its rounds have {told} acknowledged writes of {each.acknowledged}"
        yield from (f"{each.guarantee}: {wrong}" for wrong in _of_cluster_rounds(each.cluster_rounds, "writes"))
    for case in durability.failovers:
        yield from (f"{case.case}: {wrong}" for wrong in _of_cluster_rounds(case.rounds, case.kind))
        for fault, number in case.lossy.items():
            if number > case.struck.get(fault, 0):
                yield f"{case.case}: {fault} has {number} rounds with losses of {case.struck.get(fault, 0)}"
    held = highest_held(durability.guarantees)
    free = held is None and store.version is not None and durability.claimed == LADDER[0] and durability.proven == LADDER[0]
    if durability.cited is None and durability.proven != held and not free:
        yield f"{durability.proven or 'nothing'} is proven, and the faults show {held or 'nothing'}"


def _of_cluster_rounds(rounds: Iterable[ClusterRoundRecord], kind: Kind) -> Iterator[str]:
    for each in rounds:
        for span in each.spans:
            if span.found + span.lost > span.acknowledged:
                yield f"of {span.acknowledged} acknowledged {kind} {span.found} were found and {span.lost} lost"
        yield from _of_failover(each)
        for name in ("acknowledged", "found", "lost") if each.course else ():
            if sum(sum(getattr(course, name)) for course in each.course) != sum(getattr(span, name) for span in each.spans):
                yield f"the course of a round does not have the {name} {kind} of its spans"


def _of_failover(record: ClusterRoundRecord) -> Iterator[str]:
    """A node is missed, then another one elected, which then acknowledges a write."""
    parts = record.failover
    if parts is None:
        return
    if record.failover_second is None:
        yield f"a failover of {record.fault} has parts, and no other node took writes"
    for second in (parts.detected_second, parts.before_second):
        moments = (record.strike_second, second, parts.elected_second, record.failover_second)
        known = [each for each in moments if each is not None]
        if known != sorted(known):
            yield f"the parts of a failover of {record.fault} are out of order: {', '.join(f'{each:g} s' for each in known)}"
    if parts.promoted_by == "storeproof" and parts.detected_second is not None:
        yield f"a failover of {record.fault} was detected, and storeproof promoted"


def _of_measurement(measured: Measurement) -> Iterator[str]:
    rates = [each.throughput for each in measured.rounds]
    if not rates:
        yield "it has no rounds"
        return
    rate = measured.throughput
    if not isclose(rate.median, median(rates), rel_tol=1e-6):
        yield f"the median is {rate.median:g}, and that of its rounds {median(rates):g}"
    if not rate.low <= rate.median <= rate.high:
        yield f"the median {rate.median:g} is outside its interval [{rate.low:g}, {rate.high:g}]"


def highest_held(guarantees: Sequence[GuaranteeRecord]) -> str | None:
    """The highest guarantee that held, with all below it; `volatile` where the lowest with a fault was refuted; None without evidence."""
    held: str | None = None
    for name in LADDER[1:]:  # the lowest has no fault
        record = next((each for each in guarantees if each.guarantee == name), None)
        if record is not None and record.outcome in SHOWN:
            held = name
            continue
        if record is not None and record.outcome in REFUTED and record.rounds and held is None:
            held = LADDER[0]  # it lost data at a clean restart
        break  # a rung without evidence neither proves nor refutes the ones above
    return held
