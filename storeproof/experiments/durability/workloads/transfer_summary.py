"""What became of the transfers of one case: its outcome, its sentence, and the first that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from storeproof.blame import CaseEnding
from storeproof.check import judge_transfers
from storeproof.check.transfers import JudgedTransfers
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.fault_experiment import without_replies
from storeproof.experiments.rounds_summary import WorkloadSummary, in_rounds
from storeproof.history import Transfer
from storeproof.spec import Target
from storeproof.spec.guarantee import NETWORKED

_LISTED: Final = 4
"""The number of findings of each kind that are kept of a round, and named in a message."""


@dataclass(frozen=True)
class WrongTransfers:
    """What is wrong in a round, in words."""

    losses: Sequence[str]
    halves: Sequence[str]
    lies: Sequence[str]
    """What was refused and is there, and snapshots that show half of a transfer."""

    @property
    def all(self) -> list[str]:
        """What a message names first, before the rest."""
        return [*self.halves, *self.lies, *self.losses]


@dataclass(kw_only=True)
class TransferSummary(WorkloadSummary):
    """Sums over rounds."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    happened: int = 0
    """How many of the unknown ones did."""
    snapshots: int = 0
    lost: int = 0
    lossy: Counter[str] = field(default_factory=Counter)
    """The rounds of each fault in which acknowledged transfers are missing; in `wrong_rounds` half of one was seen, or one refused."""
    halves_are_losses: bool = False
    """Whether a half that a fault leaves breaks no other promise than a loss: it strikes the only copy, and a variant that does not promise
    to survive it may be left with half of anything. What was answered is held to its word all the same."""
    losses: list[str] = field(default_factory=list)
    """The first of each round that are missing."""
    halves: list[str] = field(default_factory=list)
    """The first of each round that are neither whole nor absent in the end."""
    lies: list[str] = field(default_factory=list)
    """The first of each round that were refused and are there, and snapshots that show half of a transfer."""

    @classmethod
    def of(cls, target: Target, guarantee: str) -> Self:  # noqa: ARG003 - alike for all variants
        """One server has the only copy."""
        return cls(halves_are_losses=guarantee not in NETWORKED)

    def judge_round(self, struck: StruckRound) -> int:
        """By its books; returns how many transfers were acknowledged before the strike."""
        kept, lost_disk = struck.seen.transfers, struck.lost_disk
        if kept is None:
            raise ValueError("it has no transfers")
        transfers = without_replies(kept.sent, lost_disk)
        snapshots = [each for each in kept.snapshots if not any(begin <= each.invoked <= end for begin, end in lost_disk)]
        judged = judge_transfers(transfers, kept.books, snapshots)
        found = _found_in(judged, struck)
        record = struck.record(transfers, _Happened(judged), found.all)
        where = self.count_round(struck.fault, wrong=bool(judged.halves or judged.returned), record=record)
        self.acknowledged += judged.acknowledged
        self.refused += judged.refused
        self.unknown += judged.unknown
        self.happened += judged.happened
        self.snapshots += judged.snapshots
        self.lost += len(judged.lost)
        self.lossy[struck.fault] += bool(judged.lost)
        self.losses += in_rounds(where, found.losses)
        self.halves += in_rounds(where, found.halves)
        self.lies += in_rounds(where, found.lies)
        strike = struck.moments.strike
        return sum(each.outcome == "ok" and each.completed is not None and each.completed < strike for each in transfers)

    @property
    def ending(self) -> CaseEnding:
        """Half of a transfer is wrong whatever the variant says of nodes: only variants that claim transactions are tried."""
        if self.unexcused:
            return CaseEnding.WRONG_ANSWER
        if self.halves or self.lost:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return self.right

    def parts(self) -> Iterator[str]:
        """What was done, and what is wrong."""
        yield (
            f"{self.rounds} faults; {self.acknowledged} transfers acknowledged, {self.unknown} unknown, of which {self.happened} happened, "
            f"{self.refused} refused; {self.snapshots} snapshots of all accounts"
        )
        if self.lost:
            yield f"{self.lost} acknowledged transfers are missing, in rounds of {self.by_fault(self.lossy)}"
        if self.wrong:
            yield f"halves of transfers, in rounds of {self.by_fault(self.wrong_rounds)}"
        elif self.acknowledged:
            yield "each is there whole or not at all" if self.lost else "each acknowledged one is there, and all are whole"
        yield from self.idle_rounds()
        yield from self.spoiled_rounds()

    def lines(self) -> list[str]:
        """The first findings."""
        return [*self.wrong[:_LISTED], *self.losses[:_LISTED], *super().lines()]

    @property
    def findings(self) -> list[str]:
        """What is wrong, or what is missing."""
        return self.wrong or self.losses

    @property
    def unexcused(self) -> list[str]:
        """What is wrong of any store that has transactions."""
        return self.lies if self.halves_are_losses else self.wrong

    @property
    def wrong(self) -> list[str]:
        """Transfers that are neither whole nor absent, and answers that show such."""
        return self.halves + self.lies


def _found_in(judged: JudgedTransfers, struck: StruckRound) -> WrongTransfers:
    """The first of each kind."""
    losses = [f"lost {_when(each, struck)}" for each in judged.lost[:_LISTED]]
    lies = [f"refused, and there: {_when(each, struck)}" for each in judged.returned]
    lies += [f"a snapshot by client {each.client} adds up to {each.total}, and not to 0" for each in judged.skewed]
    uneven = judged.uneven.items()
    halves = [
        *judged.torn,
        *(f"{name} shows {shown}, and the transfers that happened add up to {expected}" for name, (shown, expected) in uneven),
    ]
    return WrongTransfers(losses, halves[:_LISTED], lies[:_LISTED])


def _when(transfer: Transfer, struck: StruckRound) -> str:
    """The transfer, and which node answered it when."""
    assert transfer.completed is not None, "it was answered"
    return f"{transfer} by {struck.node_of(transfer)}, {(transfer.completed - struck.moments.struck) / 1e9:+.3f} s from the fault"


class _Happened:
    """What became of acknowledged transfers."""

    def __init__(self, judged: JudgedTransfers) -> None:
        self._lost = set(judged.lost)

    def lost(self, transfer: Transfer, /) -> bool:
        """Whether it is not there."""
        return transfer in self._lost

    def found(self, transfer: Transfer, /) -> bool:
        """Whether it is."""
        return transfer not in self._lost
