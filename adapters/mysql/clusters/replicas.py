"""A primary of MySQL (a *source*) with replicas, which copy its binary log. MySQL itself never makes a replica the primary: that is the
operator's step, and here storeproof is the operator.

A server takes no writes when it starts (`super_read_only` in the store's file), whatever it was before; the first primary is promoted like
every later one. The primary is the one that others copy from: one that was replaced goes on taking writes, and does not know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import Final

from storeproof.adapters.mysql.asking import ask
from storeproof.adapters.mysql.clusters.replica import STEP_SECONDS, Replica, copy_from, count, has_all
from storeproof.contract import NodeAddresses, Unknown, answering

_LOOK_SECONDS: Final = 0.02


class Replicas:
    """A primary of MySQL with replicas that copy its binary log."""

    def form(self, nodes: NodeAddresses) -> None:
        """If none takes writes, promote the one with the most; of new servers any will do."""
        states = {name: Replica.of(address) for name, address in nodes.items()}
        if not any(state.writable for state in states.values()):
            _promote(nodes, list(nodes))

    def primary(self, nodes: NodeAddresses) -> str:
        """The node that takes writes; of several, the one that most others copy from."""
        states = answering(nodes, Replica.of)
        writable = [name for name, state in states.items() if state.writable]
        if not writable:
            raise Unknown("no server takes writes")
        followers = Counter(state.source for state in states.values())
        return max(writable, key=lambda name: followers[nodes[name].host])

    def whole(self, nodes: NodeAddresses) -> None:
        """All others copy from the primary, and have written the same."""
        primary = self.primary(nodes)
        states = {name: Replica.of(address) for name, address in nodes.items()}
        for name, state in states.items():
            if name == primary:
                continue
            if state.writable or (state.source, state.receiver, state.applier) != (nodes[primary].host, "ON", "ON"):
                raise Unknown(f"{name} does not copy from {primary}")
            if state.executed != states[primary].executed:
                raise Unknown(f"{name} has not caught up with {primary}")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """It copies all that was ever written from the binary log of the primary."""
        copy_from(nodes[node], nodes[self.primary(nodes)])

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """Primaries that were replaced, and those with writes that the primary has not: they begin with an empty directory. The others
        that do not copy from the primary are told to.

        If the primary was started again before it was replaced, none takes writes: then one is promoted first.
        """
        self.form(nodes)
        primary, renewed = self.primary(nodes), dict[str, Sequence[Sequence[str]]]()
        for name, address in nodes.items():
            state = Replica.of(address)
            follows = state.source == nodes[primary].host and "OFF" not in (state.receiver, state.applier)
            if name == primary or (follows and not state.writable):
                continue
            if state.writable or not has_all(nodes[primary], state.executed):
                renewed[name] = []
            else:
                copy_from(address, nodes[primary])
        return renewed

    def promote(self, nodes: NodeAddresses) -> str:
        """Promote the replica that has most, and have the others copy from it.

        All but the lost primary must answer: a write is acknowledged when any one of them has it.
        """
        end = monotonic() + STEP_SECONDS
        while len(replicas := [name for name, state in answering(nodes, Replica.of).items() if not state.writable]) != len(nodes) - 1:
            if monotonic() > end:
                raise Unknown(f"replicas that answer: {', '.join(replicas) or 'none'}; another may have acknowledged writes")
            sleep(_LOOK_SECONDS)
        return _promote(nodes, replicas)


def _promote(nodes: NodeAddresses, candidates: Sequence[str]) -> str:
    """Make the one of them the primary that has most, and have the others copy from it. They first stop receiving from another."""
    for name in candidates:
        ask(nodes[name], "STOP REPLICA IO_THREAD", seconds=STEP_SECONDS)
    known = {name: Replica.of(nodes[name]).known for name in candidates}
    chosen = max(known, key=lambda name: count(known[name]))
    end = monotonic() + STEP_SECONDS
    while not has_all(nodes[chosen], known[chosen]):
        if monotonic() > end:
            raise Unknown(f"{chosen} has not applied what it has received")
        sleep(_LOOK_SECONDS)
    for name in candidates:  # before it takes writes: see `primary`
        if name != chosen:
            copy_from(nodes[name], nodes[chosen])
    # Semi-synchronous where the variant lets replicas say what they have received. No replica may wait for others.
    opening = (
        "SET GLOBAL rpl_semi_sync_source_enabled = @@rpl_semi_sync_replica_enabled, GLOBAL super_read_only = OFF, GLOBAL read_only = OFF"
    )
    ask(nodes[chosen], "STOP REPLICA", "RESET REPLICA ALL", opening, seconds=STEP_SECONDS)
    return chosen
