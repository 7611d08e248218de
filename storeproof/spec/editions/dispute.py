"""Disputes: cases that someone holds to be wrong, and what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Strict, StringConstraints, model_validator

from storeproof.spec.base import Name, RuleError, SpecFile
from storeproof.spec.editions.records import read_records

DISPUTES: Final = "disputes"
"""The folder of the disputes."""

_NOT_WITHDRAWN: Final = ("durability.", "performance.", "growth.", "cache.")

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]


class Dispute(SpecFile):
    """One dispute: `disputes/NAME.yaml`. It demands nothing of a store."""

    dispute: Name
    """Its name, which the file has too."""
    case: Line
    """The id of the case."""
    editions: Annotated[tuple[str, ...], Strict(False)] = ()
    """The editions in which the case is disputed; none: all."""
    affected: Line
    """The stores that the case judges wrongly, or may."""
    reason: Line
    """What is said to be wrong, with the URL of the issue."""
    state: Literal["open", "upheld", "withdrawn"]
    """`open`: not decided. `upheld`: the case stays as it is. `withdrawn`: the case decides nothing any more."""
    decision: Line | None = None
    """What was decided, and why; none of an open dispute."""

    @model_validator(mode="after")
    def _decided_or_open(self) -> Self:
        if (self.state == "open") != (self.decision is None):
            allowed = "no decision while it is open" if self.state == "open" else f"the decision by which it is {self.state}"
            raise RuleError(f"allowed: {allowed}", "decision")
        return self

    @model_validator(mode="after")
    def _verdicts_can_do_without_it(self) -> Self:
        if self.state == "withdrawn" and self.case.startswith(_NOT_WITHDRAWN):
            allowed = "open or upheld: what is proven rests on such cases, and numbers on them; mend this one in the next edition"
            raise RuleError(f"found 'withdrawn' of {self.case}; allowed: {allowed}", "state")
        return self

    def concerns(self, edition: str) -> bool:
        return not self.editions or edition in self.editions


def withdrawn_cases(disputes: Iterable[Dispute], edition: str) -> frozenset[str]:
    """The cases of an edition that decide nothing any more."""
    return frozenset(each.case for each in disputes if each.state == "withdrawn" and each.concerns(edition))


def read_disputes(root: Path) -> Sequence[Dispute]:
    """All disputes under a root of the specification, by name.
    Raises `SpecError`: a file breaks a rule, or is not called as its dispute."""
    return read_records(root / DISPUTES, Dispute, "dispute")


_TOP = (
    "# Disputed cases\n\nCases that someone holds to be wrong, and what was decided. This page is made from `spec/disputes/` by "
    "`storeproof disputes > DISPUTES.md`. [Disputes](docs/CONFORMANCE.md#disputes) says how a case is disputed, and what the states mean.\n"
)


def disputes_page(disputes: Sequence[Dispute]) -> str:
    if not disputes:
        return f"{_TOP}\nNo case is disputed.\n"
    rows = "".join(
        f"| {_cell(each.dispute)} | `{_cell(each.case)}` | {_cell(', '.join(each.editions) or 'all')} | {_cell(each.affected)} "
        f"| {_cell(each.reason)} | {each.state} | {_cell(each.decision or '')} |\n"
        for each in disputes
    )
    return f"{_TOP}\n| dispute | case | editions | who is affected | reason | state | decision |\n|---|---|---|---|---|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
