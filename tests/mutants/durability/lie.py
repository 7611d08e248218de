"""A durability mutant: a store file whose guarantee its store does not keep, and the finding that must reveal it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Counted = Literal["lost", "resurrected", "reverted", "torn", "invented", "miscounted", "split"]
"""Verdicts on keys: the record of a guarantee has a count of each."""

Kind = Counted | Literal["unstartable", "accepts no writes", "does not work", "does not answer"]
"""What the rounds can find. The last four are of a store that is broken."""

COUNTED: Final[tuple[Counted, ...]] = ("lost", "resurrected", "reverted", "torn", "invented", "miscounted", "split")
_BROKEN: Final[tuple[Kind, ...]] = ("unstartable", "accepts no writes", "does not work", "does not answer")

LATE: Final[frozenset[Kind]] = frozenset({"lost", "resurrected", "reverted", "miscounted"})
"""What the loss of the latest writes looks like: of puts, deletes, overwritings and increments."""


@dataclass(frozen=True)
class Lie:
    """One store, and one promise that it breaks."""

    name: str
    says: str
    """What it does, in a line of the table."""
    guarantee: str
    """What it claims, and the case that must fail."""
    store: Mapping[str, Any] | str
    """Its store file, but for its name and what it claims to survive; or one of the project's stores, as on the command line."""
    by: frozenset[Kind] = frozenset({"lost"})
    """What must be found: one of these."""
    beside: frozenset[Kind] = frozenset()
    """What may be found too. Anything else shows that something else was caught."""
    load: tuple[str, ...] = ("burst", "stream")
    """What goes on when the fault strikes; the guarantees of the run are cut down to it."""
    power_cut: str = "auto"
    """How the power is cut, where that is the fault."""


@dataclass(frozen=True)
class Found:
    """What the trial found."""

    outcome: str
    detail: str
    record: Mapping[str, Any]

    @property
    def kinds(self) -> frozenset[Kind]:
        """By the counts of the record, and by what the detail says of a store that is broken."""
        counted = [kind for kind in COUNTED if self.record[kind]]
        return frozenset([*counted, *(kind for kind in _BROKEN if f"{kind}:" in self.detail)])

    def caught(self, lie: Lie) -> bool:
        """Whether what is meant for it has caught it, and nothing else."""
        return self.outcome == "fail" and bool(lie.by & self.kinds) and self.kinds <= lie.by | lie.beside
