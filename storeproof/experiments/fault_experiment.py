"""A fault, and what comes before and after it: setup, then round by round load, fault, recovery, audit.

All experiments with faults go through `FaultExperiment.run`; each says in a file of its own what is particular to it.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from time import monotonic_ns
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from storeproof.blame import judge
from storeproof.contract import Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.client import Client
from storeproof.history import Operation
from storeproof.launch.handle import Handle

AT_LEAST: Final = 3
"""Rounds that are repeated in any case; and as many as are asked for, if those are more."""

Round = TypeVar("Round")


class Connect(Protocol):
    """Opens a session, as a store under test does."""

    def __call__(self, where: Handle, /) -> Session: ...


@dataclass(frozen=True)
class Subject:
    """The store that an experiment is done on, for its exclusive use."""

    handle: Handle
    connect: Connect
    rng: random.Random
    progress: Callable[[str], None] = lambda _: None

    def open(self) -> Session:
        """A session with the store where it is now."""
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
    """One store, and faults that strike it. `run` is called once."""

    recovers_under_load: ClassVar[bool] = False
    """Whether clients go on until the store has recovered; else they are stopped after the fault."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.handle = subject.handle
        self.round: Round
        """The one under way."""
        self.struck = 0
        """When the last fault began, in nanoseconds of the clock of the operations."""
        self.load_ended = 0
        """When the clients had stopped after it."""

    def run(self) -> None:
        """All rounds.

        Raises:
            MachineFailed, Unknown: a round says nothing about the store, and nothing of it is in the summary.
            StoreDied, Refused: the store is of no use before anything was done to it, or where `fail` raises it.
            WrongReply: it served what is no record.
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
        """What is done once, before the first round."""

    @abstractmethod
    def rounds(self) -> Iterator[Round]:
        """The rounds that are left to do; it ends early where no further one makes sense."""

    @abstractmethod
    def load(self) -> AbstractContextManager[None]:
        """Clients that send requests until the end of the block; entered when the fault is to strike."""

    @abstractmethod
    def fault(self) -> None:
        """Strike."""

    @abstractmethod
    def recover(self) -> None:
        """Start the store again. Raises `StoreDied` where it does not start."""

    @abstractmethod
    def audit(self) -> None:
        """Compare what the store serves with what it acknowledged. Raises `Refused` or `Unknown` where it does not answer."""

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is of no use after a fault. `ended`: it ended rather than answer. Raised, unless the summary has a place for it."""
        raise ended or reason

    def finish(self) -> None:
        """What is done at the end in any case."""

    def explain(self, reason: StoreDied | Refused | Unknown) -> StoreDied | None:
        """Whether a store that did not answer has ended. Raises `MachineFailed` where it was killed from outside."""
        if isinstance(reason, Unknown):
            try:
                self.handle.check_alive()
            except StoreDied as ended:
                return ended
        return None


def check_load(handle: Handle, clients: Sequence[Client]) -> None:
    """Whether the fault strikes a store that runs and is written to.

    Raises:
        StoreDied: it ended by itself.
        MachineFailed: it was killed from outside.
        Unknown: no client has a connection left.
    """
    handle.check_alive()
    if all(client.ended.unknown for client in clients):
        raise Unknown(f"all clients lost their connection before the fault: {clients[0].ended.unknown}")


def without_replies(operations: Sequence[Operation], intervals: Sequence[tuple[int, int]]) -> list[Operation]:
    """The history, in which what was answered in one of the intervals is unknown: the store had lost its disk by then.

    `intervals`: from when to when, in nanoseconds of the clock of the operations.
    """
    return [
        replace(each, completed=None, outcome="unknown", answer=None)
        if each.completed is not None and any(begin <= each.completed <= end for begin, end in intervals)
        else each
        for each in operations
    ]


def on_own_stores(launch: Callable[[], Handle], attempt: Callable[[Handle], None], spoiled: list[str], rounds: int) -> bool:
    """Call `attempt` on a store of its own, and again on another one where a round was spoiled; False where too many were.

    Args:
        attempt: goes on where an earlier call ended; raises `MachineFailed` or `Unknown` where a round says nothing.
        spoiled: gets the reason of each spoiled round, in one line.
        rounds: how many are asked for; as many may be spoiled, and at least `AT_LEAST`.
    """

    def once() -> None:
        with closing(launch()) as handle:
            attempt(handle)

    return repeat_spoiled(once, spoiled, max(AT_LEAST, rounds))


def repeat_spoiled(attempt: Callable[[], None], spoiled: list[str], most: int) -> bool:
    """Call `attempt` until it returns; False where more than `most` were spoiled. The arguments are those of `on_own_stores`."""
    while len(spoiled) <= most:
        try:
            attempt()
        except (MachineFailed, Unknown) as reason:
            spoiled.append(judge(reason, claimed=True).detail.partition("\n")[0])
        else:
            return True
    return False
