"""Clusters of MariaDB with Galera: all nodes that see a majority take writes, and each write is certified on all of them.

There is no primary. Clients are sent to the first node, in the order of the store's file, of the newest view; a node that is cut off calls
itself primary until it misses the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from storeproof.adapters.mysql.asking import ask
from storeproof.contract import Address, NodeAddresses, Unknown, answering

_TIMEOUTS: Final = ("evs.suspect_timeout", "evs.inactive_timeout", "evs.install_timeout")
_SYNCED: Final = "4"
"""`wsrep_local_state` of a node that has all that the others have, and gives no copy of its data at the moment."""


@dataclass(frozen=True)
class _State:
    """What one node says of itself."""

    takes_writes: bool
    view: int
    """Raised whenever a node joins or leaves."""
    size: int
    """How many nodes are in the view."""
    history: str
    """The name of the sequence of all writes; a cluster that began again from nothing has another."""
    written: int
    """The number of the last write that is in this node's tables."""
    settled: bool
    """Whether it misses no node of the view."""

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        told = _status(address)
        if "wsrep_local_state" not in told:
            raise Unknown(f"{address} does not say that it belongs to a cluster")
        return cls(
            told["wsrep_cluster_status"] == "Primary" and told["wsrep_ready"] == "ON" and told["wsrep_local_state"] == _SYNCED,
            int(told["wsrep_cluster_conf_id"]),
            int(told["wsrep_cluster_size"]),
            told["wsrep_cluster_state_uuid"],
            int(told["wsrep_last_committed"]),
            told["wsrep_evs_state"] == "OPERATIONAL",
        )


class Galera:
    """A cluster of Galera. Nodes join when they start, the first one as a cluster of its own: see `galera.sh` in the store's file."""

    def form(self, nodes: NodeAddresses) -> None:
        """Nothing: a server answers when it has joined."""

    def primary(self, nodes: NodeAddresses) -> str:
        """The first one of the newest view."""
        found = {name: state.view for name, state in answering(nodes, _State.of).items() if state.takes_writes}
        if not found:
            raise Unknown("no node takes writes")
        return max(found, key=lambda name: found[name])

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:  # noqa: ARG002 - it is the only one that is not asked
        """Whether one of them makes a new view, or is in one without it; it does not tell since when."""
        told = answering(others, _State.of).values()
        return 0.0 if any(not each.settled or each.size <= len(others) for each in told) else None

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """Of the first node, as ISO 8601 writes times."""
        ((options,),) = ask(next(iter(nodes.values())), "SELECT @@wsrep_provider_options")
        told = dict(pair.strip().partition(" = ")[::2] for pair in options.split(";"))
        return {name: told[name] for name in _TIMEOUTS}

    def whole(self, nodes: NodeAddresses) -> None:
        """All are in one view, and have written the same."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        for name, state in states.items():
            if not state.takes_writes:
                raise Unknown(f"{name} has not joined")
            if state.size != len(nodes):
                raise Unknown(f"{name} is in a view of {state.size}")
        if len({(state.view, state.history) for state in states.values()}) > 1:
            raise Unknown("the nodes are in different views")
        if len({state.written for state in states.values()}) > 1:
            raise Unknown("the nodes have not written the same")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: another node has sent it all data before it answered."""


def _status(address: Address) -> Mapping[str, str]:
    return {str(name): str(value) for name, value in ask(address, "SHOW GLOBAL STATUS LIKE 'wsrep_%'")}
