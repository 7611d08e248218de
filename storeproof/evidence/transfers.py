"""The transfers of one round, and how they are written as a part of its line: columns, with accounts by their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from storeproof.check import Books
from storeproof.evidence.notation import (
    ENDINGS,
    LETTERS,
    UNKNOWN,
    EvidenceDamaged,
    LinePart,
    Nanoseconds,
    Number,
    SeenOnLine,
    after_each_other,
    observation_of,
    seen_on_line,
)
from storeproof.history import Balances, Observation, Transfer

_MOST_ACCOUNTS: Final = 100
Sum = Annotated[int, Field(ge=-(1 << 40), le=1 << 40)]


@dataclass(frozen=True, slots=True)
class TransferEvidence:
    """What clients sent to the accounts of one round, and what was there in the end."""

    entries: str
    """How the keys of all entries begin; they end with the write id."""
    sent: list[Transfer]
    """In order of invocation."""
    snapshots: list[Balances]
    """Of all accounts, read meanwhile; in order of invocation."""
    books: Books


class SnapshotsOnLine(LinePart):
    """In columns."""

    client: list[Number]
    after: list[Nanoseconds]
    """Nanoseconds from the snapshot before."""
    shown: list[list[Sum]]
    """By account."""


class TransfersOnLine(LinePart):
    """Transfers in order of invocation, in columns."""

    entries: str
    accounts: list[str]
    balances: list[Sum]
    """By account, in the end."""
    client: list[Number]
    write: list[str]
    source: list[Number]
    target: list[Number]
    amount: list[Sum]
    after: list[Nanoseconds]
    """Nanoseconds from the invocation of the transfer before."""
    took: list[Nanoseconds]
    """Nanoseconds to the reply; -1 if it was lost."""
    outcome: str
    entry: list[SeenOnLine]
    """What was read of each in the end."""
    snapshots: SnapshotsOnLine


def transfers_on_line(kept: TransferEvidence, origin: int) -> TransfersOnLine:
    """`origin`: from which times count."""
    accounts = {name: number for number, name in enumerate(kept.books.balances)}
    sent, snapshots = kept.sent, kept.snapshots
    return TransfersOnLine(
        entries=kept.entries,
        accounts=list(accounts),
        balances=list(kept.books.balances.values()),
        client=[each.client for each in sent],
        write=[each.write_id for each in sent],
        source=[accounts[each.source] for each in sent],
        target=[accounts[each.target] for each in sent],
        amount=[each.amount for each in sent],
        after=after_each_other([each.invoked for each in sent], origin),
        took=[UNKNOWN if each.completed is None else each.completed - each.invoked for each in sent],
        outcome="".join(LETTERS[each.outcome] for each in sent),
        entry=[seen_on_line(kept.books.entries[each.entry]) for each in sent],
        snapshots=SnapshotsOnLine(
            client=[each.client for each in snapshots],
            after=after_each_other([each.invoked for each in snapshots], origin),
            shown=[[each.shown[name] for name in accounts] for each in snapshots],
        ),
    )


def transfers_of(line: TransfersOnLine) -> TransferEvidence:
    """What was written of a round. Raises `EvidenceDamaged`."""
    columns = (line.client, line.write, line.source, line.target, line.amount, line.after, line.took, line.outcome, line.entry)
    accounts, shown = line.accounts, line.snapshots
    if len({len(each) for each in columns}) != 1 or len({len(shown.client), len(shown.after), len(shown.shown)}) != 1:
        raise EvidenceDamaged("columns of transfers have different lengths")
    if any(len(each) != len(accounts) for each in ({*accounts}, line.balances, *shown.shown)) or len(accounts) > _MOST_ACCOUNTS:
        raise EvidenceDamaged(f"each snapshot shows each account once, and there are {_MOST_ACCOUNTS} accounts at most")
    sent, entries, moment = list[Transfer](), dict[str, Observation](), 0
    for client, write, source, target, amount, after, took, outcome, entry in zip(*columns, strict=True):
        moment += after
        ending, key = ENDINGS.get(outcome), f"{line.entries}{write}"
        if ending is None or after < 0 or (took == UNKNOWN) != (ending == "unknown") or max(source, target) >= len(accounts):
            raise EvidenceDamaged(f"transfer {len(sent)} is none of a run")
        entries[key] = observation_of(entry)
        sent.append(
            Transfer(
                client=client,
                entry=key,
                write_id=write,
                source=accounts[source],
                target=accounts[target],
                amount=amount,
                invoked=moment,
                completed=None if took == UNKNOWN else moment + took,
                outcome=ending,
            )
        )
    snapshots, moment = list[Balances](), 0
    for client, after, sums in zip(shown.client, shown.after, shown.shown, strict=True):
        moment += after
        snapshots.append(Balances(client=client, invoked=moment, shown=dict(zip(accounts, sums, strict=True))))
    return TransferEvidence(line.entries, sent, snapshots, Books(entries, dict(zip(accounts, line.balances, strict=True))))
