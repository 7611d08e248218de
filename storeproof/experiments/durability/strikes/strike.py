"""The interface of a strike: one fault, once, of one store that runs, from before its load to its recovery.

Workloads know a store as a set of nodes by name: a strike says which one it strikes, which one takes writes, and which others there are. A
single server is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from storeproof.contract import Refused, Session, Unknown
from storeproof.errors import StoreDied
from storeproof.evidence import RoundEvidence
from storeproof.experiments.durability.clusters.round_record import Moments
from storeproof.experiments.durability.strikes.round_clients import RoundClients


class Strike(Protocol):
    """One fault. Each method is called at most once in this order, except those that ask."""

    last: bool
    """Whether no other one follows, as the loop says before `begin`: what survived an earlier strike must survive the later ones too."""

    @property
    def cuts_off(self) -> bool:
        """Whether it takes the disk away from a server that still runs: what that answers then says nothing."""

    @property
    def name(self) -> str:
        """That of the fault."""

    @property
    def moments(self) -> Moments:
        """When what happened."""

    @property
    def struck_node(self) -> str:
        """The node that it strikes, known from `begin` on."""

    @property
    def other_nodes(self) -> Sequence[str]:
        """The others."""

    def primary(self) -> str:
        """The node that takes writes at this moment. Raises `Unknown`: none is known."""

    def at(self, node: str) -> Callable[[], Session]:
        """What opens a session with that node, also when it is the primary no more."""

    def connecting(self, client: int, choose: Callable[[], str]) -> Callable[[], Session]:
        """What opens a session of a client with the node that is chosen then, and notes it."""

    def asks(self, client: int, node: str) -> None:
        """Note that the client's requests go to that node from now on."""

    def set_up(self) -> None:
        """Before the first strike on a store: what was there before it is not at risk."""

    def begin(self) -> None:
        """Wait until the store is whole: its load begins."""

    def strike(self, clients: RoundClients) -> None:
        """Strike under load."""

    def recover(self, clients: RoundClients, prepare: Callable[[], None]) -> None:
        """Have the store recover, and the clients go on where there is a primary.

        `prepare`: creates the collections again: a store with its schema in memory has lost it with its server.

        Raises:
            StoreDied: it does not start, or no node is left that has its data.
        """

    def make_whole(self) -> None:
        """Wait until all nodes are back, after the load: the data can be read back. `note` then says which one is the primary."""

    def missed(self, records: int) -> str:
        """Why it did not strike what clients wrote; empty if it did. `records`: different ones that were acknowledged under its load."""

    def how_it_ended(self) -> StoreDied | None:
        """The error if a server has ended by itself, else None. Raises `MachineFailed` if it was killed from outside."""

    def broken(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> Exception:
        """What to raise of a store that is unusable after the strike. `ended`: it has ended by itself."""

    def note(self, round_: RoundEvidence) -> None:
        """Write into the evidence of the round what happened so far."""

    def clean_up(self) -> None:
        """End what a round that failed has left of the fault."""
