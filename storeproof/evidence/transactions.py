"""The transactions of one mix at one level, and how they are written: columns, with records by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from storeproof.evidence.notation import ENDINGS, LETTERS, UNKNOWN, EvidenceDamaged, LinePart, Nanoseconds, Number, after_each_other
from storeproof.history import Access, Transaction
from storeproof.spec.interleaving import Isolation

_MOST_ACCESSES: Final = 1_000
"""In one transaction."""
_MOST: Final = 20_000
"""Transactions of one case: twice what the largest scale has. The time to look for a cycle may grow with their square."""
_CHUNK: Final = 2_000
"""Transactions of a line."""
_ACTIONS: Final[dict[str, Literal["read", "write"]]] = {"r": "read", "w": "write"}
AccessOnLine = tuple[Literal["r", "w"], Number, str | None] | tuple[Literal["w"], Number, str, str]
"""A read or a write, of the record with this number, and the write id; None: it was absent. Of a write then that of the version to which
it was appended, if that was seen."""


@dataclass(slots=True)
class TransactionsEvidence:
    """What the clients of one case sent, and what they saw."""

    level: Isolation
    mix: str
    sent: list[Transaction] = field(default_factory=list)
    """In the order in which they began."""
    not_written: list[str] = field(default_factory=list)
    """What they read, and was written so by none of them."""
    refusal: str = ""
    """The last one of a client."""
    nodes: list[str] = field(default_factory=list)
    """Of a cluster to whose nodes clients were sent: that of each client, by its number."""


class MixLine(LinePart):
    """What kind of transactions follow."""

    later: ClassVar[frozenset[str]] = frozenset({"nodes"})

    line: Literal["mix"] = "mix"
    level: Isolation
    mix: str
    records: list[str]
    """By their numbers."""
    not_written: list[str]
    refusal: str
    nodes: list[str] | None = None
    """By client; None: there is one."""


class TransactionsLine(LinePart):
    """Transactions in the order in which they began, in columns."""

    line: Literal["transactions"] = "transactions"
    client: list[Number]
    after: list[Nanoseconds]
    """Nanoseconds from the begin of the transaction before."""
    took: list[Nanoseconds]
    """Nanoseconds to the end; -1 if the reply to its commit was lost."""
    outcome: str
    accesses: list[list[AccessOnLine]]


def transaction_lines(kept: TransactionsEvidence, origin: int) -> Iterator[str]:
    """`origin`: from which times count."""
    records: dict[str, int] = {}
    for sent in kept.sent:
        for access in sent.accesses:
            records.setdefault(access.key, len(records))
    yield MixLine(
        level=kept.level,
        mix=kept.mix,
        records=list(records),
        not_written=kept.not_written,
        refusal=kept.refusal,
        nodes=kept.nodes or None,
    ).text
    before = origin
    for first in range(0, len(kept.sent), _CHUNK):
        some = kept.sent[first : first + _CHUNK]
        yield TransactionsLine(
            client=[each.client for each in some],
            after=after_each_other([each.invoked for each in some], before),
            took=[UNKNOWN if each.completed is None else each.completed - each.invoked for each in some],
            outcome="".join(LETTERS[each.outcome] for each in some),
            accesses=[[_on_line(one, records[one.key]) for one in each.accesses] for each in some],
        ).text
        before = some[-1].invoked


class ReadingTransactions:
    """The transactions of one store, put together line by line."""

    def __init__(self) -> None:
        self.kept: TransactionsEvidence | None = None
        self.accesses = 0
        """So far."""
        self._records: list[str] = []
        self._began = 0

    def add(self, line: MixLine | TransactionsLine) -> None:
        """Take the next line. Raises `EvidenceDamaged`."""
        if isinstance(line, MixLine):
            if self.kept is not None:
                raise EvidenceDamaged("one store, or one round, has transactions of two cases")
            self._records = line.records
            self.kept = TransactionsEvidence(line.level, line.mix, [], line.not_written, line.refusal, line.nodes or [])
            return
        if self.kept is None:
            raise EvidenceDamaged("there are transactions, and nothing says of which mix")
        columns = (line.client, line.after, line.took, line.outcome, line.accesses)
        if len({len(each) for each in columns}) != 1:
            raise EvidenceDamaged("columns of transactions have different lengths")
        if len(self.kept.sent) + len(line.client) > _MOST:
            raise EvidenceDamaged(f"one case has more than {_MOST:,} transactions, the most that is judged again")
        for client, after, took, outcome, accesses in zip(*columns, strict=True):
            self._began += after
            ending = ENDINGS.get(outcome)
            if ending is None or after < 0 or (took == UNKNOWN) != (ending == "unknown") or len(accesses) > _MOST_ACCESSES:
                raise EvidenceDamaged(f"transaction {len(self.kept.sent)} is none of a run")
            self.accesses += len(accesses)
            self.kept.sent.append(
                Transaction(
                    client=client,
                    invoked=self._began,
                    completed=None if took == UNKNOWN else self._began + took,
                    outcome=ending,
                    accesses=tuple(self._access(*each) for each in accesses),
                )
            )

    def _access(self, letter: str, record: int, version: str | None, after: str | None = None) -> Access:
        if record >= len(self._records) or (letter == "w" and version is None):
            raise EvidenceDamaged(f"record {record} is read or written so by no run")
        return Access(_ACTIONS[letter], self._records[record], version, after=after)


def _on_line(access: Access, record: int) -> AccessOnLine:
    """`record`: its number."""
    if access.action == "read":
        return "r", record, access.version
    assert access.version is not None
    return ("w", record, access.version) if access.after is None else ("w", record, access.version, access.after)
