"""Rounds of any strike under any workload: load, strike, recovery, read back, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, monotonic_ns
from typing import Generic, TypeVar

from storeproof.contract import Refused, Unknown
from storeproof.errors import FaultMissed, StoreDied
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.fault_experiment import FaultExperiment, Subject

K = TypeVar("K", bound=Strike)


class StrikeRounds(FaultExperiment[K], Generic[K]):
    """One store, one workload, one strike after another."""

    recovers_under_load = True  # a strike that ends the server ends the clients itself

    def __init__(self, subject: Subject, strikes: Sequence[Callable[[], K]], workload: FaultWorkload[K]) -> None:
        """`strikes`: makes each of them, also those of rounds that were judged on an earlier store. Each strikes in each load shape."""
        super().__init__(subject)
        self.strikes = strikes
        self.workload = workload
        workload.strikes = len(strikes)

    def setup(self) -> None:
        """Create the collections."""
        self.workload.set_up()
        self.strikes[0]().set_up()

    def rounds(self) -> Iterator[K]:
        """Those that were not judged yet."""
        shapes, first, began = self.workload.shapes, self.workload.summary.rounds, monotonic()
        total = len(self.strikes) * shapes
        while not self.workload.summary.over and (number := self.workload.summary.rounds) < total:
            strike = self.strikes[number // shapes]()
            strike.last = number + 1 == total
            left = (monotonic() - began) / (number - first) * (total - number) if number > first else 0.0
            after = f", about {left:.0f} s left" if left else ""
            self.subject.progress(f"{strike.name} · round {number // shapes + 1}/{len(self.strikes)}{after}")
            yield strike

    def run_round(self) -> None:
        """Do not count one that raises, and end what it has left of its fault."""
        self.workload.begin(self.round)
        try:
            super().run_round()
        except BaseException:
            self.workload.spoiled(self.round)
            self.round.clean_up()
            raise

    @contextmanager
    def load(self) -> Iterator[None]:
        """The clients of the workload, on a store with all of its nodes."""
        self.round.begin()
        with self.workload.clients(self.round) as self._clients:
            yield

    def fault(self) -> None:
        """Strike."""
        self.round.strike(self._clients)

    def recover(self) -> None:
        """Clients that go on find their collections."""
        self.round.recover(self._clients, self.workload.prepare)

    def audit(self) -> None:
        """Read back and judge. Raises `FaultMissed`: nothing is wrong, and the strike did not touch what clients wrote."""
        self.round.moments.ended = self.round.moments.ended or monotonic_ns()
        self.round.note(self.workload.round)
        records = self.workload.audit(self.round)
        if records is not None and not self.workload.summary.findings and (missed := self.round.missed(records)):
            raise FaultMissed(missed)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Raise what the workload makes of it, or count it."""
        self.workload.broken(self.round, reason, ended)
        self.round.clean_up()

    def finish(self) -> None:
        """Also after a round that raised."""
        self.workload.finish()

    def how_it_ended(self) -> StoreDied | None:
        """As the strike sees it, which may have killed a node."""
        return self.round.how_it_ended()
