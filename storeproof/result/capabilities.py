"""Rolls up the cases of a capability: its outcome is the worst of those that decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from storeproof.outcome import SHOWN, worst
from storeproof.result.model import CapabilityResult, OutcomeRecord
from storeproof.spec import Capability, Spec
from storeproof.spec.cases import PUSHDOWN

_PREFIX = "capabilities."


def by_capability(outcomes: Iterable[OutcomeRecord]) -> dict[str, list[OutcomeRecord]]:
    """The outcomes of the cases of each capability, by its full name; those of other cases are left out."""
    found: dict[str, list[OutcomeRecord]] = {}
    for each in outcomes:
        if each.id.startswith(_PREFIX):
            found.setdefault(each.id.removeprefix(_PREFIX).partition("/")[0], []).append(each)
    return found


def cases_of(name: str, capability: Capability | None, outcomes: Iterable[OutcomeRecord]) -> dict[str, list[OutcomeRecord]]:
    """The outcomes of each case, by number; a case without an outcome has an empty list.

    Case ids are `capabilities.GROUP.CAPABILITY/NUMBER`.
    """
    prefix = f"{_PREFIX}{name}/"
    found: dict[str, list[OutcomeRecord]] = {case.id: [] for case in capability.cases} if capability else {}
    if capability and capability.questions:
        found[PUSHDOWN] = []
    for each in outcomes:
        if each.id.startswith(prefix):
            found.setdefault(each.id.removeprefix(prefix), []).append(each)
    return dict(sorted(found.items()))


def deciding_cases_of(name: str, outcomes: Iterable[OutcomeRecord], spec: Spec) -> dict[str, list[OutcomeRecord]]:
    """As `cases_of`, of the cases by which a capability is judged; empty where none of its cases decides."""
    found = cases_of(name, spec.capabilities.get(name), outcomes)
    return {case: records for case, records in found.items() if spec.decides(f"{_PREFIX}{name}/{case}")}


def decisive(outcomes: Sequence[OutcomeRecord]) -> Sequence[OutcomeRecord]:
    """Of the outcomes of one capability those that its entry in the result sums up: the ones that decide, and all where none does."""
    return [each for each in outcomes if each.decides] or outcomes


def roll_up(name: str, outcomes: Iterable[OutcomeRecord], spec: Spec, *, claimed: bool) -> CapabilityResult:
    """A capability's entry in the result. One that nothing decides yet is shown with the cases that it has."""
    outcomes = list(outcomes)
    found = deciding_cases_of(name, outcomes, spec) or cases_of(name, spec.capabilities[name], outcomes)
    cases = [worst(each.outcome for each in records) for records in found.values()]
    return CapabilityResult(
        capability=name, claimed=claimed, outcome=worst(cases), cases=len(cases), passed=sum(outcome in SHOWN for outcome in cases)
    )
