"""What an outage adds up to: a verdict, a sentence, and the record that the result keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from storeproof.blame import judge
from storeproof.check import Anomaly, Finding
from storeproof.contract import Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.performance.outage import CLIENTS, Name, Seen
from storeproof.outcome import Outcome
from storeproof.result.outage import OutageBin, OutageEvent, OutagePart, OutageRecord
from storeproof.result.part import Gate
from storeproof.stats.unavailability import SECOND, Figures, Share, bins, figures
from storeproof.units import micros

_LAG_MS = 5.0
"""A twentieth of a bin: what the clients add by themselves must not show in what is told in tenths of a second."""
_OVERLOAD = 0.01
_SHOWN = 3


class Aftermath:
    """Of one fault on one store."""

    def __init__(self, fault: Name, seen: Seen, *, claimed: bool, rate: int) -> None:
        """`claimed`: whether nothing may be lost by it."""
        self.fault = fault
        self.seen = seen
        self.claimed = claimed
        self.rate = rate

    @cached_property
    def figures(self) -> Figures:
        """What the clients saw."""
        return figures(self.seen.watched)

    @property
    def harmed(self) -> list[Finding]:
        """Writes that were not found as they were acknowledged."""
        return [each for each in self.seen.findings if each.anomaly is not Anomaly.OK]

    @property
    def gates(self) -> Mapping[str, Gate]:
        """Whether the figures can be believed."""
        found = {"schedule_lag_ms": (self.figures.schedule_lag_us / 1000, _LAG_MS), "overload": (self.figures.overload, _OVERLOAD)}
        return {name: Gate(ok=value <= limit, value=value, limit=limit) for name, (value, limit) in found.items()}

    @property
    def outcome(self) -> Outcome:
        """What it says of the store.

        A loss is a failure where the variant promises that there is none, and a number where it does not; what nobody wrote fails in
        any case. How soon it must be back no store promises and no guarantee demands, so a slow return is no failure: it is a number
        too. One that was not seen to its end within the time of the scale is no number, and `inconclusive`, and so is an outage
        before which nothing was acknowledged, or after which the store runs and does not answer. A store that does not start again
        fails; one that refuses what it is asked, tables that want to be repaired, breaks no promise where it gave none.
        """
        if self.seen.failure is not None:
            return judge(self.seen.failure, claimed=self.claimed).outcome
        if any(each.anomaly is Anomaly.INVENTED for each in self.harmed) or (self.harmed and self.claimed):
            return Outcome.FAIL
        if not self.seen.at_risk or self.figures.degraded_seconds is None:
            return Outcome.INCONCLUSIVE
        return Outcome.PASS

    def detail(self) -> str:
        """In words."""
        seen = self.figures
        parts = [
            *self._failure(),
            f"{seen.unavailable_seconds:.2f} s without an answer",
            f"{seen.errors} errors",
            f"p99 {micros(seen.before.p99)} before, {micros(seen.during.p99)} during, {micros(seen.after.p99)} after",
            "not seen to be as before again" if seen.degraded_seconds is None else f"as before again after {seen.degraded_seconds:.2f} s",
            f"{seen.missed_sends} requests never sent" if seen.missed_sends else "",
            self._lost(),
            "first: " + " | ".join(str(each) for each in self.harmed[:_SHOWN]) if self.harmed and self.outcome is Outcome.FAIL else "",
            "" if self.seen.at_risk else "nothing was acknowledged before the fault",
        ]
        parts += [f"gate {name} fails: {gate.value:.3g} > {gate.limit:g}" for name, gate in self.gates.items() if not gate.ok]
        return "; ".join(part for part in parts if part)

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
            acknowledged=self.seen.acknowledged,
            unknown=self.seen.unknown,
            lost=len(self.harmed) if self.seen.failure is None else None,
            claimed=self.claimed,
            gates=dict(self.gates),
            events=[OutageEvent(name=name, second=self._since_fault(moment)) for name, moment in self._moments().items()],
            bins=[
                OutageBin(second=each.second, ok=each.ok, errors=each.errors, p50_us=each.p50, max_us=each.most)
                for each in bins(self.seen.watched)
            ],
            detail=detail,
        )

    def _failure(self) -> Iterator[str]:
        match self.seen.failure:
            case StoreDied() as died:
                yield f"it did not come back: {died.reason}"
            case Refused() as reason:
                yield f"after the fault the store refuses what it is asked: {reason}"
            case Unknown() as reason:
                yield f"the store runs and does not answer: {reason}"

    def _lost(self) -> str:
        acknowledged = f"{self.seen.acknowledged} acknowledged writes"
        if self.seen.failure is not None:
            return f"{acknowledged} not read back"
        if not self.harmed:
            return f"none of {acknowledged} lost"
        return f"{len(self.harmed)} of {acknowledged} lost" + ("" if self.claimed else ", and no promise broken")

    def _moments(self) -> Mapping[str, int]:
        """Those of the fault, and of the first answer after it, if there was one."""
        back = self.figures.back
        return self.seen.events if back == self.seen.watched.ended else {**self.seen.events, "back": back}

    def _since_fault(self, moment: int) -> float:
        return round((moment - self.seen.watched.struck) / SECOND, 3)


def _part(share: Share) -> OutagePart:
    return OutagePart(requests=share.requests, p50_us=share.p50, p99_us=share.p99, max_us=share.most)
