"""The interface of a workload under faults: its clients, what is read back, and the judgement of both.

It knows no fault, and no node but by the name that a strike gives it. A new one is a file here, and a case in the suites.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from storeproof.contract import Layout, Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.rounds_summary import RoundsSummary

K_contra = TypeVar("K_contra", bound=Strike, contravariant=True)


class FaultWorkload(ABC, Generic[K_contra]):
    """What clients do in all rounds on one store. `clients` and `audit` are all that most have of their own."""

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

    @abstractmethod
    def clients(self, strike: K_contra) -> AbstractContextManager[RoundClients]:
        """The clients of a round. The block is entered at the moment of the strike, and left when the store has recovered."""

    @abstractmethod
    def audit(self, strike: K_contra) -> int | None:
        """Have the strike make the store whole, read back what they wrote, judge it, and count the round.

        Returns:
            How many different records were acknowledged before the strike; None if it judges itself whether the strike missed them.

        Raises:
            Refused, Unknown: the store does not answer.
        """

    def broken(self, strike: K_contra, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store is unusable after the strike: raise what the strike makes of it, or count it. `ended`: it has ended by itself."""
        raise strike.broken(reason, ended)

    def spoiled(self, strike: K_contra) -> None:
        """The round raised: it does not count, and none follows on this store."""

    def finish(self) -> None:
        """The rounds on this store are over, in whichever way."""
