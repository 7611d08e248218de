"""Judges the durability rounds again, from their histories, and compares what follows with the result."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from math import isclose
from typing import Final

from storeproof.check import ANOMALIES
from storeproof.conformance.archive import Archive
from storeproof.conformance.histories.attempts import check_attempt, check_attempts
from storeproof.conformance.histories.cluster_rounds import check_cluster_rounds
from storeproof.conformance.histories.crash_states import JudgedStates
from storeproof.conformance.histories.io_errors import JudgedErrors
from storeproof.conformance.histories.isolation import JudgedIsolation, check_writes
from storeproof.conformance.histories.judged_rounds import JudgedRounds, no_better, outcome_by_histories
from storeproof.conformance.histories.judged_trials import JudgedTrials
from storeproof.conformance.histories.load_times import check_load
from storeproof.conformance.histories.part_kills import check_part_kill
from storeproof.conformance.histories.workloads import check_workload, undecided
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.times import CaseTimes
from storeproof.evidence import EVIDENCE, EvidenceDamaged, StoreEvidence, read_evidence
from storeproof.experiments.durability.bulk_load import BULK_OPERATION
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.layouts import MODELS
from storeproof.experiments.durability.replay import replay, replay_workload
from storeproof.experiments.durability.strikes.part import part_kill
from storeproof.experiments.durability.workloads.kinds import KINDS
from storeproof.experiments.fault_experiment import AT_LEAST
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.rounds_summary import RoundsSummary, WorkloadSummary
from storeproof.faults import faults
from storeproof.faults.part_kill import PartKill
from storeproof.outcome import IDLE, SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import GuaranteeRecord, RunInfo, StoreResult
from storeproof.spec import LADDER, NODES, Spec, Target
from storeproof.spec.editions.records import Judge
from storeproof.spec.guarantee import NETWORKED, SUDDEN, Guarantee
from storeproof.spec.scale import DurabilityScale
from storeproof.spec.store import ROLES

_CASE: Final = "durability."
_GUARANTEES: Final = (*LADDER[1:], *NODES)
_ALIKE: Final = (
    *("rounds", "faults_by_load", "second_faults", "faults_with_loss", "loss_bound", "worst_loss", "acknowledged", "unknown"),
    *ANOMALIES,
    "recovery_seconds",
)
"""What follows from the histories."""
_OPTIONAL: Final = ("lost_operations", "without_failover")
"""The same, where the result has it: older ones have not."""
_ORDER: Final = "linearizable"
"""The kind whose load ends as soon as there are enough operations, and that has as many rounds as the guarantee itself."""
_LEVELS: Final = "isolation"
"""The kind whose load ends as soon as there are enough commits, too."""
_SEARCH_SECONDS: Final = 2.0
"""For an order of the answers of one case."""
_WORKLOADS: Final = [(kind, guarantee) for kind in KINDS for guarantee in SUDDEN]
_PARTS: Final = {part_kill(role): PartKill(role) for role in ROLES}
_EXACT: Final = 1e-6
"""Share by which a bound may differ that another processor computed."""


@dataclass(frozen=True)
class JudgedAgain:
    """How much was judged."""

    cases: int
    rounds: int
    operations: int
    disputed: tuple[str, ...] = ()
    """In what the histories of a disputed case show something else here than in the result."""
    undecided: tuple[str, ...] = ()
    """Cases of contended keys whose answers there was no time to find an order for."""
    states: tuple[str, ...] = ()
    """What was computed again of the states that crashes may leave, of errors of disks, and of transactions."""


def check_durability(run: RunInfo, store: StoreResult, target: Target, archive: Archive, known: KnownJudges, judge: Judge) -> JudgedAgain:
    """Judge all rounds again.

    Raises:
        ClaimRefused: histories are missing or of something else, a round is missing, or they show something else than the result says.
    """
    records = {each.guarantee: each for each in store.durability.guarantees}
    if len(records) != len(store.durability.guarantees):
        raise ClaimRefused(Reason.DURABILITY, "a guarantee has two records")
    struck = {name: each for name, each in records.items() if each.rounds}
    if (EVIDENCE in archive.places) != (run.evidence is not None):
        where = "in the result and not in the bundle" if run.evidence else "in the bundle and not in the result"
        raise ClaimRefused(Reason.EVIDENCE, f"{EVIDENCE} is {where}")
    if run.evidence is None and struck:
        raise ClaimRefused(Reason.EVIDENCE, f"there are no histories of {len(struck)} guarantees that were struck")
    judged: dict[str, JudgedRounds] = {}
    trials = [each(run, store, target, known) for each in (JudgedStates, JudgedErrors, JudgedIsolation)]
    if run.evidence is not None:
        if archive.digest(EVIDENCE) != run.evidence:
            raise ClaimRefused(Reason.EVIDENCE, f"{EVIDENCE} is not the one of this run: its hash is another one in the result")
        try:
            judged = {each.name: each for each in _judged(run, store, target, archive, known, judge, trials)}
        except EvidenceDamaged as reason:
            raise ClaimRefused(Reason.EVIDENCE, in_one_line(str(reason))) from None
    disputed, said = _trials_checked(trials)
    for name, record in records.items():
        found = judged.get(name, JudgedRounds(name))
        disputed += _compared(record, found, run, target, known)
        rounds = len(_turns(name, known.spec, known.scale(run.scale).durability))
        check_attempts(record, found.spoiled, max(AT_LEAST, rounds))
        if record.outcome in SHOWN:
            _check_rounds(record, found, store, target, known.spec.guarantees[name], rounds)
    for role in ROLES:
        disputed += check_part_kill(role, judged.get(part_kill(role)), run, store, target, known, judge)
    for kind, guarantee in _WORKLOADS:
        rounds, found_of = _rounds(kind, guarantee, known, run), judged.get(f"{kind}/{guarantee}")
        disputed += check_workload(kind, guarantee, rounds, found_of, run, store, target, known, judge)
    if strange := sorted(judged.keys() - records.keys() - _PARTS.keys() - {"/".join(each) for each in _WORKLOADS}):
        raise ClaimRefused(Reason.EVIDENCE, f"there are histories of {strange[0]}, and no record of it")
    _check_outcomes(store, records)
    operations = sum(each.operations for each in judged.values())
    open_ = tuple(f"{_CASE}{name}" for name, each in judged.items() if undecided(each))
    return JudgedAgain(len(judged), sum(each.summary.rounds for each in judged.values()), operations, tuple(disputed), open_, tuple(said))


def _trials_checked(trials: Sequence[JudgedTrials]) -> tuple[list[str], list[str]]:
    """In what those of disputed cases differ from the result, and what was computed again. Raises `ClaimRefused`: others differ."""
    for trial in trials:
        trial.check()
    return [each for trial in trials for each in trial.disputed], [each for trial in trials for each in trial.said]


def _judged(
    run: RunInfo,
    store: StoreResult,
    target: Target,
    archive: Archive,
    known: KnownJudges,
    judge: Judge,
    trials: Sequence[JudgedTrials],
) -> Iterator[JudgedRounds]:
    """The guarantees, one after the other; recordings, errors of disks and transactions are taken by `trials`."""
    times = CaseTimes(store)
    seen: set[str] = set()
    fingerprints: set[bytes] = set()
    stores = (each for each in read_evidence(io.BytesIO(archive.read(EVIDENCE)), run.id) if not any(trial.take(each) for trial in trials))
    for case, parts in groupby(stores, key=lambda each: each.case):
        name = case.removeprefix(_CASE)
        if not case.startswith(_CASE) or name in seen:
            raise EvidenceDamaged(f"the histories of {case[:60]!r} are not in one piece")
        seen.add(name)
        kind, _, guarantee = name.rpartition("/")
        if kind and (kind, guarantee) not in _WORKLOADS:
            raise EvidenceDamaged(f"no case of this version is called {case[:60]!r}")
        found = JudgedRounds(name, _summary(kind, guarantee, target))
        turns = _turns(guarantee, known.spec, known.scale(run.scale).durability)
        for part in parts:
            _check_fault(part, guarantee, known.spec)
            _check_reach(part, judge)
            check_attempt(part, run, store, name.replace("/", " "), len(found.spoiled))
            times.add(part)
            check_load(part, 0.0 if kind in (_ORDER, _LEVELS) else known.scale(run.scale).durability.load_seconds[0])
            _check_transactions(part)
            digest = _fingerprint(part)
            if digest in fingerprints:
                raise EvidenceDamaged(f"the histories of {case} are those of another store once more")
            fingerprints.add(digest)
            if guarantee in NETWORKED:
                check_cluster_rounds(part, turns, target.cluster, found.summary.rounds, acknowledged=not kind)
            if isinstance(found.summary, DurabilitySummary):
                replay(part, found.summary, stale_possible=target.stale_reads)
            elif isinstance(found.summary, WorkloadSummary):
                replay_workload(part, found.summary, known.spec.guarantees[guarantee].fault or "")
                found.broken = part.rounds[-1].broken if part.rounds else None
                found.cuts_off = part.cuts_off
            found.operations += sum(1 for _ in part.requests)
            found.spoiled.append(not part.rounds or part.rounds[-1].spoiled)
            last = part.rounds[-1].audit if part.rounds else None
            found.read_all = last is not None and last.everything
        yield found


def _summary(kind: str, guarantee: str, target: Target) -> RoundsSummary:
    """What the rounds of a case are added to. An order of answers is looked for only for so long, since a forged history may have none that
    can be found."""
    if not kind:
        return DurabilitySummary()
    if kind == _LEVELS and not target.isolation:
        raise EvidenceDamaged(f"there are transactions across faults, and {target.id} has no isolation level")
    summary = KINDS[kind].of(target, guarantee)
    if isinstance(summary, LinearizabilitySummary):
        summary.left, summary.explains = _SEARCH_SECONDS, False
    return summary


def _rounds(kind: str, guarantee: str, known: KnownJudges, run: RunInfo) -> int:
    """How many the scale has under a workload."""
    scale = known.scale(run.scale).durability
    if guarantee in NETWORKED:
        return len(_turns(guarantee, known.spec, scale))
    return scale.rounds if kind == _ORDER else scale.further


def _turns(guarantee: str, spec: Spec, scale: DurabilityScale) -> list[str]:
    """Which fault strikes in which round of a guarantee; of a single server, in each of its load shapes."""
    return scale.turns(spec.guarantees[guarantee].faults) if guarantee in spec.guarantees else []


def _check_fault(part: StoreEvidence, guarantee: str, spec: Spec) -> None:
    """Raises `EvidenceDamaged`: the guarantee's fault takes the disk away and the histories say that it does not, or the reverse."""
    fault = _PARTS.get(guarantee) or faults().get((spec.guarantees[guarantee].fault or "") if guarantee in spec.guarantees else "")
    on_cluster = {each.cluster is not None for each in part.rounds}
    if fault is None or fault.cuts_off != part.cuts_off or not on_cluster <= {guarantee in NETWORKED}:
        raise EvidenceDamaged(f"the histories of {part.case[:60]!r} are not of the fault that tests it")


