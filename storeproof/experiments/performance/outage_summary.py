"""What an outage adds up to: an outcome, a sentence, and the record that the result keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from storeproof.blame import CaseEnding, ending_of, outcome_of
from storeproof.check import Anomaly, Finding
from storeproof.contract import Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.performance.outage import CLIENTS, Observed
from storeproof.experiments.summary import Summary
from storeproof.outcome import Outcome
from storeproof.result.measured.outage import OutageBin, OutageEvent, OutagePart, OutageRecord
from storeproof.result.part import Gate
from storeproof.spec.scale import OutageFault
from storeproof.stats.unavailability import SECOND, Figures, Proportion, bins, figures
from storeproof.units import micros

_LAG_MS: Final = 5.0
"""A twentieth of a bin: what the clients add by themselves must not show in what is told in tenths of a second."""
_OVERLOAD: Final = 0.01
_SHOWN: Final = 3


@dataclass(kw_only=True)
class OutageSummary(Summary):
    fault: OutageFault
    observed: Observed
    claimed: bool
    """Whether nothing may be lost by it."""
    rate: int

    def __post_init__(self) -> None:
        if isinstance(self.observed.failure, StoreDied):
            self.log = self.observed.failure.log

    @cached_property
    def figures(self) -> Figures:
        return figures(self.observed.watched)

    @property
    def harmed(self) -> list[Finding]:
        """Writes that were not found as they were acknowledged."""
        return [each for each in self.observed.findings if each.anomaly is not Anomaly.OK]

    @property
    def gates(self) -> Mapping[str, Gate]:
        """Whether the figures can be believed."""
        found = {"schedule_lag_ms": (self.figures.schedule_lag_us / 1000, _LAG_MS), "overload": (self.figures.overload, _OVERLOAD)}
        return {name: Gate(ok=value <= limit, value=value, limit=limit) for name, (value, limit) in found.items()}

    @property
    def ending(self) -> CaseEnding:
        """How the case ends.

        A loss breaks the promise where the variant promises that there is none, and is a number where it does not. How soon a store must be
        back no store promises and no guarantee demands, so a slow return is a number too. One that was not seen to its end within the time
        of the scale is no number, and so is an outage before which nothing was acknowledged, or after which the store runs and does not
        answer. A store that does not start again fails; one that refuses what it is asked, tables that want to be repaired, breaks no
        promise where it gave none.
        """
        if self.observed.failure is not None:
            return ending_of(self.observed.failure)
        if any(each.anomaly is Anomaly.INVENTED for each in self.harmed):
            return CaseEnding.MADE_UP
        if self.harmed and self.claimed:
            return CaseEnding.BROKEN_PROMISE
        if not self.observed.at_risk or self.figures.degraded_seconds is None:
            return CaseEnding.NOTHING_AT_RISK
        return CaseEnding.RIGHT

    def outcome(self, *, claimed: bool) -> Outcome:
        """What was measured is no promise that was kept: a right outage passes, claimed or not."""
        return outcome_of(self.ending, claimed=claimed or self.ending is CaseEnding.RIGHT)

    @property
    def findings(self) -> list[str]:
        return [self.sentence()]

    def parts(self) -> Iterator[str]:
        """What the clients saw, and what was lost."""
        seen = self.figures
        yield from self._failure()
        yield f"{seen.unavailable_seconds:.2f} s without an answer"
        yield f"{seen.errors} errors"
        yield f"p99 {micros(seen.before.p99)} before, {micros(seen.during.p99)} during, {micros(seen.after.p99)} after"
        yield "not seen to be as before again" if seen.degraded_seconds is None else f"as before again after {seen.degraded_seconds:.2f} s"
        yield f"{seen.missed_sends} requests never sent" if seen.missed_sends else ""
        yield self._lost()
        if self.ending in (CaseEnding.MADE_UP, CaseEnding.BROKEN_PROMISE):
            yield "first: " + " | ".join(str(each) for each in self.harmed[:_SHOWN])
        yield "" if self.observed.at_risk else "nothing was acknowledged before the fault"
        for name, gate in self.gates.items():
            if not gate.ok:
                yield f"gate {name} fails: {gate.value:.3g} > {gate.limit:g}"

    def record(self, outcome: Outcome, detail: str) -> OutageRecord:
        """For the result file. `outcome`: as the store's file has it, where that knows the failure."""
        seen = self.figures
        return OutageRecord(
            fault=self.fault,
            outcome=outcome,
            clients=CLIENTS,
            rate=self.rate,
            unavailable_seconds=round(seen.unavailable_seconds, 4),
            degraded_seconds=seen.degraded_seconds if seen.degraded_seconds is None else round(seen.degraded_seconds, 3),
            errors=seen.errors,
            missed_sends=seen.missed_sends,
            before=_part(seen.before),
            during=_part(seen.during),
            after=_part(seen.after),
            acknowledged=self.observed.acknowledged,
            unknown=self.observed.unknown,
            lost=len(self.harmed) if self.observed.failure is None else None,
            claimed=self.claimed,
            gates=dict(self.gates),
            events=[OutageEvent(name=name, second=self._since_fault(moment)) for name, moment in self._moments().items()],
            bins=[
                OutageBin(second=each.second, ok=each.ok, errors=each.errors, p50_us=each.p50, max_us=each.most)
                for each in bins(self.observed.watched)
            ],
            detail=detail,
        )

    def _failure(self) -> Iterator[str]:
        match self.observed.failure:
            case StoreDied() as died:
                yield f"it did not come back: {died.reason}"
            case Refused() as reason:
                yield f"after the fault the store refuses what it is asked: {reason}"
            case Unknown() as reason:
                yield f"the store runs and does not answer: {reason}"

    def _lost(self) -> str:
        acknowledged = f"{self.observed.acknowledged} acknowledged writes"
        if self.observed.failure is not None:
            return f"{acknowledged} not read back"
        if not self.harmed:
            return f"none of {acknowledged} lost"
        return f"{len(self.harmed)} records lost of {acknowledged}" + ("" if self.claimed else ", and no promise broken")

    def _moments(self) -> Mapping[str, int]:
        """The moments of the fault, and of the first answer after it, if there was one."""
        back = self.figures.back
        return self.observed.events if back == self.observed.watched.ended else {**self.observed.events, "back": back}

    def _since_fault(self, moment: int) -> float:
        return round((moment - self.observed.watched.struck) / SECOND, 3)


def _part(share: Proportion) -> OutagePart:
    return OutagePart(requests=share.requests, p50_us=share.p50, p99_us=share.p99, max_us=share.most)
