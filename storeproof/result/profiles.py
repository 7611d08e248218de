"""Judges whether a store conforms to a profile: every demand was shown in this run, or is listed as missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from storeproof.contract.families import Counter, KeyValue
from storeproof.contract.operations import OPERATIONS
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, worst
from storeproof.result.capabilities import deciding_cases_of
from storeproof.result.measured.bounds import Within, back_within, loss_within, p99_in_words, p99_within, struck_by
from storeproof.result.model import OutcomeRecord, ProfileVerdict, Way
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Spec
from storeproof.spec.cases import metadata_case
from storeproof.spec.guarantee import LADDER
from storeproof.spec.profile import OneWanted, Profile, Speed, alternatives_of, name_of
from storeproof.support import Support, support_of, telling
from storeproof.units import seconds, whole

_WHOLE_RECORDS = [name for name, operation in OPERATIONS.items() if operation.family is KeyValue]
_NOT_MEASURED = "not measured, or nothing that decides it"
_COUNTERS = [name for name, operation in OPERATIONS.items() if operation.family is Counter]


@dataclass
class _Findings:
    """Missing demands: refuted, or open for lack of evidence."""

    tried: bool
    """Whether the run tested anything: a missing claim alone refutes nothing."""
    refuted: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def note(self, outcome: Outcome, line: str) -> None:
        if outcome not in SHOWN:
            (self.refuted if outcome in REFUTED else self.open).append(line)

    def verdict(self) -> Literal["conforms", "does_not_conform", "incomplete"]:
        if self.refuted and self.tried:
            return "does_not_conform"
        return "incomplete" if self.refuted or self.open else "conforms"


def judge(profile: Profile, record: StoreRecord, spec: Spec) -> ProfileVerdict:
    """The verdict on a store.

    Args:
        profile: the demands.
        record: what the run collected.
        spec: whose capabilities are demanded; a case that decides and has no outcome is missing evidence.
    """
    findings = _Findings(tried=any(each.outcome not in IDLE for each in record.outcomes))
    for model in profile.models:
        _model(model, record, findings)
    core, extended = ([_tried(each, spec, record.outcomes) for each in wanted] for wanted in (profile.capabilities, profile.extended))
    for each in core:
        _capability(each, findings)
    _guarantee(profile, record, findings)
    _metadata(profile, record, spec, findings)
    for speed in profile.speed:
        _speed(speed, record, findings)
    for what, found in _bounds(profile, record):
        if found is None or not found.met:
            (findings.open if found is None else findings.refuted).append(f"{what}: {found.reason if found else _NOT_MEASURED}")
    return ProfileVerdict(
        profile=profile.profile,
        verdict=findings.verdict(),
        missing=findings.refuted + findings.open,
        ways=[way for each in (*core, *extended) if (way := _way(each, spec)) is not None],
        extended={each.name: each.told.support for each in extended if each.alternatives},
    )


def _model(model: str, record: StoreRecord, findings: _Findings) -> None:
    """A model is shown when whole records (or, for counters, sums) were written and read correctly."""
    if model not in record.target.store.claims.models:
        findings.refuted.append(f"model {model}: not claimed")
        return
    tried = {name: record.proofs[model, name] for name in _WHOLE_RECORDS + _COUNTERS if record.proofs.get((model, name))}
    for name, outcomes in tried.items():
        outcome = worst(outcomes)
        findings.note(outcome, f"model {model}: {name}: {outcome}")
    complete = any(all(name in tried for name in family) for family in (_WHOLE_RECORDS, _COUNTERS))
    if not complete:
        absent = ", ".join(name for name in _WHOLE_RECORDS if name not in tried)
        findings.open.append(f"model {model}: not verified in this run: {absent}")


@dataclass(frozen=True)
class _Alternative:
    """One capability, by the cases that decide."""

    capability: str
    cases: Mapping[str, tuple[Outcome, str]]
    """By number: the outcome, and the first line of its detail."""

    @cached_property
    def support(self) -> Support:
        return support_of([outcome for outcome, _ in self.cases.values()])

    @property
    def why(self) -> tuple[Outcome, str]:
        """Of the first case that makes it what it is: the outcome, and the case with the detail."""
        case = next(case for case, (outcome, _) in self.cases.items() if support_of([outcome]) is self.support)
        outcome, detail = self.cases[case]
        return outcome, f"{self.capability}/{case}{detail}"


@dataclass(frozen=True)
class _Tried:
    """What is wanted, as one or several alternatives; one that no case decides is none."""

    name: str
    several: bool
    alternatives: list[_Alternative]

    @property
    def told(self) -> _Alternative:
        """The alternative that says what is said of all of them."""
        return self.alternatives[telling([each.support for each in self.alternatives])]


def _tried(wanted: OneWanted, spec: Spec, outcomes: Iterable[OutcomeRecord]) -> _Tried:
    names = alternatives_of(wanted)
    cases = {name: deciding_cases_of(name, outcomes, spec) for name in names}
    found = [_Alternative(name, {case: _worst(records) for case, records in each.items()}) for name, each in cases.items() if each]
    return _Tried(name_of(wanted), len(names) > 1, found)


def _worst(records: Iterable[OutcomeRecord]) -> tuple[Outcome, str]:
    records = list(records)
    outcome = worst(each.outcome for each in records)
    return outcome, _first_line(next((each.detail for each in records if each.outcome is outcome), "left no outcome in this run"))


def _capability(tried: _Tried, findings: _Findings) -> None:
    """Each case that is missing; of alternatives each that is as the demand is. Where no case decides, nothing is demanded."""
    if not tried.alternatives:
        return
    if not tried.several:
        for case, (outcome, detail) in tried.told.cases.items():
            findings.note(outcome, f"capability {tried.name}/{case}: {outcome}{detail}")
        return
    for each in tried.alternatives:
        if each.support is tried.told.support is not Support.SUPPORTED:
            outcome, detail = each.why
            findings.note(outcome, f"capability {tried.name}: {outcome}: {detail}")


def _way(tried: _Tried, spec: Spec) -> Way | None:
    """None where there is one way only, or none was shown."""
    if not tried.several or not tried.alternatives or tried.told.support is not Support.SUPPORTED:
        return None
    name = tried.told.capability
    return Way(demand=tried.name, capability=name, title=spec.capabilities[name].title)


def _guarantee(profile: Profile, record: StoreRecord, findings: _Findings) -> None:
    demanded = LADDER.index(profile.guarantee)
    durability, here = record.durability(), record.proven_here()  # a verdict rests on this run alone
    proven = LADDER.index(here) if here in LADDER else 0
    if demanded <= proven:
        return  # `volatile` guarantees nothing
    struck = {each.guarantee: each for each in durability.guarantees}
    for rung in LADDER[1 : demanded + 1]:
        found = struck.get(rung)
        if found is not None and found.outcome in REFUTED:
            findings.refuted.append(f"{_rung(profile, rung)}: {found.outcome}{_first_line(found.detail)}")
            return
    if LADDER.index(durability.claimed) < demanded:
        findings.refuted.append(f"guarantee {profile.guarantee}: the variant claims only {durability.claimed}")
        return
    for rung in LADDER[proven + 1 : demanded + 1]:
        found = struck.get(rung)
        if found is None:
            findings.open.append(f"{_rung(profile, rung)}: {Outcome.NOT_RUN}")
        else:
            findings.note(found.outcome, f"{_rung(profile, rung)}: {found.outcome}{_first_line(found.detail)}")


def _metadata(profile: Profile, record: StoreRecord, spec: Spec, findings: _Findings) -> None:
    """What belongs to records has to survive what they survive. Of an edition that did not ask for it, nothing is demanded."""
    outcomes = {each.id: each for each in record.outcomes}
    for rung in LADDER[1 : LADDER.index(profile.guarantee) + 1]:
        case = metadata_case(rung)
        if case not in spec.suite_cases or not spec.decides(case) or not record.target.configuration.promises(rung):
            continue
        found = outcomes.get(case)
        if found is None:
            findings.open.append(f"{case}: left no outcome in this run")
        else:
            findings.note(found.outcome, f"{case}: {found.outcome}{_first_line(found.detail)}")


def _rung(profile: Profile, rung: str) -> str:
    """A demanded guarantee includes all below it: the line names both."""
    return f"guarantee {profile.guarantee}" + (f": {rung}" if rung != profile.guarantee else "")


def _speed(speed: Speed, record: StoreRecord, findings: _Findings) -> None:
    """Every measurement of the workload with that number of clients must reach the demand: with its low end, or, where the load generator
    was the limit, with what it reached. A whole interval below the demand refutes it; what lies between, and what is at least that fast,
    leaves it open."""
    what = f"speed {speed.workload} at {speed.clients} clients"
    found = [each for each in record.measurements if each.workload == speed.workload and each.clients == speed.clients]
    if not found:
        findings.open.append(f"{what}: not measured")
    for each in found:
        rate, demanded = each.throughput, f"demanded: {speed.at_least:.0f}"
        sign = "at least " if each.at_least else ""
        reached = f"{sign}{rate.median:.0f} [{rate.low:.0f}, {rate.high:.0f}] {rate.unit} with {each.indexes} indexes"
        if each.invalid:
            findings.open.append(f"{what}: {reached}, but the number is not valid: {', '.join(each.invalid)}")
        elif each.trend.drifting:
            findings.open.append(f"{what}: {reached}, but it drifts by {100 * each.trend.change:+.1f} % a round: there is no one rate")
        elif (rate.median if each.at_least else rate.low) >= speed.at_least:
            continue
        elif each.at_least:
            findings.open.append(f"{what}: {reached}, where the load generator was the limit; {demanded}")
        elif rate.high < speed.at_least:
            findings.refuted.append(f"{what}: {reached}; {demanded}")
        else:
            findings.open.append(f"{what}: {reached}, which does not decide it; {demanded}")


def _bounds(profile: Profile, record: StoreRecord) -> Iterator[tuple[str, Within | None]]:
    """What is measured against a bound, by the code that needs are judged by; None where this run does not decide it."""
    for fault, most in profile.lost_at_most.items():
        struck = struck_by(record.guarantees, fault)
        lost = seconds(most) if isinstance(most, float) else whole(most)
        yield f"loss by {fault} of at most {lost}", loss_within(struck, most) if struck else None
    if profile.back_within is not None:
        yield f"back within {seconds(profile.back_within)}", back_within(record.outages, profile.back_within)
    for each in profile.response:
        fit = [one for one in record.measurements if one.workload == each.workload and not one.invalid and not one.trend.drifting]
        decided = p99_within(fit, each.rate, each.p99_ms)
        what = f"p99 of {each.workload} within {each.p99_ms:g} ms at {whole(each.rate)} a second"
        yield what, None if decided is None else Within(decided[0], p99_in_words(decided[1]))


def _first_line(detail: str) -> str:
    line = detail.strip().partition("\n")[0]
    return f": {line[:157] + '...' if len(line) > 160 else line}" if line else ""