def _check_reach(part: StoreEvidence, judge: Judge) -> None:
    """Raises `EvidenceDamaged`: its judge shows of each fault whether it struck the files of what clients wrote, and a round does not."""
    for number, each in enumerate(part.rounds, 1):
        judged = each.audit is not None or ("/" in part.case and each.broken is None and not each.spoiled)
        if judge.reach and each.reach is None and judged and each.cluster is None:
            raise EvidenceDamaged(f"round {number} of {part.case[:60]} does not show that its fault struck the store's files")


def _check_transactions(part: StoreEvidence) -> None:
    """Raises `EvidenceDamaged`: a write of a client is left out of a round, or is another's."""
    for number, each in enumerate(part.rounds, 1):
        try:
            check_writes(each.transactions.sent if each.transactions is not None else ())
        except ValueError as reason:
            raise EvidenceDamaged(f"round {number} of {part.case[:60]}: {in_one_line(str(reason), 160)}") from None


def _fingerprint(part: StoreEvidence) -> bytes:
    """The same for the same history only: no two stores answer to the nanosecond alike."""
    digest = hashlib.sha256()
    some = False
    for each in part.requests:
        some = True
        digest.update(b"%d %d\n" % (each.invoked, each.completed or 0))
    return digest.digest() if some else part.seed.encode()


