"""Checks the atomicity and durability of transfers between accounts: each happened whole, or not at all.

The entries that are there say which transfers happened. Each account started from zero, so its balance must be the sum of just these:

    a to b 5 ok      entry there, a -5, b 5      right
    a to b 5 ok      no entry,    a  0, b 0      lost: it was acknowledged, and all of it is gone
    a to b 5 ok      entry there, a -5, b 0      half: `b` is uneven. So it is if one increment of it was done twice, or by another
                                                 transfer that overwrote it
    a to b 5 unknown no entry,    a -5, b 5      half, although nothing was acknowledged
    a to b 5 refused entry there, a -5, b 5      returned: whole, but the store had said that it rolled it back

Entries and balances are to be read in one snapshot: an unknown transfer may still happen between two reads. The sum of all accounts is 0
whichever transfers happened, so any snapshot that shows another one has shown half of a transfer; that needs no entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from storeproof.history import ABSENT, Balances, Observation, Transfer


@dataclass(frozen=True)
class Books:
    """What one snapshot shows in the end."""

    entries: Mapping[str, Observation]
    """What was read of each transfer, under the key of its entry."""
    balances: Mapping[str, int]
    """The balance of each account; 0 if it is absent."""


@dataclass(frozen=True)
class JudgedTransfers:
    """The transfers of a round, and what is wrong with them."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    happened: int = 0
    """How many of the unknown ones are there."""
    snapshots: int = 0
    lost: Sequence[Transfer] = ()
    """Acknowledged, and not there; in the order of their requests."""
    returned: Sequence[Transfer] = ()
    """Refused, and there."""
    torn: Sequence[str] = ()
    """Entries that are not the record which their transfer put."""
    uneven: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Accounts that do not show the sum of the transfers which happened: what they show, and that sum."""
    skewed: Sequence[Balances] = ()
    """Snapshots, read meanwhile, that show half of a transfer."""

    @property
    def halves(self) -> bool:
        """Whether a transfer was seen that is neither whole nor absent."""
        return bool(self.torn or self.uneven or self.skewed)


def judge_transfers(transfers: Iterable[Transfer], books: Books, snapshots: Sequence[Balances] = ()) -> JudgedTransfers:
    """What became of the transfers.

    Args:
        transfers: all that were sent between these accounts, with any outcome.
        books: has each of their entries and accounts.
        snapshots: of all accounts, read meanwhile.

    Raises:
        ValueError: two transfers have the same entry: it would not say which of them happened.
    """
    sent = sorted(transfers, key=lambda each: each.invoked)
    if len({each.entry for each in sent}) < len(sent):
        raise ValueError("each transfer has an entry of its own")
    expected: Counter[str] = Counter()
    torn: list[str] = []
    happened: set[str] = set()
    for each in sent:
        seen = books.entries[each.entry]
        if seen == ABSENT:
            continue
        if seen != Observation("whole", each.write_id):
            torn.append(f"{each}: its entry is {seen}")
        happened.add(each.entry)
        expected[each.source] -= each.amount
        expected[each.target] += each.amount
    outcomes = Counter(each.outcome for each in sent)
    return JudgedTransfers(
        acknowledged=outcomes["ok"],
        refused=outcomes["refused"],
        unknown=outcomes["unknown"],
        happened=sum(each.outcome == "unknown" and each.entry in happened for each in sent),
        snapshots=len(snapshots),
        lost=[each for each in sent if each.outcome == "ok" and each.entry not in happened],
        returned=[each for each in sent if each.outcome == "refused" and each.entry in happened],
        torn=torn,
        uneven={name: (shown, expected[name]) for name, shown in books.balances.items() if shown != expected[name]},
        skewed=[each for each in snapshots if each.total],
    )
