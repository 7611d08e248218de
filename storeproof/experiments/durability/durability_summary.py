"""What the rounds of one guarantee add up to, and what that says of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, get_args

from storeproof.blame import Ending
from storeproof.check import Anomaly, Finding, Losses, Shape, upper_bound, worst
from storeproof.experiments.summary import Summary, count_anomalies
from storeproof.outcome import Outcome
from storeproof.result.model import GuaranteeRecord, WorstLoss
from storeproof.result.strength import strength
from storeproof.spec.guarantee import LoadShape

_SHOWN = 3
"""Lost keys that a message names: the first ones say what to look for, the counts say how much."""

_COSTS = 6
"""Faults that a message names."""

_COUNTERS: Final[dict[LoadShape, str]] = {"burst": "bursts", "stream": "streams", "bulk": "bulks", "compaction": "compactions"}


@dataclass(kw_only=True)
class DurabilitySummary(Summary):
    """Sums over rounds."""

    streams: int = 0
    bursts: int = 0
    bulks: int = 0
    compactions: int = 0
    amid: int = 0
    """Of the compactions, those that were not done when the fault struck."""
    command: str = ""
    """By which the store was told to compact."""
    without: dict[LoadShape, str] = field(default_factory=dict)
    """Shapes of load that could not be tried, and why."""
    power_cut_method: str | None = None
    """What the power was cut with, where it was."""
    second_faults: int = 0
    """Struck during the recovery from one of the others; not counted as faults of their own."""
    lossy: int = 0
    """Faults that cost anything, of the data or of the store's use."""
    clients: int = 0
    acknowledged: int = 0
    unknown: int = 0
    keys: set[tuple[str, str | int]] = field(default_factory=set)
    """Those that were read back, most of them after several faults."""
    anomalies: Counter[Anomaly] = field(default_factory=Counter)
    """One per audit of a key; none but `ok` comes twice for one key."""
    losses: list[Losses] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    """Models whose collection itself was gone after a fault."""
    idle: list[str] = field(default_factory=list)
    """Rounds in which nothing was acknowledged, and why: they show nothing."""
    since_restart: int | None = None
    """Faults since the store was stopped and started, on which the first writes follow; None where it was not."""
    costs: list[str] = field(default_factory=list)
    """What each fault cost that cost anything: which one it was, during which load, and how much. A known failure names these."""
    broken: str = ""
    """The store ended by itself, does not start, or does not work after a start: why."""
    needs_repair: bool = False
    """It is broken in that it starts after the fault and then answers with errors."""
    _shape: LoadShape | None = None
    _grave: list[str] = field(default_factory=list)
    """Of `costs`, what no missing promise excuses."""

    def add(self, findings: list[Finding], lost: Losses) -> None:
        """Count what one audit found."""
        self.losses.append(lost)
        harmed: Counter[Anomaly] = Counter(finding.anomaly for finding in findings if finding.anomaly is not Anomaly.OK)
        if harmed:
            self.lossy += 1
            window = f"; {lost.records} operations within {lost.window_ms:.0f} ms, {lost.shape}" if lost.shape is not Shape.NOTHING else ""
            of = sorted({finding.collection for finding in findings if finding.anomaly is not Anomaly.OK})
            self.costs.append(f"{self._fault}{count_anomalies(harmed)} of {', '.join(of)}{window}")
            self._grave += self.costs[-1:] if harmed[Anomaly.INVENTED] else []
        for finding in findings:
            self.keys.add((finding.collection, finding.key))
            self.anomalies[finding.anomaly] += 1
            if finding.anomaly is not Anomaly.OK and len(self.first) < _SHOWN:
                self.first.append(str(finding))

    def breaks(self, reason: str, log: str) -> None:
        """The last fault left the store of no use."""
        self.broken, self.log = reason, log
        self.lossy += 1
        self.costs.append(f"{self._fault}{reason}")
        self._grave += [] if self.needs_repair else self.costs[-1:]

    @property
    def findings(self) -> list[str]:
        """Fault by fault; what breaks the store comes with its log."""
        return self._with_log(self.costs)

    @property
    def unexcused(self) -> list[str]:
        """What no missing promise excuses."""
        return self._with_log(self._grave)

    def _with_log(self, failed: list[str]) -> list[str]:
        said = f"; its log: {self.log}" if self.broken and self.log else ""
        return [f"{each}{said}" if each == self.costs[-1] else each for each in failed]

    @property
    def _fault(self) -> str:
        """Which one is under way."""
        if self._shape is None:
            return ""
        since = "" if self.since_restart is None else f", {self.since_restart} since a clean restart"
        return f"fault {self.rounds}{since}, {self._shape}: "

    def count(self, shape: LoadShape, by: int = 1) -> None:
        """A fault strikes during that shape of load; by -1: it did, and its round was spoiled."""
        setattr(self, _COUNTERS[shape], getattr(self, _COUNTERS[shape]) + by)
        self._shape = shape
        if self.since_restart is not None:
            self.since_restart += by

    @property
    def rounds(self) -> int:
        """How often the fault struck, in all shapes of load together."""
        return self.streams + self.bursts + self.bulks + self.compactions

    @property
    def bound(self) -> float | None:
        """The share of such faults that cost something, at most, with 95 % confidence. One that found nothing at risk is no evidence."""
        telling = self.rounds - len(self.idle)
        return upper_bound(telling, min(self.lossy, telling)) if telling > 0 else None

    @property
    def harmed(self) -> int:
        """Keys that are not as they were acknowledged."""
        return sum(number for anomaly, number in self.anomalies.items() if anomaly is not Anomaly.OK)

    @property
    def ending(self) -> Ending:
        """How the case ends.

        Losing what was never promised to be kept breaks no promise, whatever its form: an old, half or deleted record after such a fault is
        a loss too, and so are tables that want to be repaired. No missing promise excuses a store that serves what no client wrote, ends by
        itself, or does not start.
        """
        if self.anomalies[Anomaly.INVENTED]:
            return Ending.MADE_UP
        if self.broken and not self.needs_repair:
            return Ending.SERVER_ENDED
        if self.harmed or self.broken:
            return Ending.BROKEN_PROMISE
        if self.given_up:
            return Ending.SPOILED
        return Ending.NOTHING_AT_RISK if self.idle else Ending.RIGHT

    def parts(self) -> Iterator[str]:
        """At risk, harmed, worst window, first keys."""
        yield f"{self._struck()}; {self.acknowledged} operations acknowledged, {self.unknown} unknown"
        for shape, reason in self.without.items():
            yield f"not tried during a {shape}: {reason}"
        if self.broken and not self.costs:
            yield self.broken
        if self.costs:
            more = f" | and {len(self.costs) - _COSTS} more" if len(self.costs) > _COSTS else ""
            yield "by fault: " + " | ".join(self.costs[:_COSTS]) + more
        if self.harmed:
            yield from self._harm()
        elif not self.broken:
            yield f"nothing was lost of {len(self.keys)} keys"
        if self.bound is not None:
            yield strength(self.rounds - len(self.idle), self.lossy, self.bound)
        yield from self.idle
        if self.spoiled:
            done = "given up" if self.given_up else "repeated"
            yield f"{len(self.spoiled)} rounds were spoiled and {done}: {' | '.join(dict.fromkeys(self.spoiled))}"
        if self.recoveries:
            yield f"recovery {min(self.recoveries):.2f} to {max(self.recoveries):.2f} s"

    def _harm(self) -> Iterator[str]:
        yield count_anomalies(self.anomalies)
        window = worst(self.losses)
        if window.shape is not Shape.NOTHING:
            yield f"worst window {window.window_ms:.0f} ms with {window.records} operations, {window.shape}"
        if self.gone:
            yield f"the collections themselves were gone: {', '.join(sorted(self.gone))}"
        yield "first: " + " | ".join(self.first)

    def _struck(self) -> str:
        """How often, and what went on then."""
        text = f"faults: {self.streams} under a stream of {self.clients} clients"
        if self.bursts:
            text += f", {self.bursts} on the last acknowledgement of a burst"
        if self.bulks:
            text += f", {self.bulks} within a batch of a bulk load"
        if self.compactions:
            text += f", {self.compactions} during {self.command}, of which {self.amid} before it was done"
        if self.power_cut_method:
            text += f", by {self.power_cut_method}"
        if self.second_faults:
            text += f"; {self.second_faults} second faults during the recovery"
        return text

    def record(self, guarantee: str, outcome: Outcome, detail: str) -> GuaranteeRecord:
        """For the result file."""
        return GuaranteeRecord(
            guarantee=guarantee,
            outcome=outcome,
            rounds=self.rounds,
            faults_by_load={name: number for name in get_args(LoadShape) if (number := getattr(self, _COUNTERS[name]))},
            second_faults=self.second_faults,
            power_cut_method=self.power_cut_method,
            faults_with_loss=self.lossy,
            loss_bound=self.bound,
            worst_loss=_worst(self.losses),
            acknowledged=self.acknowledged,
            unknown=self.unknown,
            lost=self.anomalies[Anomaly.LOST],
            resurrected=self.anomalies[Anomaly.RESURRECTED],
            reverted=self.anomalies[Anomaly.REVERTED],
            torn=self.anomalies[Anomaly.TORN],
            invented=self.anomalies[Anomaly.INVENTED],
            miscounted=self.anomalies[Anomaly.MISCOUNTED],
            split=self.anomalies[Anomaly.SPLIT],
            recovery_seconds=self.recoveries,
            spoiled=len(self.spoiled),
            detail=detail,
        )


def _worst(found: list[Losses]) -> WorstLoss | None:
    gravest = worst(found)
    if gravest.shape is Shape.NOTHING:
        return None
    return WorstLoss(shape=gravest.shape.value, records=gravest.records, window_ms=round(gravest.window_ms, 1))
