"""The lines of an evidence file: JSON objects, each with its kind. Operations are columns, which take less space than an object for each.

Keys are numbered in the order in which they appear. Times count from just before the first round, so that a file does not tell for how
long its machine was up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from storeproof.evidence.cluster_lines import ClusterOnLine, SuccessionOnLine, cluster_of, cluster_on_line, succession_on_line
from storeproof.evidence.crash_states import CrashLine, DiskLine, ReadingStates, SeenLine, StateLine, crash_lines
from storeproof.evidence.io_errors import ErrorLine, ErrorsLine, error_lines, errors_with
from storeproof.evidence.notation import (
    ACTIONS,
    ENDINGS,
    LETTERS,
    UNKNOWN,
    AuditOnLine,
    EvidenceDamaged,
    KnownKeys,
    LinePart,
    Nanoseconds,
    Number,
    after_each_other,
    audit_on_line,
)
from storeproof.evidence.rounds import Broken, RoundEvidence, StoreEvidence
from storeproof.evidence.transactions import MixLine, ReadingTransactions, TransactionsLine, transaction_lines
from storeproof.evidence.transfers import TransfersOnLine, transfers_of, transfers_on_line
from storeproof.history import Operation, Place, Reach
from storeproof.spec.guarantee import LoadShape

FORMAT: Final = "1.5"
OLDER: Final = ("1.0", "1.1", "1.2", "1.3", "1.4")
"""The formats before rounds had `reach`, before they had `cluster`, before `transfers` and recordings, before errors of disks, and before
transactions; else they are as this one."""

_MOST_ROUNDS: Final = 120
"""On one store: the largest scale has twenty of each of six faults of a cluster."""
Amount = Annotated[int, Field(ge=-16, le=16)]
"""A run adds 5 at most; the time to judge a counter grows with these."""
AnswerOnLine = None | str | bool | Annotated[int, Field(gt=-(1 << 53), lt=1 << 53)]

_CHUNK: Final = 10_000
"""Operations of a line, and keys."""
_NOTHING: Final = "n"
"""In place of `ok`: a delete that was answered, and found nothing."""


class FileLine(LinePart):
    """The first line of a file."""

    line: Literal["file"] = "file"
    format: str
    run: str


class StoreLine(LinePart):
    """A store, and the fault that strikes it."""

    line: Literal["store"] = "store"
    case: str
    seed: str
    target: str
    cuts_off: bool


class KeysLine(LinePart):
    """Keys, numbered on from the line before."""

    line: Literal["keys"] = "keys"
    keys: list[tuple[str, str | int]]


class OperationsLine(LinePart):
    """Operations in order of invocation, in columns."""

    later: ClassVar[frozenset[str]] = frozenset({"expected", "answer"})

    line: Literal["operations"] = "operations"
    client: list[Number]
    action: str
    key: list[Number]
    after: list[Nanoseconds]
    """Nanoseconds from the invocation of the operation before."""
    took: list[Nanoseconds]
    """Nanoseconds to the reply; -1 if it was lost."""
    outcome: str
    write: list[str]
    amount: list[Amount]
    expected: list[str] | None = None
    """The write ids that comparisons expected to replace; None: there are none."""
    answer: list[AnswerOnLine] | None = None
    """As they count for order; None: they do not."""


class BrokenOnLine(LinePart):
    """Why the store was unusable."""

    reason: str
    log: str
    needs_repair: bool


class ReachOnLine(LinePart):
    """What of the load was in the store's files."""

    written: Nanoseconds
    elsewhere: list[str]


class RoundLine(LinePart):
    """A round."""

    later: ClassVar[frozenset[str]] = frozenset({"reach", "cluster", "transfers", "succession"})

    line: Literal["round"] = "round"
    shape: LoadShape
    began: Nanoseconds
    struck: Nanoseconds
    load_ended: Nanoseconds
    second_fault: bool
    recovered: float | None
    unstartable: Nanoseconds | None
    audit: AuditOnLine | None
    broken: BrokenOnLine | None
    spoiled: bool
    reach: ReachOnLine | None = None
    cluster: ClusterOnLine | None = None
    transfers: TransfersOnLine | None = None
    succession: SuccessionOnLine | None = None
    """Of the cluster."""


_OfStates = CrashLine | DiskLine | SeenLine | StateLine
_OfErrors = ErrorsLine | ErrorLine
_OfTransactions = MixLine | TransactionsLine
Line = FileLine | StoreLine | KeysLine | OperationsLine | RoundLine | _OfStates | _OfErrors | _OfTransactions
_LINE: Final[TypeAdapter[Line]] = TypeAdapter(Annotated[Line, Field(discriminator="line")])


