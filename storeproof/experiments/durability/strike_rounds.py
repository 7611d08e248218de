"""Rounds of any strike under any workload: load, strike, recovery, read back, judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic_ns

from storeproof.contract import Refused, Unknown
from storeproof.errors import FaultMissed, StoreDied
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.fault_experiment import FaultExperiment, Subject


class StrikeRounds(FaultExperiment[Strike]):
    """One store, one workload, one strike after another."""

    recovers_under_load = True  # a strike that ends the server ends the clients itself

    def __init__(self, subject: Subject, strikes: Sequence[Strike], workload: FaultWorkload) -> None:
        """`strikes`: one for each round, also of those rounds that were judged on an earlier store."""
        super().__init__(subject)
        self._strikes = strikes
        self._workload = workload

    def setup(self) -> None:
        """Create the collections."""
        self._prepare()
        self._strikes[0].set_up()

    def rounds(self) -> Iterator[Strike]:
        """Those that were not judged yet."""
        while (number := self._workload.rounds + 1) <= len(self._strikes):
            strike = self._strikes[number - 1]
            self.subject.progress(f"{strike.name} · round {number}/{len(self._strikes)}")
            yield strike

    def run_round(self) -> None:
        """End what a round that failed has left of its fault."""
        try:
            super().run_round()
        except BaseException:
            self.round.clean_up()
            raise

    @contextmanager
    def load(self) -> Iterator[None]:
        """The clients of the workload, on a store with all of its nodes."""
        self.round.begin()
        with self._workload.clients(self.round) as self._clients:
            yield

    def fault(self) -> None:
        """Strike."""
        self.round.strike(self._clients)

    def recover(self) -> None:
        """Clients that go on find their collections."""
        self.round.recover(self._clients, self._prepare)

    def audit(self) -> None:
        """Read back and judge. Raises `FaultMissed`: nothing is wrong, and the strike did not touch what clients wrote."""
        self.round.moments.ended = self.round.moments.ended or monotonic_ns()
        self.round.make_whole()
        records = self._workload.audit(self.round)
        if not self._workload.summary.findings and (missed := self.round.missed(records)):
            raise FaultMissed(missed)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """Raise what the strike makes of it."""
        raise self.round.broken(reason, ended)

    def how_it_ended(self) -> StoreDied | None:
        """As the strike sees it, which may have killed a node."""
        return self.round.how_it_ended()

    def _prepare(self) -> None:
        with self.subject.session() as session:
            self._workload.prepare(session)
