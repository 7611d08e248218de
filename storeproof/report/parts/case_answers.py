"""The cases of each capability: what was asked, what is correct, and what each store answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storeproof.outcome import SHOWN, Outcome
from storeproof.report.formatting import MARKS, name_of
from storeproof.report.parts.demands import ShownStep, exchanges
from storeproof.report.tables import Cell, Table
from storeproof.result.capabilities import by_capability
from storeproof.result.model import OutcomeRecord, Result
from storeproof.spec import Capability, CapabilityCase, Spec
from storeproof.spec.cases import PUSHDOWN


@dataclass(frozen=True)
class CaseAnswers:
    number: str
    about: str
    """Its title, or why there is none."""
    asked: Sequence[ShownStep]
    """Empty where the specification has it no longer in the form that the run tried."""
    answers: Table
    """By outcome and finding, the stores that they are of."""


def case_answers(result: Result, spec: Spec) -> Mapping[str, list[CaseAnswers]]:
    """All cases that were tried, by capability."""
    tried = [(name_of(store), by_capability(store.outcomes)) for store in result.stores]
    found = {}
    for name in dict.fromkeys(each.capability for store in result.stores for each in store.capabilities):
        records = [(store, each) for store, cases in tried for each in cases.get(name, ())]
        found[name] = _of_capability(records, spec.capabilities.get(name))
    return found


def _of_capability(records: Sequence[tuple[str, OutcomeRecord]], capability: Capability | None) -> list[CaseAnswers]:
    known = {case.id: case for case in capability.cases} if capability else {}
    by_number: dict[str, list[tuple[str, OutcomeRecord]]] = {}
    for store, each in records:
        by_number.setdefault(each.id.partition("/")[2], []).append((store, each))
    return [_case(number, known.get(number), by_number[number]) for number in sorted(by_number)]


def _case(number: str, case: CapabilityCase | None, records: Sequence[tuple[str, OutcomeRecord]]) -> CaseAnswers:
    answers = _answers(records)
    if number == PUSHDOWN:
        return CaseAnswers(number, "the store did the work itself, and the client received no more than the answer", (), answers)
    if case is None:
        return CaseAnswers(number, "this version of the specification does not have it", (), answers)
    if {each.revision for _, each in records} != {case.revision}:
        return CaseAnswers(number, f"{case.title}; its demands have changed since this run", (), answers)
    standing = next((each.standing for _, each in records if each.standing), None)
    return CaseAnswers(number, f"{case.title} ({standing}: it decides nothing)" if standing else case.title, exchanges(case), answers)


def _answers(records: Sequence[tuple[str, OutcomeRecord]]) -> Table:
    """What several stores answered alike is told once, the worst first."""
    found: dict[tuple[Outcome, str], list[str]] = {}
    for store, each in records:
        detail = each.detail or ("as is correct" if each.outcome in SHOWN else "no detail was given")
        found.setdefault((each.outcome, detail), []).append(store)
    order = list(Outcome)
    rows = [
        [Cell(f"{MARKS[outcome]} {outcome}", outcome.value), Cell(", ".join(dict.fromkeys(stores))), Cell(detail)]
        for (outcome, detail), stores in sorted(found.items(), key=lambda item: order.index(item[0][0]))
    ]
    return Table(("outcome", "stores", "answered"), rows, "")
