"""The interface of a workload under faults: its clients, what is read back, and the judgement of both.

It knows no fault, and no node but by the name that a strike gives it. A new one is a file of clients, and one of its summary, which judges
a round; if it keeps more than operations, one of `evidence/` has their notation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from time import monotonic_ns
from typing import Generic, TypeVar

from storeproof.contract import Layout, Refused, Unknown
from storeproof.errors import StoreDied, Unusable
from storeproof.evidence import Broken, RoundEvidence, StoreEvidence
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.struck_round import StruckRound
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.rounds_summary import RoundsSummary, WorkloadSummary
from storeproof.history import Operation
from storeproof.spec.guarantee import LoadShape

K_contra = TypeVar("K_contra", bound=Strike, contravariant=True)


class FaultWorkload(ABC, Generic[K_contra]):
    """What clients do in all rounds on one store. `clients` and `read_back` are all that most have of their own."""

    summary: RoundsSummary
    """What was found so far, in the rounds on earlier stores too."""
    shapes: int = 1
    """How often each strike is made, once in each load shape; known from `set_up` on."""

    def __init__(self, subject: Subject, collections: Iterable[Layout], summary: RoundsSummary) -> None:
        """
        Args:
            collections: that clients use.
            summary: of earlier rounds, on another store; the rounds continue from there.
        """
        self.summary = summary
        self._subject = subject
        self.collections = tuple(collections)
        self.rounds: list[RoundEvidence] = []
        """What happened in each round so far."""
        self.strikes = 1
        """How many there are, on this store and those before it."""
        self._sent: list[Operation] = []

    @property
    def shape(self) -> LoadShape:
        """That of the next round."""
        return "stream"

    @property
    def round(self) -> RoundEvidence:
        """What happened in the current round so far."""
        return self.rounds[-1]

    def evidence(self, case: str, seed: str, target: str, *, cuts_off: bool) -> StoreEvidence:
        """What happened on this store, with its case, the seed of its choices, and its name. `cuts_off`: as of its strikes."""
        return StoreEvidence(case, seed, target, cuts_off, self.rounds, self.operations())

    def operations(self) -> list[Operation]:
        """All that are kept of this store, in order of invocation."""
        return self._sent

    def set_up(self) -> None:
        """Before the first round on a store."""
        self.prepare()

    def prepare(self) -> None:
        """Create the collections, also again: a store with its schema in memory loses it with a server."""
        with self._subject.session() as session:
            for layout in self.collections:
                session.collection(layout).prepare()

    def begin(self, strike: K_contra) -> None:
        """A round begins, and its strike waits until the store is whole."""
        self.rounds.append(RoundEvidence(self.shape, monotonic_ns()))
        strike.note(self.round)

    @abstractmethod
    def clients(self, strike: K_contra) -> AbstractContextManager[RoundClients]:
        """The clients of a round. The block is entered at the moment of the strike, and left when the store has recovered."""

    def audit(self, strike: K_contra) -> int | None:
        """Have the strike make the store whole, read back what they wrote, judge it, and count the round.

        Returns:
            How many different records were acknowledged before the strike; None if it judges itself whether the strike missed them.

        Raises:
            Refused, Unknown: the store does not answer.
        """
        strike.make_whole()
        strike.note(self.round)
        sent = self.read_back(strike)
        self._sent += sent
        assert isinstance(self.summary, WorkloadSummary), "others have an audit of their own"
        return self.summary.judge(StruckRound(self.round, strike.name, strike.cuts_off, sent))

    def read_back(self, strike: K_contra) -> Sequence[Operation]:
        """Read what the round is judged by into its evidence; returns its operations. Raises as `audit` does."""
        raise NotImplementedError

    def broken(self, strike: K_contra, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is unusable after the strike: raise what the strike makes of it, or count it. `ended`: it has ended by itself."""
        error = strike.broken(reason, ended)
        if isinstance(error, StoreDied):
            self.round.broken = Broken(error.reason, error.log, needs_repair=False)
            error = Unusable(error.reason, error.log) if strike.cuts_off else error
        elif isinstance(error, Refused):
            self.round.broken = Broken(str(error), "", needs_repair=True)
        raise error

    def spoiled(self, strike: K_contra) -> None:  # noqa: ARG002 - whatever it did
        """The round raised: it does not count, and none follows on this store."""
        self.round.spoiled = self.round.broken is None

    def finish(self) -> None:
        """The rounds on this store are over, in whichever way."""