def _compared(record: GuaranteeRecord, found: JudgedRounds, run: RunInfo, target: Target, known: KnownJudges) -> list[str]:
    """In what the histories of a disputed case differ from its record. Raises `ClaimRefused`, as `_compare` does, of other cases."""
    try:
        _compare(record, found, run, target, known)
    except ClaimRefused as refused:
        if f"{_CASE}{record.guarantee}" not in known.disputed:
            raise
        return [refused.text]
    return []


def _compare(record: GuaranteeRecord, found: JudgedRounds, run: RunInfo, target: Target, known: KnownJudges) -> None:
    """Raises `ClaimRefused`: the record of a guarantee is not what its histories show."""
    name = record.guarantee
    if name not in known.spec.guarantees:
        raise ClaimRefused(Reason.DURABILITY, f"{in_one_line(name, 40)} is no guarantee of the edition")
    summary = found.summary
    assert isinstance(summary, DurabilitySummary), "its clients write records"
    made = summary.record(name, record.outcome, record.detail)
    for what in (*_ALIKE, *(each for each in _OPTIONAL if getattr(record, each) is not None)):
        says, shows = getattr(record, what), getattr(made, what)
        near = isinstance(says, float) and isinstance(shows, float) and isclose(says, shows, rel_tol=_EXACT)
        if says != shows and not near:
            raise ClaimRefused(Reason.DURABILITY, f"{name}: {what} is {_short(says)} in the result, and {_short(shows)} by the histories")
    outcome = outcome_by_histories(summary, f"{_CASE}{name}", run, target, claimed=target.configuration.promises(name))
    rounds_of = [[each.model_copy(update={"set_aside": []}) for each in rounds] for rounds in (record.cluster_rounds, made.cluster_rounds)]
    if differing := [number for number, (says, shows) in enumerate(zip_longest(*rounds_of), 1) if says != shows]:
        raise ClaimRefused(Reason.DURABILITY, f"{name}: round {differing[0]} is another one in the result than by the histories")
    if not no_better(record.outcome, outcome):
        raise ClaimRefused(Reason.DURABILITY, f"{name} is {record.outcome} in the result, and {outcome} by the histories")
    if record.outcome in SHOWN and summary.watched not in record.detail:
        raise ClaimRefused(Reason.DURABILITY, f"{name} has other reads of the watched key than by the histories: {summary.watched}")


