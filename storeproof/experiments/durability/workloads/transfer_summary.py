"""What became of the transfers of one case: its outcome, its sentence, and the first that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.check.transfers import JudgedTransfers
from storeproof.experiments.rounds_summary import RoundsSummary, in_rounds
from storeproof.history import Transfer
from storeproof.result.measured.cluster_round import ClusterRoundRecord

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
class TransferSummary(RoundsSummary):
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

    def judge_round(self, fault: str, judged: JudgedTransfers, found: WrongTransfers, record: ClusterRoundRecord | None) -> None:
        """Count a round of a fault. `record`: what the result keeps of it by node."""
        where = self.count_round(fault, wrong=bool(judged.halves or judged.returned), record=record)
        self.acknowledged += judged.acknowledged
        self.refused += judged.refused
        self.unknown += judged.unknown
        self.happened += judged.happened
        self.snapshots += judged.snapshots
        self.lost += len(judged.lost)
        self.lossy[fault] += bool(judged.lost)
        self.losses += in_rounds(where, found.losses)
        self.halves += in_rounds(where, found.halves)
        self.lies += in_rounds(where, found.lies)

    @property
    def ending(self) -> CaseEnding:
        """Half of a transfer is wrong whatever the variant says of nodes: only variants that claim transactions are tried."""
        if self.unexcused:
            return CaseEnding.WRONG_ANSWER
        if self.halves or self.lost:
            return CaseEnding.BROKEN_PROMISE
        if self.given_up:
            return CaseEnding.SPOILED
        return CaseEnding.RIGHT if self.acknowledged else CaseEnding.NOTHING_AT_RISK

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


def found_in(judged: JudgedTransfers, struck: int, node_of: Callable[[Transfer], str | None]) -> WrongTransfers:
    """The first of each kind.

    Args:
        struck: the time of the fault, on the clock of the transfers.
        node_of: the node that answered a transfer.
    """
    losses = [f"lost {_when(each, struck, node_of)}" for each in judged.lost[:_LISTED]]
    lies = [f"refused, and there: {_when(each, struck, node_of)}" for each in judged.returned]
    lies += [f"a snapshot by client {each.client} adds up to {each.total}, and not to 0" for each in judged.skewed]
    uneven = judged.uneven.items()
    halves = [
        *judged.torn,
        *(f"{name} shows {shown}, and the transfers that happened add up to {expected}" for name, (shown, expected) in uneven),
    ]
    return WrongTransfers(losses, halves[:_LISTED], lies[:_LISTED])


def _when(transfer: Transfer, struck: int, node_of: Callable[[Transfer], str | None]) -> str:
    """The transfer, and which node answered it when."""
    assert transfer.completed is not None, "it was answered"
    return f"{transfer} by {node_of(transfer)}, {(transfer.completed - struck) / 1e9:+.3f} s from the fault"
