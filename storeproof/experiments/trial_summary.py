"""What a store made of what may have happened to its disk, and the sums over all that was tried."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from storeproof.blame import CaseEnding
from storeproof.check import Anomaly, Audits, Finding, founded
from storeproof.contract import Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.fault_experiment import how_it_ended
from storeproof.experiments.summary import Summary, count_anomalies
from storeproof.history import Operation, Place, Seen
from storeproof.launch.handle import Handle
from storeproof.spec.known_failure import CaseFinding

_SHOWN: Final = 3
KEPT: Final = 20
"""Failed trials in the result file."""


def findings_of(history: Sequence[Operation], seen: Mapping[Place, Seen]) -> list[Finding]:
    """What is not as it should be. Raises `ValueError`: the checks cannot judge it."""
    return [each for each in Audits().judge(founded(history, seen), seen) if each.anomaly is not Anomaly.OK]


def acknowledged(history: Iterable[Operation]) -> int:
    """How many operations were."""
    return sum(each.outcome == "ok" for each in history)


@dataclass(slots=True, kw_only=True)
class Tried:
    """What one trial came to; filled in as it goes on."""

    acknowledged: int = 0
    """Operations that had to be there."""
    findings: Sequence[Finding] = ()
    """Of keys that are not as they should be."""
    broken: str = ""
    """It does not start, or does not work."""
    ended: bool = False
    """Of one that is broken: it does not start, or has ended; else it answers with errors."""
    log: str | None = ""
    """The last lines of its log; None: evidence does not have them."""

    @property
    def holds(self) -> bool:
        """Whether all is as it should be."""
        return not self.findings and not self.broken

    @property
    def made_up(self) -> bool:
        """Whether it serves what no client wrote."""
        return any(finding.anomaly is Anomaly.INVENTED for finding in self.findings)

    @contextmanager
    def has_to_work(self, handle: Handle) -> Iterator[None]:
        """Note why the store does not. Raises `MachineFailed`, `Unknown`: that says nothing about the store."""
        try:
            yield
        except StoreDied as reason:
            self.broken, self.ended, self.log = reason.reason, True, reason.log
        except Refused as reason:
            self.broken, self.log = f"it starts and does not work: {reason}", handle.log_tail()
        except Unknown:
            if (ended := how_it_ended(handle)) is None:
                raise
            self.broken, self.ended, self.log = ended.reason, True, ended.log


What = TypeVar("What", bound=Tried)
Kind = TypeVar("Kind")


@dataclass(kw_only=True)
class TrialSummary(Summary, Generic[What, Kind]):
    """What became of all trials."""

    requests: int = 0
    """Requests of the load."""
    tried: Counter[Kind] = field(default_factory=Counter)
    failed: list[What] = field(default_factory=list)

    def add(self, tried: What) -> None:
        """Count a trial."""
        if not tried.holds:
            self.failed.append(tried)
            self.log = self.log or tried.log or ""

    @abstractmethod
    def where(self, tried: What) -> str:
        """After what a trial failed."""

    @property
    @abstractmethod
    def damaging(self) -> bool:
        """Whether the store is started on a disk that may have half of what was written. One that does not claim to survive that is not
        held to work on it."""

    @property
    def losing(self) -> int:
        """Trials after which something is not as it was acknowledged."""
        return sum(bool(each.findings) for each in self.failed)

    @property
    def unusable(self) -> int:
        """Trials after which it does not start, or does not work."""
        return len(self.failed) - self.losing

    @property
    def kinds(self) -> dict[str, int]:
        """Trials that failed, by what was found; one may count for several kinds."""
        return dict(sorted(Counter(kind for each in self.findings for kind in each.kinds).items()))

    @property
    def ending(self) -> CaseEnding:
        """How the case ends: as after a fault of the guarantee."""
        if any(each.made_up for each in self.failed):
            return CaseEnding.MADE_UP
        if self.unexcused:
            return CaseEnding.SERVER_ENDED
        if self.failed:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return CaseEnding.RIGHT if self.tried else CaseEnding.NOTHING_SHOWN

    @property
    def findings(self) -> list[CaseFinding]:
        """One for each trial that does not hold."""
        return list(map(self.finding, self.failed))

    @property
    def unexcused(self) -> list[CaseFinding]:
        """Those that are a failure even without a claim."""
        return [self.finding(each) for each in self.failed if each.made_up or (each.ended and not self.damaging)]

    def finding(self, tried: What) -> CaseFinding:
        """What a trial found."""
        if not tried.findings:
            kind = "unstartable" if tried.ended else "unusable"
            said = None if tried.log is None else f"{tried.broken}; its log: {tried.log}"
            return CaseFinding(f"{self.where(tried)}: {tried.broken}", frozenset({kind}), said=said)
        harmed = Counter(each.anomaly for each in tried.findings)
        of = frozenset(each.collection for each in tried.findings)
        words = f"{self.where(tried)}: {count_anomalies(harmed)} of {tried.acknowledged} acknowledged, first {tried.findings[0]}"
        return CaseFinding(words, frozenset(map(str, harmed)), models=of)

    def failures(self) -> Iterator[str]:
        """The parts about what failed."""
        if self.losing:
            yield f"after {self.losing} acknowledged writes are missing, or data is wrong"
        if self.unusable:
            yield f"after {self.unusable} it does not start or does not work"
        yield from map(str, self.findings[:_SHOWN])
