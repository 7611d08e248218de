"""Clusters: how the servers on several nodes become one store, and what has to be done about a lost node.

An adapter whose store has topologies has a function `cluster(options)`, which returns a `Cluster`. It is asked from outside, as an operator
would: each method opens its own connections, with short timeouts, since any node may be gone, cut off or paused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from storeproof.contract.address import Address
from storeproof.contract.failures import Unknown

T = TypeVar("T")
NodeAddresses = Mapping[str, Address]
"""The nodes by name, in the order of the store's file. `Address.port` is that of the service for clients; `Address.ports` has those of all
services, by name."""


def answering(nodes: NodeAddresses, ask: Callable[[Address], T]) -> dict[str, T]:
    """What the nodes say that answer: one that does not (`Unknown`) may be gone."""
    found = {}
    for name, address in nodes.items():
        try:
            found[name] = ask(address)
        except Unknown:
            continue
    return found


@runtime_checkable
class Cluster(Protocol):
    """The cluster of one store. A method that gets no usable answer raises `Unknown`, with what is missing: it is then called again."""

    def form(self, nodes: NodeAddresses) -> None:
        """Make servers that have just started one cluster. Their data is empty, or what a former cluster of the same nodes left.
        Raises `Refused`: they can never be one."""

    def primary(self, nodes: NodeAddresses) -> str:
        """The node that takes writes. If several say so, as in a partition, the one that was chosen last (with the highest term).
        Raises `Unknown`: none is known now."""

    def whole(self, nodes: NodeAddresses) -> None:
        """Return if all nodes take part, follow one primary and have caught up with it. Raises `Unknown`: what is missing."""

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Make a node that was started again with an empty disk a member of the cluster; it may still be catching up afterwards.
        Raises `Refused`: the cluster does not take it."""


@runtime_checkable
class OwnFailover(Protocol):
    """A `Cluster` that replaces a lost primary by itself, and tells how it does."""

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:
        """For how many seconds one of the others has taken the primary at `lost` for gone: since an election began, say, or a time-out ran
        out. 0 if it does not tell since when; None: none of them does. Raises `Unknown`: none answers."""

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """The live values of the time-outs that decide how soon it does, by their names in the store, as it writes them. Raises
        `Unknown`."""


@runtime_checkable
class Promotion(Protocol):
    """A `Cluster` whose topology says `failover: operator`."""

    def promote(self, nodes: NodeAddresses) -> str:
        """Make one of the nodes that answer the primary, the one that lost least; returns its name. Raises `Refused`: none can be."""


@runtime_checkable
class Rebuilding(Protocol):
    """A `Cluster` some of whose nodes can follow the primary only with a new copy of its data."""

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """The nodes that need one now, each with the commands that make it.

        On each such node the server for clients is killed and its data directory emptied; the commands run there in place of `initialise`
        in the store's file, and are written like it (`${data}`, `$$`); then the server is started again. Without commands it is started as
        with an empty disk, and `replace` is called.

        Raises:
            Unknown: there is no primary to copy from, or a node does not answer.
        """


@runtime_checkable
class EndsAsWhole(Protocol):
    """A `Cluster` that ends cleanly only as a whole: a server that is stopped by itself may not keep what it acknowledged."""

    def end(self, nodes: NodeAddresses) -> None:
        """Have the servers end, or prepare for it; those that go on afterwards are stopped one by one.
        Raises `Unknown`: they do not say that they will."""


@runtime_checkable
class Undoing(Protocol):
    """A `Cluster` whose nodes, when they rejoin, undo writes and keep them in files: evidence of what became of them."""

    def set_aside(self, data: Path) -> Mapping[Path, int]:
        """The files below a node's data directory, each with the number of records in it."""
