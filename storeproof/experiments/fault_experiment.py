"""The steps of every fault experiment: setup, then load, fault, recovery and audit in each round.

All experiments with faults run through `FaultExperiment.run`. The many rounds of a workload are `StrikeRounds`; what is done once, such
as a full disk, is a subclass in its own file.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from time import monotonic_ns
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from storeproof.blame import judge_error
from storeproof.contract import Refused, Session, Unknown
from storeproof.errors import Halted, MachineFailed, StoreDied
from storeproof.experiments.client import Client
from storeproof.history import Operation, Transaction, Transfer
from storeproof.launch.handle import Handle

AT_LEAST: Final = 3
"""The minimum number of spoiled rounds that are repeated; otherwise as many as the scale has rounds."""

Round = TypeVar("Round")
Sent = TypeVar("Sent", Operation, Transaction, Transfer)


class Connect(Protocol):
    """Opens a session, as a store under test does."""

    def __call__(self, where: Handle, /) -> Session: ...


@dataclass(frozen=True)
class Subject:
    """The store of an experiment, for its exclusive use."""

    handle: Handle
    connect: Connect
    rng: random.Random
    progress: Callable[[str], None] = lambda _: None

    def open(self) -> Session:
        return self.connect(self.handle)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session that is closed at the end of the block."""
        session = self.open()
        try:
            yield session
        finally:
            session.close()


class FaultExperiment(ABC, Generic[Round]):
    """Faults on one store. `run` is called once."""

    recovers_under_load: ClassVar[bool] = False
    """Whether clients continue until the store has recovered; otherwise they are stopped after the fault."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.handle = subject.handle
        self.round: Round
        """The current round."""
        self.struck = 0
        """The time of the last fault, in nanoseconds on the clock of the operations."""
        self.load_ended = 0
        """The time when the clients had stopped after it."""

    def run(self) -> None:
        """All rounds.

        Raises:
            MachineFailed, Unknown: a round says nothing about the store, and is not in the summary.
            StoreDied, Refused: the store is unusable before any fault, or `fail` raised it.
            WrongReply: the store returned something that is not a record.
            Breach: the adapter broke the contract.
        """
        try:
            self.setup()
            for each in self.rounds():
                self.round = each
                self.run_round()
        finally:
            self.finish()

    def run_round(self) -> None:
        """Load, fault, recovery, audit."""
        try:
            with ExitStack() as load:
                load.enter_context(self.load())
                self.struck = monotonic_ns()
                self.fault()
                if not self.recovers_under_load:
                    load.close()
                    self.load_ended = monotonic_ns()
                self.recover()
            self.audit()
        except (StoreDied, Refused, Unknown) as reason:
            self.fail(reason, self.explain(reason))

    @abstractmethod
    def setup(self) -> None:
        """Called once, before the first round."""

    @abstractmethod
    def rounds(self) -> Iterator[Round]:
        """The remaining rounds; ends early if another round makes no sense."""

    @abstractmethod
    def load(self) -> AbstractContextManager[None]:
        """Clients that send requests until the end of the block; the block is entered at the moment of the fault."""

    @abstractmethod
    def fault(self) -> None:
        """Strike."""

    @abstractmethod
    def recover(self) -> None:
        """Start the store again. Raises `StoreDied` if it does not start."""

    @abstractmethod
    def audit(self) -> None:
        """Compare what the store serves with what it acknowledged. Raises `Refused` or `Unknown` if it does not answer."""

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Called if the store is unusable after a fault. `ended`: the store ended. Raises the error, unless the summary records it."""
        raise ended or reason

    def finish(self) -> None:
        """Called at the end in every case."""

    def explain(self, reason: StoreDied | Refused | Unknown) -> StoreDied | None:
        """The error if a store that did not answer has ended, else None. Raises `MachineFailed` if it was killed from outside."""
        return self.how_it_ended() if isinstance(reason, Unknown) else None

    def how_it_ended(self) -> StoreDied | None:
        """The error if the store has ended by itself, else None. Raises `MachineFailed` if it was killed from outside."""
        return how_it_ended(self.handle)


def how_it_ended(handle: Handle) -> StoreDied | None:
    """The error if a store has ended by itself, else None. Raises `MachineFailed` if it was killed from outside."""
    try:
        handle.check_alive()
    except StoreDied as ended:
        return ended
    return None


def check_load(handle: Handle, clients: Sequence[Client]) -> None:
    """Check that the store is running and under load before the fault.

    Raises:
        StoreDied: the store ended by itself.
        MachineFailed: the store was killed from outside.
        Unknown: no client has a connection left.
    """
    handle.check_alive()
    if all(client.ended.unknown for client in clients):
        raise Unknown(f"all clients lost their connections before the fault: {clients[0].ended.unknown}")


def without_replies(sent: Sequence[Sent], intervals: Sequence[tuple[int, int]]) -> list[Sent]:
    """The history, with what was answered in one of the intervals marked as unknown: the store had lost its disk by then.

    `intervals`: begin and end, in nanoseconds on the clock of the operations; in order, and none within another.
    """
    begins = [begin for begin, _ in intervals]

    def answered_within(completed: int) -> bool:
        place = bisect_right(begins, completed) - 1
        return place >= 0 and completed <= intervals[place][1]

    return [each.without_reply() if each.completed is not None and answered_within(each.completed) else each for each in sent]


def on_own_stores(launch: Callable[[], Handle], attempt: Callable[[Handle], None], spoiled: list[str], rounds: int) -> bool:
    """Call `attempt` on a new store, and again on another one after a spoiled round; False if too many were spoiled, or it was halted.

    Args:
        attempt: continues where an earlier call ended; raises `MachineFailed` or `Unknown` for a round that says nothing.
        spoiled: receives the reason for each spoiled round, in one line.
        rounds: the number of rounds; as many may be spoiled, and at least `AT_LEAST`.
    """

    def once() -> None:
        with closing(launch()) as handle:
            attempt(handle)

    return repeat_spoiled(once, spoiled, max(AT_LEAST, rounds))


def repeat_spoiled(attempt: Callable[[], None], spoiled: list[str], most: int) -> bool:
    """Call `attempt` until it returns; False if more than `most` attempts were spoiled, or the time of the case is over.

    Arguments as for `on_own_stores`.
    """
    while len(spoiled) <= most:
        try:
            attempt()
        except (MachineFailed, Unknown, Halted) as reason:
            spoiled.append(judge_error(reason, claimed=True).detail.partition("\n")[0])
            if isinstance(reason, Halted):  # what was found before counts
                return False
        else:
            return True
    return False
