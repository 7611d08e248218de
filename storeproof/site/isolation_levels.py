"""What each isolation level of a variant claims, and what the transactions of its results showed of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from storeproof.check import strongest
from storeproof.outcome import Outcome
from storeproof.printable import in_one_line
from storeproof.report.parts.isolation_table import named
from storeproof.result.measured.isolation import AnomalySeen, IsolationCounts
from storeproof.result.model import OutcomeRecord
from storeproof.result.needs.joined_results import NO_EVIDENCE
from storeproof.site.joined_results import JoinedResult, SiteVariant
from storeproof.spec import Store
from storeproof.spec.cases import isolation_case
from storeproof.spec.interleaving import LEVELS, Isolation
from storeproof.spec.isolation import Guarantees, LevelClaim

_LONGEST: Final = 160
"""Characters of a detail that are shown."""


@dataclass(frozen=True)
class TriedMix:
    """The transactions of one mix at one level, from one result."""

    found: JoinedResult
    case: OutcomeRecord
    counts: IsolationCounts


@dataclass(frozen=True)
class LevelShown:
    """One level of one variant."""

    variant: SiteVariant
    level: Isolation
    claim: LevelClaim | None
    """None where the project has no file of the store, or its file claims nothing of the level."""
    tried: tuple[TriedMix, ...]
    """Each mix once."""

    @property
    def asked(self) -> str:
        """As a transaction asks for it."""
        return f"begin({self.level})"

    @property
    def guarantees(self) -> Guarantees | None:
        """What is claimed: in the store's file, or else in the result; None where the variant has no such level."""
        if self.claim is not None:
            return self.claim.guarantees
        return next((each.counts.guarantees for each in self.tried), None)

    @property
    def outcome(self) -> Outcome | None:
        """The worst of its mixes; None where none was tried."""
        order = list(Outcome)
        return min((each.case.outcome for each in self.tried), key=order.index, default=None)

    @property
    def committed(self) -> int:
        return sum(each.counts.committed for each in self.tried)

    @property
    def contended(self) -> int:
        return sum(each.counts.contended for each in self.tried)

    @cached_property
    def anomalies(self) -> list[tuple[TriedMix, AnomalySeen]]:
        """Each kind once, as it was seen soonest; those that are forbidden first, and of these the one that was seen soonest."""
        every = [(mix, each) for mix in self.tried for each in mix.counts.anomalies]
        soonest = {(each.kind, each.order): (mix, each) for mix, each in sorted(every, key=lambda found: -found[1].after)}
        return sorted(soonest.values(), key=lambda found: (not found[1].forbidden, found[1].after))

    @property
    def why(self) -> str:
        """What refutes it: the anomaly that was seen soonest of those that are forbidden, or else what the case says."""
        if self.anomalies and self.anomalies[0][1].forbidden:
            return named(self.anomalies[0][1])
        return next(in_one_line(each.case.why, _LONGEST) for each in self.tried if each.case.outcome is self.outcome)

    @property
    def not_refuted(self) -> list[Guarantees]:
        """The strongest guarantees that nothing which was seen refutes."""
        return strongest({(each.kind, each.order) for _, each in self.anomalies})


def levels_of(variant: SiteVariant, file: Store | None, apart: Collection[str]) -> list[LevelShown]:
    """Those that the variant claims, or was tried at.

    Args:
        file: of the store, where the specification has it.
        apart: mixes that read at several nodes, of which a level claims something else.
    """
    claims = file.levels_of(variant.variant) if file is not None and variant.variant in file.variants else {}
    found = [LevelShown(variant, level, claims.get(level), tuple(_tried(variant.joined, level, apart))) for level in LEVELS]
    return [each for each in found if each.guarantees is not None]


def _tried(joined: Iterable[JoinedResult], level: Isolation, apart: Collection[str]) -> list[TriedMix]:
    """Each mix from the preferred result that says something of it, else from the one that tried it."""
    found: dict[str, TriedMix] = {}
    for each in joined:
        for case in each.store.outcomes:
            if case.isolation is None or case.isolation.mix in apart or case.id != isolation_case(level, case.isolation.mix):
                continue
            known = found.get(case.isolation.mix)
            if known is None or (known.case.outcome in NO_EVIDENCE and case.outcome not in NO_EVIDENCE):
                found[case.isolation.mix] = TriedMix(each, case, case.isolation)
    return list(found.values())
