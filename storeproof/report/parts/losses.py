"""What a fault cost a variant: acknowledged writes lost or changed, whether the variant had promised to keep them, and how much the rounds
of the fault support that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from storeproof import units
from storeproof.check import ANOMALIES
from storeproof.check.strength import percent
from storeproof.outcome import SHOWN, TELLING, Outcome
from storeproof.result.measured.failover import failover_in_words
from storeproof.result.measured.first_screen import FaultState
from storeproof.result.measured.lost import Lost, lost_by
from storeproof.result.model import Durability, GuaranteeRecord, StoreResult
from storeproof.spec.guarantee import FAULT_WORDS, LADDER, NETWORKED

COLUMNS: Final = ("process_crash", "power_loss")
"""The guarantees that the first screen has."""


@dataclass(frozen=True)
class Loss:
    record: GuaranteeRecord
    promised: bool
    """Whether the variant claims to survive it."""
    timeouts: Mapping[str, str] = field(default_factory=dict)
    """Of the variant: see `StoreResult.timeouts`."""

    @property
    def fault(self) -> str:
        words = FAULT_WORDS.get(self.record.guarantee)
        return words.alone if words else self.record.guarantee.replace("_", " ")

    @property
    def state(self) -> FaultState:
        """What became of the acknowledged writes."""
        record = self.record
        if record.lost:
            return "lost"
        if any(getattr(record, name) for name in ANOMALIES):
            return "changed"
        if record.faults_with_loss:
            return "no_start"
        # A refused case without a count, an error, or an experiment without a verdict shows nothing that was kept.
        good = record.outcome in SHOWN
        return "kept" if good and record.acknowledged else "open"

    @property
    def lost(self) -> Lost:
        """How many acknowledged operations are lost, of how many."""
        return lost_by(self.record)

    @property
    def changed(self) -> str:
        """All findings but the loss, with their counts of records."""
        return found_of(self.record, ANOMALIES[1:])

    @property
    def found(self) -> str:
        """What was found of the records: `5,886 lost, 48 miscounted`."""
        return found_of(self.record)

    @property
    def unstartable(self) -> bool:
        """Whether after one of the faults it did not start again."""
        return self.state == "no_start" or (self.record.worst_loss is not None and self.record.worst_loss.shape == "unstartable")

    @property
    def text(self) -> str:
        """As on the first screen: `36 % lost`, `30 torn`, `0 of 34k`."""
        if self.state == "lost":
            return f"{self.lost.percent} lost" + (", no start" if self.unstartable else "")
        if self.state == "changed":
            return self.changed.partition(", ")[0]
        if self.state == "no_start":
            return "did not start"
        return "no verdict" if self.state == "open" else f"0 of {units.short(self.record.acknowledged)}"

    @property
    def tone(self) -> str:
        """`good`, `near` where it was not promised, `bad` where it was, or nothing."""
        if self.state in ("kept", "open"):
            return "good" if self.state == "kept" else ""
        return "bad" if self.promised else "near"

    @property
    def promise(self) -> str:
        return "promised" if self.promised else "not promised"

    @property
    def bound(self) -> str:
        """Below which share of such faults a loss lies, with 95 % confidence."""
        return limit(self.record)

    @property
    def back(self) -> str:
        """Time to the first answer after the fault: the least, the median and the most; of a failover how it went, and its time-outs."""
        taken = self.record.recovery_seconds
        if not taken:
            return "–"
        more = "; ".join(filter(None, (self.succession, self.governed if self.failover else "")))
        return " · ".join(units.seconds(pick(taken)) for pick in (min, median, max)) + (f" ({more})" if more else "")

    @property
    def failover(self) -> tuple[float, float] | None:
        """Of a cluster whose primary was struck: seconds from the fault to the first write that another node acknowledged, the median of
        the rounds and the longest; None for other faults, and where no node took over."""
        taken = self.record.recovery_seconds
        return (median(taken), max(taken)) if self.record.guarantee in NETWORKED and taken else None

    @property
    def succession(self) -> str:
        """Who promoted the other node, or when the loss was detected and the node elected; empty where the result does not tell."""
        return failover_in_words(self.record.cluster_rounds)

    @property
    def governed(self) -> str:
        """The time-outs that decide how soon another node is elected; empty where the result has none."""
        return ", ".join(f"{name} = {value}" for name, value in self.timeouts.items())

    @property
    def failover_text(self) -> str:
        """In words; empty where there is none."""
        if self.failover is None:
            return ""
        how = f" ({self.succession})" if self.succession else ""
        return "{}, at most {}".format(*map(units.seconds, self.failover)) + how


def losses_of(store: StoreResult) -> dict[str, Loss]:
    return {each.guarantee: loss_of(each, store) for each in store.durability.guarantees if each.rounds}


def loss_of(record: GuaranteeRecord, store: StoreResult) -> Loss:
    return Loss(record, _promised(record, store), store.timeouts)


def harm_of(record: GuaranteeRecord) -> str:
    """What a fault cost, in words: `615 of 15,840 operations (4 %); records: 530 lost, 1 torn`; empty where it cost nothing."""
    lost, found = lost_by(record), found_of(record)
    return f"{lost.counts} operations ({lost.percent}); records: {found}" if found else ""


def nodes_in_words(durability: Durability) -> str:
    """What was shown of faults that are not on the ladder, those of single nodes and of the network; empty where none was."""
    struck = [each for each in durability.guarantees if each.guarantee not in LADDER and each.rounds and each.outcome in TELLING]
    kept, harmed = ([each for each in struck if (each.outcome in SHOWN) is good] for good in (True, False))
    said = [
        f"{words} {' and '.join(each.guarantee for each in found)} in {units.plural(sum(each.rounds for each in found), 'fault')}"
        for words, found in (("survived", kept), ("did not survive", harmed))
        if found
    ]
    return "; ".join(said)


def found_of(record: GuaranteeRecord, findings: Sequence[str] = ANOMALIES) -> str:
    """How many records are lost, torn and so on; empty where none is."""
    return ", ".join(f"{units.whole(getattr(record, name))} {name}" for name in findings if getattr(record, name))


def _promised(record: GuaranteeRecord, store: StoreResult) -> bool:
    """By the ladder. A guarantee of a cluster is beside it: the outcome says whether it was claimed."""
    claimed = store.durability.claimed
    if record.guarantee in LADDER and claimed in LADDER:
        return LADDER.index(record.guarantee) <= LADDER.index(claimed)
    return record.outcome not in (Outcome.UNSUPPORTED, Outcome.UNDECLARED)


NOTE: Final = (
    "In brackets: how many faults struck, how many of them cost anything, and below which share of such faults this lies with 95 % "
    "confidence (the exact binomial limit of Clopper and Pearson). None of 20 leaves room for up to 14 %: rounds without a loss are no "
    "proof that there never is one."
)


def brief(record: GuaranteeRecord) -> str:
    """For a cell of the ladder; empty where the rounds are no evidence."""
    if record.loss_bound is None:
        return ""
    hit = units.whole(record.faults_with_loss) if record.faults_with_loss else "none"
    return f" ({hit} of {units.plural(record.rounds, 'fault')} lost anything; 95 %: {limit(record)})"


def limit(record: GuaranteeRecord) -> str:
    """The share of such faults that lose anything."""
    if record.loss_bound is None:
        return "–"
    return "all may" if record.loss_bound >= 1 else f"< {percent(record.loss_bound)}"


def struck_during(record: GuaranteeRecord) -> str:
    """How often, by what went on then."""
    shapes = ", ".join(f"{number} {name}" for name, number in record.faults_by_load.items())
    return f"{shapes}; {record.second_faults} again during the recovery" if record.second_faults else shapes or "–"


def gravest(record: GuaranteeRecord) -> str:
    worst = record.worst_loss
    return f"{worst.shape}: {units.plural(worst.records, 'operation')} of {worst.window_ms:,.0f} ms" if worst else "–"