def parsed(text: bytes) -> Line:
    """One line. Raises `EvidenceDamaged`."""
    try:
        return _LINE.validate_json(text)
    except ValidationError as breaches:
        first = breaches.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EvidenceDamaged(f"a line is not one of evidence: {where}: {first['msg']}") from None


def lines_of(store: StoreEvidence) -> Iterator[str]:
    """What is written of a store."""
    began = [each.began for each in store.rounds] + [each.invoked for each in store.operations[:1]]
    if store.transactions is not None:
        began += [each.invoked for each in store.transactions.sent[:1]]
    origin = min(began, default=1) - 1
    numbers: dict[Place, int] = {}
    for each in store.operations:
        numbers.setdefault((each.collection, each.key), len(numbers))
    places = list(numbers)
    yield StoreLine(case=store.case, seed=store.seed, target=store.target, cuts_off=store.cuts_off).text
    for first in range(0, len(places), _CHUNK):
        yield KeysLine(keys=places[first : first + _CHUNK]).text
    before = origin
    for first in range(0, len(store.operations), _CHUNK):
        some = store.operations[first : first + _CHUNK]
        yield _columns(some, numbers, before).text
        before = some[-1].invoked
    for round_ in store.rounds:
        yield _round_line(round_, numbers, origin).text
        if round_.transactions is not None:
            yield from transaction_lines(round_.transactions, origin)
    if store.crash is not None:
        yield from crash_lines(store.crash, store.operations, numbers)
    if store.errors is not None:
        yield from error_lines(store.errors, numbers, origin)
    if store.transactions is not None:
        yield from transaction_lines(store.transactions, origin)


def _columns(operations: Sequence[Operation], numbers: Mapping[Place, int], before: int) -> OperationsLine:
    answers = [None if each.action == "delete" and each.answer is False else each.answer for each in operations]
    return OperationsLine(
        client=[each.client for each in operations],
        action="".join(LETTERS[each.action] for each in operations),
        key=[numbers[each.collection, each.key] for each in operations],
        after=after_each_other([each.invoked for each in operations], before),
        took=[UNKNOWN if each.completed is None else each.completed - each.invoked for each in operations],
        outcome="".join(_NOTHING if each.action == "delete" and each.answer is False else LETTERS[each.outcome] for each in operations),
        write=[each.write_id for each in operations],
        amount=[each.amount for each in operations],
        expected=[each.expected for each in operations] if any(each.expected for each in operations) else None,
        answer=answers if any(each is not None for each in answers) else None,
    )


def _round_line(round_: RoundEvidence, numbers: Mapping[Place, int], origin: int) -> RoundLine:
    audit, broken = round_.audit, round_.broken
    succession = None if round_.cluster is None else round_.cluster.succession
    return RoundLine(
        shape=round_.shape,
        began=round_.began - origin,
        struck=round_.struck - origin if round_.struck else 0,
        load_ended=round_.load_ended - origin if round_.load_ended else 0,
        second_fault=round_.second_fault,
        recovered=round_.recovered,
        unstartable=None if round_.unstartable is None else round_.unstartable - origin,
        audit=None if audit is None else audit_on_line(audit, numbers, origin),
        broken=None if broken is None else BrokenOnLine(reason=broken.reason, log=broken.log, needs_repair=broken.needs_repair),
        spoiled=round_.spoiled,
        reach=None if round_.reach is None else ReachOnLine(written=round_.reach.written, elsewhere=list(round_.reach.elsewhere)),
        cluster=None if round_.cluster is None else cluster_on_line(round_.cluster, numbers, origin),
        transfers=None if round_.transfers is None else transfers_on_line(round_.transfers, origin),
        succession=None if succession is None else succession_on_line(succession, origin),
    )


