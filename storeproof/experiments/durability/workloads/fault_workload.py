"""The interface of a workload under faults: its clients, what is read back, and the judgement of both.

It knows no fault, and no node but by the name that a strike gives it. A new one is a file here, and a case in the suites.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from storeproof.contract import Session
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.summary import Summary


class FaultWorkload(Protocol):
    """What clients do in all rounds on one store. Its sums are those of the rounds on earlier stores too."""

    @property
    def rounds(self) -> int:
        """The number of rounds that were judged: each has keys of its own."""

    @property
    def summary(self) -> Summary:
        """What was found so far."""

    def prepare(self, session: Session) -> None:
        """Create the collections, also again: a store with its schema in memory loses it with a server."""

    def clients(self, strike: Strike) -> AbstractContextManager[RoundClients]:
        """The clients of a round. The block is entered at the moment of the strike."""

    def audit(self, strike: Strike) -> int:
        """Read back what they wrote, judge it, and count the round; returns how many different records were acknowledged before the strike.

        Raises:
            Refused, Unknown: the store does not answer.
        """
