"""DISPUTES.md, made from the files of the disputes."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.spec.editions.dispute import Dispute

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
