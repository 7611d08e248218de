"""Judges whether a store conforms to a profile: every demand was shown in this run, or is listed as missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from storeproof.contract.families import Counter, KeyValue
from storeproof.contract.operations import OPERATIONS
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, worst
from storeproof.result.capabilities import deciding_cases_of
from storeproof.result.model import OutcomeRecord, ProfileVerdict
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Spec
from storeproof.spec.guarantee import LADDER
from storeproof.spec.profile import Profile, Speed

_WHOLE_RECORDS = [name for name, operation in OPERATIONS.items() if operation.family is KeyValue]
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
    for name in profile.capabilities:
        _capability(name, spec, record.outcomes, findings)
    _guarantee(profile, record, findings)
    for speed in profile.speed:
        _speed(speed, record, findings)
    return ProfileVerdict(profile=profile.profile, verdict=findings.verdict(), missing=findings.refuted + findings.open)


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


def _capability(name: str, spec: Spec, outcomes: Iterable[OutcomeRecord], findings: _Findings) -> None:
    """Shown by the cases that decide; where none does, nothing is demanded."""
    for case, found in deciding_cases_of(name, outcomes, spec).items():
        outcome = worst(each.outcome for each in found)
        detail = next((each.detail for each in found if each.outcome is outcome), "left no outcome in this run")
        findings.note(outcome, f"capability {name}/{case}: {outcome}{_first_line(detail)}")


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


def _first_line(detail: str) -> str:
    line = detail.strip().partition("\n")[0]
    return f": {line[:157] + '...' if len(line) > 160 else line}" if line else ""
