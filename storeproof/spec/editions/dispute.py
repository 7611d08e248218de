"""Disputes: what someone holds to be wrong in cases, settings, adapters and statements; the reply of a store's maker; what was decided."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Strict, StringConstraints, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.editions.records import read_records

DISPUTES: Final = "disputes"
"""The folder of the disputes."""

_NOT_WITHDRAWN: Final = ("durability.", "performance.", "growth.", "cache.")

_ABOUT: Final = ("case", "setting", "adapter", "statement")

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]


class MakersReply(Frozen):
    """What the maker of a store says, in its own words."""

    by: Line
    """The maker, and who speaks for it."""
    on: Annotated[datetime.date, Strict(False)]
    said: Line
    source: Annotated[str, StringConstraints(pattern="^https://[^ ]+$")]
    """Where it can be read."""


class Dispute(SpecFile):
    """One dispute: `disputes/NAME.yaml`, of a case, or of a setting, an adapter or a statement about a store. It demands nothing."""

    FORMAT: ClassVar[tuple[int, int]] = (1, 1)

    dispute: Name
    """Its name, which the file has too."""
    case: Line | None = None
    """The id of the case."""
    setting: Line | None = None
    """A variant's setting, or an option of its adapter: `VARIANT: NAME`."""
    adapter: Line | None = None
    """What an adapter sends, or does not."""
    statement: Line | None = None
    """A sentence of a page, with the page before it."""
    store: Name | None = None
    """The store that it is about, on whose page it is shown."""
    editions: Annotated[tuple[str, ...], Strict(False)] = ()
    """The editions in which the case is disputed; none: all."""
    affected: Line
    """The stores that are judged or shown wrongly, or may be."""
    reason: Line
    """What is said to be wrong, with the URL of the issue."""
    state: Literal["open", "upheld", "withdrawn"]
    """`open`: not decided. `upheld`: all stays as it is. `withdrawn`: the case decides nothing any more, or the rest was mended."""
    decision: Line | None = None
    """What was decided, and why; none of an open dispute."""
    reply: MakersReply | None = None

    @model_validator(mode="after")
    def _about_one_thing(self) -> Self:
        given = [name for name in _ABOUT if getattr(self, name) is not None]
        if len(given) != 1:
            raise RuleError(f"found {' and '.join(f'`{name}`' for name in given) or 'none'}; allowed: one of `{'`, `'.join(_ABOUT)}`")
        if self.case is None and self.store is None:
            raise RuleError(f"is missing, and must be given where `{given[0]}` is", "store")
        return self

    @model_validator(mode="after")
    def _decided_or_open(self) -> Self:
        if (self.state == "open") != (self.decision is None):
            allowed = "no decision while it is open" if self.state == "open" else f"the decision by which it is {self.state}"
            raise RuleError(f"allowed: {allowed}", "decision")
        return self

    @model_validator(mode="after")
    def _verdicts_can_do_without_it(self) -> Self:
        if self.state == "withdrawn" and self.case is not None and self.case.startswith(_NOT_WITHDRAWN):
            allowed = "open or upheld: what is proven rests on such cases, and numbers on them; mend this one in the next edition"
            raise RuleError(f"found 'withdrawn' of {self.case}; allowed: {allowed}", "state")
        return self

    @property
    def about(self) -> str:
        """What is disputed, in one line."""
        return self.case or next(f"{name} of {self.store}: {told}" for name in _ABOUT[1:] if (told := getattr(self, name)))

    def concerns(self, edition: str) -> bool:
        return not self.editions or edition in self.editions


def withdrawn_cases(disputes: Iterable[Dispute], edition: str) -> frozenset[str]:
    """The cases of an edition that decide nothing any more."""
    return frozenset(each.case for each in disputes if each.case and each.state == "withdrawn" and each.concerns(edition))


def read_disputes(root: Path) -> Sequence[Dispute]:
    """All disputes under a root of the specification, by name.
    Raises `SpecError`: a file breaks a rule, or is not called as its dispute."""
    return read_records(root / DISPUTES, Dispute, "dispute")


_TOP: Final = (
    "# Disputes\n\nCases, settings, adapters and statements that someone holds to be wrong, what a store's maker says, and what was "
    "decided. This page is made from `spec/disputes/` by `storeproof disputes > DISPUTES.md`. "
    "[Disputes](docs/CONFORMANCE.md#disputes) says how to open one, and what the states mean.\n"
)


def disputes_page(disputes: Sequence[Dispute]) -> str:
    if not disputes:
        return f"{_TOP}\nNothing is disputed.\n"
    rows = "".join(
        f"| {_cell(each.dispute)} | `{_cell(each.about)}` | {_cell(', '.join(each.editions) or 'all')} | {_cell(each.affected)} "
        f"| {_cell(each.reason)} | {_reply(each)} | {each.state} | {_cell(each.decision or '')} |\n"
        for each in disputes
    )
    head = "| dispute | what is disputed | editions | who is affected | reason | the maker's reply | state | decision |\n"
    return f"{_TOP}\n{head}|---|---|---|---|---|---|---|---|\n{rows}"


def _reply(dispute: Dispute) -> str:
    reply = dispute.reply
    return "" if reply is None else f"{_cell(reply.by)}, {reply.on}: {_cell(reply.said)} ({_cell(reply.source)})"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