def _check_rounds(
    record: GuaranteeRecord, found: JudgedRounds, store: StoreResult, target: Target, guarantee: Guarantee, wanted: int
) -> None:
    """Raises `ClaimRefused`: a guarantee that held was not struck `wanted` times in each load shape that the store can be tried under."""
    fault = faults().get(guarantee.fault or "")
    if fault is None:
        raise ClaimRefused(Reason.DURABILITY, f"{record.guarantee} is {record.outcome}, and no fault of this version tests it")
    possible = {"stream"} | ({"burst"} if fault.sudden else set())
    if any(store.operations.get(model, {}).get(BULK_OPERATION) in SHOWN for model in {*MODELS} & {*target.store.claims.models}):
        possible.add("bulk")
    for shape in guarantee.load:
        number = record.faults_by_load.get(shape, 0)
        if number != wanted and (number or shape in possible):
            raise ClaimRefused(
                Reason.ROUNDS, f"{record.guarantee} was struck {number} times under the load `{shape}`, where the scale wants {wanted}"
            )
    if not found.read_all:
        raise ClaimRefused(Reason.ROUNDS, f"{record.guarantee}: the last audit did not read the keys of all rounds")


def _check_outcomes(store: StoreResult, records: dict[str, GuaranteeRecord]) -> None:
    """Raises `ClaimRefused`: the case of a guarantee has a better outcome than its record."""
    cases = {each.id.removeprefix(_CASE): each.outcome for each in store.outcomes if each.id.startswith(_CASE)}
    for name in _GUARANTEES:
        case, record = cases.get(name, Outcome.NOT_RUN), records.get(name)
        if record is None and case not in IDLE:
            raise ClaimRefused(Reason.DURABILITY, f"{name} is {case} as a case, and has no record")
        if record is not None and not no_better(case, record.outcome):
            raise ClaimRefused(Reason.DURABILITY, f"{name} is {case} as a case, and {record.outcome} as a guarantee")


def _short(value: object) -> str:
    return in_one_line(str(value), 80)
