"""Judges whether a store conforms to a profile: every demand was shown in this run, or is listed as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from storeproof.contract.families import Counter, KeyValue
from storeproof.contract.operations import OPERATIONS
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, worst
from storeproof.result.capabilities import by_capability, deciding_cases_of
from storeproof.result.missing import Kind, MissingDemand, Way
from storeproof.result.model import GuaranteeRecord, OutcomeRecord, ProfileVerdict
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Spec
from storeproof.spec.cases import metadata_case
from storeproof.spec.guarantee import LADDER
from storeproof.spec.profile import OneWanted, Profile, alternatives_of, name_of
from storeproof.support import Support, support_of, telling

_WHOLE_RECORDS = [name for name, operation in OPERATIONS.items() if operation.family is KeyValue]
_NO_OUTCOME = "left no outcome in this run"
_COUNTERS = [name for name, operation in OPERATIONS.items() if operation.family is Counter]


@dataclass
class _Findings:
    """What is missing."""

    tried: bool
    """Whether the run tested anything: a missing claim alone refutes nothing."""
    missing: list[MissingDemand] = field(default_factory=list)

    def note(self, kind: Kind, name: str, outcome: Outcome, reason: str = "", case: str = "") -> None:
        if outcome not in SHOWN:
            self.missing.append(MissingDemand(kind=kind, name=name, case=case, outcome=outcome, reason=reason))

    def verdict(self) -> Literal["conforms", "does_not_conform", "incomplete"]:
        if self.tried and not all(each.open for each in self.missing):
            return "does_not_conform"
        return "incomplete" if self.missing else "conforms"


def judge_profile(profile: Profile, record: StoreRecord, spec: Spec) -> ProfileVerdict:
    """The verdict on a store.

    Args:
        profile: the demands.
        record: what the run collected.
        spec: whose capabilities are demanded; a case that decides and has no outcome is missing evidence.
    """
    findings = _Findings(tried=any(each.outcome not in IDLE for each in record.outcomes))
    for model in profile.models:
        _model(model, record, findings)
    outcomes = by_capability(record.outcomes)
    core, extended = ([_tried(each, spec, outcomes) for each in wanted] for wanted in (profile.capabilities, profile.extended))
    for each in core:
        _capability(each, findings)
    _guarantee(profile, record, findings)
    _metadata(profile, record, spec, findings)
    return ProfileVerdict(
        profile=profile.profile,
        verdict=findings.verdict(),
        missing=sorted(findings.missing, key=lambda each: each.open),
        ways=[way for each in (*core, *extended) if (way := _way(each, spec)) is not None],
        extended={each.name: each.told.support for each in extended if each.alternatives},
    )


def _model(model: str, record: StoreRecord, findings: _Findings) -> None:
    """A model is shown when whole records (or, for counters, sums) were written and read correctly."""
    if model not in record.target.store.claims.models:
        findings.note("model", model, Outcome.UNSUPPORTED, "not claimed")
        return
    tried = {name: record.proofs[model, name] for name in _WHOLE_RECORDS + _COUNTERS if record.proofs.get((model, name))}
    for name, outcomes in tried.items():
        findings.note("model", model, worst(outcomes), case=name)
    complete = any(all(name in tried for name in family) for family in (_WHOLE_RECORDS, _COUNTERS))
    if not complete:
        absent = ", ".join(name for name in _WHOLE_RECORDS if name not in tried)
        findings.note("model", model, Outcome.NOT_RUN, f"not verified in this run: {absent}")


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
    def why(self) -> tuple[Outcome, str, str]:
        """Outcome, detail and name of the first case that makes it what it is."""
        case = next(case for case, (outcome, _) in self.cases.items() if support_of([outcome]) is self.support)
        return *self.cases[case], f"{self.capability}/{case}"


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


def _tried(wanted: OneWanted, spec: Spec, outcomes: Mapping[str, Iterable[OutcomeRecord]]) -> _Tried:
    names = alternatives_of(wanted)
    cases = {name: deciding_cases_of(name, outcomes.get(name, ()), spec) for name in names}
    found = [_Alternative(name, {case: _worst(records) for case, records in each.items()}) for name, each in cases.items() if each]
    return _Tried(name_of(wanted), len(names) > 1, found)


def _worst(records: Iterable[OutcomeRecord]) -> tuple[Outcome, str]:
    records = list(records)
    outcome = worst(each.outcome for each in records)
    return outcome, _first_line(next((each.detail for each in records if each.outcome is outcome), _NO_OUTCOME))


def _capability(tried: _Tried, findings: _Findings) -> None:
    """Each case that is missing; of alternatives each that is as the demand is. Where no case decides, nothing is demanded."""
    if not tried.alternatives:
        return
    if not tried.several:
        for case, (outcome, detail) in tried.told.cases.items():
            findings.note("capability", tried.name, outcome, detail, case)
        return
    for each in tried.alternatives:
        if each.support is tried.told.support is not Support.SUPPORTED:
            findings.note("capability", tried.name, *each.why)


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
    refuted = next((each for rung in LADDER[1 : demanded + 1] if (each := struck.get(rung)) is not None and each.outcome in REFUTED), None)
    if refuted is not None:
        _rung(profile, refuted.guarantee, refuted, findings)
    elif LADDER.index(durability.claimed) < demanded:
        findings.note("guarantee", profile.guarantee, Outcome.UNSUPPORTED, f"the variant claims only {durability.claimed}")
    else:
        for rung in LADDER[proven + 1 : demanded + 1]:
            _rung(profile, rung, struck.get(rung), findings)


def _rung(profile: Profile, rung: str, found: GuaranteeRecord | None, findings: _Findings) -> None:
    """A demanded guarantee includes all below it: both are named."""
    outcome, reason = (found.outcome, _first_line(found.detail)) if found is not None else (Outcome.NOT_RUN, "")
    findings.note("guarantee", profile.guarantee, outcome, reason, rung if rung != profile.guarantee else "")


def _metadata(profile: Profile, record: StoreRecord, spec: Spec, findings: _Findings) -> None:
    """What belongs to records has to survive what they survive. Of an edition that did not ask for it, nothing is demanded."""
    outcomes = {each.id: each for each in record.outcomes}
    for rung in LADDER[1 : LADDER.index(profile.guarantee) + 1]:
        case = metadata_case(rung)
        if case not in spec.suite_cases or not spec.decides(case) or not record.target.configuration.promises(rung):
            continue
        found = outcomes.get(case)
        outcome, reason = (Outcome.NOT_RUN, _NO_OUTCOME) if found is None else (found.outcome, _first_line(found.detail))
        findings.note("case", case.removesuffix(f"/{rung}"), outcome, reason, rung)


def _first_line(detail: str) -> str:
    line = detail.strip().partition("\n")[0]
    return f"{line[:157]}..." if len(line) > 160 else line