class Reading:
    """One store, put together line by line."""

    def __init__(self, line: StoreLine, most_operations: int) -> None:
        self.store = StoreEvidence(line.case, line.seed, line.target, line.cuts_off)
        self._most = most_operations
        self._keys = KnownKeys()
        self._states = ReadingStates(self._keys)
        self._transactions = ReadingTransactions()
        """Of the store, or of its last round."""
        self._accesses = 0
        """Of all of them."""
        self._reads = 0
        """Of the keys that are watched on a cluster."""
        self._transfers = 0
        self._invoked = 0
        self._now: dict[int, Operation] = {}
        """By client, the first part of what it sent at the last moment."""

    def add(self, line: Line) -> None:
        """Take the next line. Raises `EvidenceDamaged`."""
        if isinstance(line, KeysLine):
            self._keys.places += line.keys
            self._limit(len(self._keys.places), "keys")
        elif isinstance(line, OperationsLine):
            self._add_operations(line)
        elif isinstance(line, ErrorsLine | ErrorLine):
            self.store.errors = errors_with(self.store.errors, line, self._keys)
        elif isinstance(line, MixLine | TransactionsLine):
            before = self._transactions.accesses
            self._transactions.add(line)
            self._accesses += self._transactions.accesses - before
            self._limit(self._accesses, "reads and writes in transactions")
            if self.store.rounds:
                self.store.rounds[-1].transactions = self._transactions.kept
            else:
                self.store.transactions = self._transactions.kept
        elif not isinstance(line, RoundLine):
            if isinstance(line, StoreLine | FileLine):
                raise EvidenceDamaged(f"a line of the kind `{line.line}` is out of place")
            self._states.add(line)
            self.store.crash = self._states.crash
        else:
            self._reads += len(line.cluster.reads.client) + len(line.cluster.connections.client) if line.cluster is not None else 0
            self._limit(self._reads, "reads and connections")
            self._transfers += len(line.transfers.client) + len(line.transfers.snapshots.client) if line.transfers is not None else 0
            self._limit(self._transfers, "transfers and snapshots")
            self.store.rounds.append(self._round(line))
            self._transactions = ReadingTransactions()
            if len(self.store.rounds) > _MOST_ROUNDS:
                raise EvidenceDamaged(f"there are more than {_MOST_ROUNDS} rounds on one store")

    def _add_operations(self, line: OperationsLine) -> None:
        none: list[None] = [None] * len(line.client)
        timed = (line.client, line.action, line.key, line.after, line.took, line.outcome)
        columns = (*timed, line.write, line.amount, line.expected or none, line.answer or none)
        if len({len(each) for each in columns}) != 1:
            raise EvidenceDamaged("columns of operations have different lengths")
        self._limit(len(self.store.operations) + len(line.client), "operations")
        for client, action, key, after, took, outcome, write, amount, expected, answer in zip(*columns, strict=True):
            if after:
                self._now.clear()
            self._invoked += after
            nothing = outcome == _NOTHING and action == LETTERS["delete"]
            ending = "ok" if nothing else ENDINGS.get(outcome)
            if action not in ACTIONS or ending is None or not 0 <= key < len(self._keys.places) or after < 0:
                raise EvidenceDamaged(f"operation {len(self.store.operations)} is none of a run")
            if (took == UNKNOWN) != (ending == "unknown") or took < UNKNOWN:
                raise EvidenceDamaged(f"operation {len(self.store.operations)} is {ending} after {took} ns")
            if ACTIONS[action] == "increment":
                self._keys.counters.add(key)
            collection, name = self._keys.places[key]
            operation = Operation(
                client=client,
                action=ACTIONS[action],
                collection=collection,
                key=name,
                invoked=self._invoked,
                completed=None if took == UNKNOWN else self._invoked + took,
                outcome=ending,
                write_id=write,
                amount=amount,
                expected=expected or "",
                answer=False if nothing else answer,
            )
            first = self._now.setdefault(client, operation)
            if first is not operation and replace(operation, collection=first.collection, key=first.key) != first:
                raise EvidenceDamaged(f"operation {len(self.store.operations)}: not all parts of one request have the same reply")
            self.store.operations.append(operation)

    def _round(self, line: RoundLine) -> RoundEvidence:
        audit, broken = line.audit, line.broken
        return RoundEvidence(
            shape=line.shape,
            began=line.began,
            struck=line.struck,
            load_ended=line.load_ended,
            second_fault=line.second_fault,
            recovered=line.recovered,
            unstartable=line.unstartable,
            audit=None if audit is None else self._keys.audit(audit),
            broken=None if broken is None else Broken(broken.reason, broken.log, broken.needs_repair),
            spoiled=line.spoiled,
            reach=None if line.reach is None else Reach(line.reach.written, tuple(line.reach.elsewhere)),
            cluster=None if line.cluster is None else cluster_of(line.cluster, line.succession, self._keys),
            transfers=None if line.transfers is None else transfers_of(line.transfers),
        )

    def _limit(self, number: int, of: str) -> None:
        if number > self._most:
            raise EvidenceDamaged(f"the rounds on one store have more than {self._most:,} {of}, the most that is judged again")
