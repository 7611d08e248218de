"""Sums over the rounds of one guarantee, and the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final, get_args

from storeproof.blame import CaseEnding
from storeproof.check import Anomaly, Finding, Losses, Shape, Staleness, together, upper_bound, worst
from storeproof.check.strength import strength
from storeproof.experiments.rounds_summary import RoundsSummary
from storeproof.experiments.summary import count_anomalies
from storeproof.history import Place
from storeproof.outcome import Outcome
from storeproof.result.measured.cluster_round import with_one_course
from storeproof.result.model import GuaranteeRecord, WorstLoss
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.known_failure import CaseFinding

_SHOWN = 3
"""The number of lost keys that a message names, as examples; the counts say how many there were."""

_COSTS = 6
"""The number of faults that a message names."""

LEAST_AT_RISK: Final = 10
"""Operations that must be acknowledged before a fault: one that strikes after a single write shows little. Of all rounds of eleven true
stores, some on a busy machine, one had 15 and all others 37 or more."""

_COUNTERS: Final[dict[LoadShape, str]] = {"burst": "bursts", "stream": "streams", "bulk": "bulks", "compaction": "compactions"}


@dataclass(kw_only=True)
class DurabilitySummary(RoundsSummary):
    """Sums over rounds."""

    streams: int = 0
    bursts: int = 0
    bulks: int = 0
    compactions: int = 0
    amid: int = 0
    """Compactions that had not finished when the fault struck."""
    command: str = ""
    """The command that makes the store compact."""
    without: dict[LoadShape, str] = field(default_factory=dict)
    """Load shapes that could not be tested, and why."""
    power_cut_method: str | None = None
    """The method of the power cut, if there was one."""
    second_faults: int = 0
    """Faults during the recovery from another fault; not counted as faults."""
    lossy: int = 0
    """Faults after which data was lost or the store was unusable."""
    clients: int = 0
    acknowledged: int = 0
    unknown: int = 0
    keys: set[tuple[str, str | int]] = field(default_factory=set)
    """The keys that were read back, most of them after several faults."""
    anomalies: Counter[Anomaly] = field(default_factory=Counter)
    """One per audit of a key; a key is counted only once for all anomalies other than `ok`."""
    losses: list[Losses] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    striking: str = ""
    """The fault of this round, if a guarantee has several."""
    failovers: list[float] = field(default_factory=list)
    """Of a cluster: seconds from each fault to the first acknowledgement by another primary."""
    without_failover: int = 0
    """Rounds in which no other node took writes in time."""
    reads: list[Staleness] = field(default_factory=list)
    """Of a cluster: what was read of one key in each round, at the node that the fault struck and at another."""
    wrong_reads: int = 0
    """Those that no client wrote, and stale ones where the variant does not say that they are possible."""
    compared: int = 0
    """Of a cluster: how often another node was compared with the primary, record by record."""
    unlike: int = 0
    """Records that another node went on showing otherwise than the primary."""
    gone: set[str] = field(default_factory=set)
    """Models whose collection itself was missing after a fault."""
    idle: list[str] = field(default_factory=list)
    """Rounds in which nothing was acknowledged, or too little: they show nothing."""
    missed: str = ""
    """Why a fault did not strike what clients wrote: nothing follows from what was there afterwards."""
    costs: list[CaseFinding] = field(default_factory=list)
    """For each fault that caused a loss: its number, the load shape, and the loss. A known failure names them."""
    broken: str = ""
    """Why the store is broken: it ended by itself, does not start, or does not work after a start."""
    needs_repair: bool = False
    """It starts after the fault, but then answers with errors."""
    damaging: bool = False
    """Whether the fault cuts the power."""
    _shape: LoadShape | None = None
    _grave: list[CaseFinding] = field(default_factory=list)
    """Those of `costs` that are a failure even without a claim."""

    @property
    def over(self) -> bool:
        """The store is broken, or a fault missed what clients wrote: no other round follows."""
        return bool(self.broken or self.missed)

    def add(self, findings: list[Finding], lost: Losses) -> None:
        """Add the findings of one audit."""
        self.losses.append(lost)
        harmed: Counter[Anomaly] = Counter(finding.anomaly for finding in findings if finding.anomaly is not Anomaly.OK)
        if harmed:
            self.lossy += 1
            window = f"; {lost.records} operations within {lost.window_ms:.0f} ms, {lost.shape}" if lost.shape is not Shape.NOTHING else ""
            of = sorted({finding.collection for finding in findings if finding.anomaly is not Anomaly.OK})
            shape = lost.shape.value if lost.shape is not Shape.NOTHING else None
            words = f"{count_anomalies(harmed)} of {', '.join(of)}{window}"
            self._cost(words, harmed, models=frozenset(of), shape=shape)
            self._grave += self.costs[-1:] if harmed[Anomaly.INVENTED] else []
        for finding in findings:
            self.keys.add((finding.collection, finding.key))
            self.anomalies[finding.anomaly] += 1
            if finding.anomaly is not Anomaly.OK and len(self.first) < _SHOWN:
                self.first.append(str(finding))

    def read(self, seen: Staleness, *, stale_possible: bool) -> None:
        """Add the reads of one round. `stale_possible`: what the variant says."""
        self.reads.append(seen)
        self.anomalies.update([Anomaly.INVENTED] * len(seen.unexplained))
        made_up = [f"{each.key!r}: {each.with_answer()}, which no client wrote" for each in seen.unexplained]
        wrong = [*made_up, *([] if stale_possible else map(str, seen.stale))]
        self.wrong_reads += len(wrong)
        if wrong:
            self._cost(f"{len(wrong)} of {seen.reads} reads of one key were wrong, first {wrong[0]}")
            self._grave += self.costs[-1:] if made_up else []

    def compare(self, node: str, unlike: Sequence[Place] | None) -> None:
        """Add the records of a node that differ from the primary's; None: it does not let itself be read."""
        if unlike is None:
            return
        self.compared += 1
        self.unlike += len(unlike)
        if unlike:
            model, key = unlike[0]
            self._cost(f"{len(unlike)} records of {node} stay unlike the primary's, first {model}[{key!r}]")

    @property
    def _excused(self) -> bool:
        """Whether a store that is unusable has broken no more than its promise."""
        return self.needs_repair or self.damaging

    def survived(self, at_risk: int) -> None:
        """The store works again after the last fault. `at_risk`: operations that were acknowledged before it."""
        if at_risk < LEAST_AT_RISK:
            found = f"{at_risk} operations were" if at_risk else "nothing was"
            few = f", and a fault among fewer than {LEAST_AT_RISK} shows little" if at_risk else ""
            self.idle.append(f"{found} acknowledged before fault {self.rounds}{few}")

    def breaks(self, reason: str, log: str) -> None:
        """Record that the store was unusable after the last fault."""
        self.broken, self.log = reason, log
        self.lossy += 1
        self._cost(reason, ["unusable" if self.needs_repair else "unstartable"], said=f"{reason}; its log: {log}" if log else reason)
        self._grave += [] if self._excused else self.costs[-1:]

    @property
    def findings(self) -> list[CaseFinding]:
        """One per fault with a loss; with the log, if the store broke."""
        return self._with_log(self.costs)

    @property
    def unexcused(self) -> list[CaseFinding]:
        """The findings that are a failure even without a claim."""
        return self._with_log(self._grave)

    def _with_log(self, failed: list[CaseFinding]) -> list[CaseFinding]:
        said = f"; its log: {self.log}" if self.broken and self.log else ""
        return [replace(each, words=f"{each}{said}") if each is self.costs[-1] else each for each in failed]

    def _cost(
        self, words: str, kinds: Iterable[str] = (), *, models: frozenset[str] = frozenset(), shape: str | None = None, said: str = ""
    ) -> None:
        """Add what the current fault cost."""
        load = self.striking or self._shape or ""
        fault = f"fault {self.rounds}, {load}: " if self._shape is not None else ""
        self.costs.append(CaseFinding(f"{fault}{words}", frozenset(map(str, kinds)), load, models, shape, said))

    def count(self, shape: LoadShape, by: int = 1) -> None:
        """Count a fault during that load shape; `by` -1: take it back, since its round was spoiled."""
        setattr(self, _COUNTERS[shape], getattr(self, _COUNTERS[shape]) + by)
        self._shape = shape

    @property
    def rounds(self) -> int:
        """The number of faults in all load shapes together."""
        return self.streams + self.bursts + self.bulks + self.compactions

    @property
    def bound(self) -> float | None:
        """Upper bound, with 95 % confidence, of the share of such faults that cause a loss; faults with nothing at risk do not count."""
        telling = 0 if self.missed else self.rounds - len(self.idle)
        return upper_bound(telling, min(self.lossy, telling)) if telling > 0 else None

    @property
    def harmed(self) -> int:
        """The number of keys whose value is not the acknowledged one."""
        return sum(number for anomaly, number in self.anomalies.items() if anomaly is not Anomaly.OK)

    @property
    def ending(self) -> CaseEnding:
        """How the case ends.

        A loss that the variant does not claim to prevent breaks no promise, whatever its form: an old, half or deleted record is a loss,
        and so is a table that needs repair. Even without a claim a store fails if it serves data that no client wrote, ends by itself, or
        does not start; but not on the disk that a power cut has left, which may have half of what was written.
        """
        if self.anomalies[Anomaly.INVENTED]:
            return CaseEnding.MADE_UP
        if self.broken and not self._excused:
            return CaseEnding.SERVER_ENDED
        if self.harmed or self.broken or self.wrong_reads or self.unlike:
            return CaseEnding.BROKEN_PROMISE
        if self.missed:
            return CaseEnding.FAULT_MISSED
        if self.given_up:
            return CaseEnding.SPOILED
        return CaseEnding.NOTHING_AT_RISK if self.idle else CaseEnding.RIGHT

    def parts(self) -> Iterator[str]:
        """The faults, the losses, the worst window, and the first keys."""
        yield f"{self._struck()}; {self.acknowledged} operations acknowledged, {self.unknown} unknown"
        for shape, reason in self.without.items():
            yield f"not tested under {shape} load: {reason}"
        yield from self._shown()
        if self.bound is not None:
            yield strength(self.rounds - len(self.idle), self.lossy, self.bound)
        yield from self.idle
        yield from self.spoiled_rounds()
        if self.recoveries:
            yield f"recovery {min(self.recoveries):.2f} to {max(self.recoveries):.2f} s"
        if self.failovers:
            yield f"writes acknowledged by another node {min(self.failovers):.2f} to {max(self.failovers):.2f} s after the fault"
        if self.compared:
            yield f"other nodes compared with the primary {self.compared} times: {self.unlike or 'no'} records differ"
        yield self.watched
        if self.without_failover:
            yield f"no other node took writes in time: {self.without_failover} times"

    def _shown(self) -> Iterator[str]:
        """What the faults did to the data."""
        if self.broken and not self.costs:
            yield self.broken
        if self.costs:
            more = f" | and {len(self.costs) - _COSTS} more" if len(self.costs) > _COSTS else ""
            yield "by fault: " + " | ".join(map(str, self.costs[:_COSTS])) + more
        if self.harmed:
            yield from self._harm()
        elif self.missed:
            yield self.missed
        elif not self.broken:
            yield f"nothing lost of {len(self.keys)} keys"

    @property
    def watched(self) -> str:
        """The part about the reads of the watched key; empty if there were none."""
        reads = together(self.reads).reads
        return f"{reads} reads of one key, at the struck node and another: {self._stale()}" if reads else ""

    def _stale(self) -> str:
        ages = together(self.reads).ages_ms
        if not ages:
            return "none stale"
        where = f"in {sum(bool(each.stale) for each in self.reads)} of {len(self.reads)} rounds"
        return f"{len(ages)} stale, {where}, by {median(ages):.0f} ms in the median and {ages[-1]:.0f} ms at most"

    def _harm(self) -> Iterator[str]:
        yield count_anomalies(self.anomalies)
        window = worst(self.losses)
        if window.shape is not Shape.NOTHING:
            yield f"worst window {window.window_ms:.0f} ms with {window.records} operations, {window.shape}"
        if self.gone:
            yield f"the collections themselves were missing: {', '.join(sorted(self.gone))}"
        yield "first: " + " | ".join(self.first)

    def _struck(self) -> str:
        """The number of faults in each load shape."""
        text = f"faults: {self.streams} under a stream of {self.clients} clients"
        if self.bursts:
            text += f", {self.bursts} on the last acknowledgement of a burst"
        if self.bulks:
            text += f", {self.bulks} within a batch of a bulk load"
        if self.compactions:
            text += f", {self.compactions} during {self.command}, {self.amid} of them before it had finished"
        if self.strikes:
            text += f" ({', '.join(f'{number} {name}' for name, number in self.strikes.items())})"
        if self.power_cut_method:
            text += f", by {self.power_cut_method}"
        if self.second_faults:
            text += f"; {self.second_faults} second faults during the recovery"
        return text

    def record(self, guarantee: str, outcome: Outcome, detail: str) -> GuaranteeRecord:
        """The record for the result file."""
        return GuaranteeRecord(
            guarantee=guarantee,
            outcome=outcome,
            rounds=self.rounds,
            faults_by_load={name: number for name in get_args(LoadShape) if (number := getattr(self, _COUNTERS[name]))},
            second_faults=self.second_faults,
            power_cut_method=self.power_cut_method,
            faults_with_loss=self.lossy,
            lost_operations=sum(each.records for each in self.losses if each.shape is not Shape.UNSTARTABLE),
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
            recovery_seconds=self.recoveries or self.failovers,
            without_failover=self.without_failover,
            spoiled=len(self.spoiled),
            cluster_rounds=with_one_course(self.cluster_rounds),
            detail=detail,
        )


def _worst(found: list[Losses]) -> WorstLoss | None:
    gravest = worst(found)
    if gravest.shape is Shape.NOTHING:
        return None
    return WorstLoss(shape=gravest.shape.value, records=gravest.records, window_ms=round(gravest.window_ms, 1))
