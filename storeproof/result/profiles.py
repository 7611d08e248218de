"""Judges whether a store conforms to a profile: every demand was shown in this run, or is listed as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from storeproof.contract.families import Counter, KeyValue
from storeproof.contract.operations import OPERATIONS
from storeproof.outcome import IDLE, REFUTED, SHOWN, Outcome, worst
from storeproof.result.capabilities import cases_of
from storeproof.result.model import OutcomeRecord, ProfileVerdict
from storeproof.result.recorder import StoreRecord
from storeproof.spec.capability import Capability
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


def judge(profile: Profile, record: StoreRecord, capabilities: Mapping[str, Capability]) -> ProfileVerdict:
    """The verdict on a store.

    Args:
        profile: the demands.
        record: what the run collected.
        capabilities: the specification's, by full name; a case without an outcome is missing evidence.
    """
    findings = _Findings(tried=any(each.outcome not in IDLE for each in record.outcomes))
    for model in profile.models:
        _model(model, record, findings)
    for name in profile.capabilities:
        _capability(name, capabilities.get(name), record.outcomes, findings)
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


def _capability(name: str, capability: Capability | None, outcomes: Iterable[OutcomeRecord], findings: _Findings) -> None:
    of_case = cases_of(name, capability, outcomes)
    for case, found in of_case.items():
        outcome = worst(each.outcome for each in found)
        detail = next((each.detail for each in found if each.outcome is outcome), "left no outcome in this run")
        findings.note(outcome, f"capability {name}/{case}: {outcome}{_first_line(detail)}")
    if not of_case:
        findings.open.append(f"capability {name}: no case was run")


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
    """Every measurement of the workload with that number of clients must reach the demand."""
    what = f"speed {speed.workload} at {speed.clients} clients"
    found = [each for each in record.measurements if each.workload == speed.workload and each.clients == speed.clients]
    if not found:
        findings.open.append(f"{what}: not measured")
    for each in found:
        reached = f"{each.throughput.median:.0f} {each.throughput.unit} with {each.indexes} indexes"
        failing = ", ".join(name for name, gate in each.gates.items() if not gate.ok)
        if failing or not each.verified:
            findings.open.append(f"{what}: {reached}, but the number is not valid: {failing or 'the data was not verified'}")
        elif each.throughput.median < speed.at_least:
            findings.refuted.append(f"{what}: {reached}; demanded: {speed.at_least:.0f}")


def _first_line(detail: str) -> str:
    line = detail.strip().partition("\n")[0]
    return f": {line[:157] + '...' if len(line) > 160 else line}" if line else ""
