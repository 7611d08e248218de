"""A primary of MySQL (a *source*) with replicas, which copy its binary log. MySQL itself never makes a replica the primary: that is the
operator's step, and here storeproof is the operator.

A server takes no writes when it starts (`super_read_only` in the store's file), whatever it was before; the first primary is promoted like
every later one. The primary is the one that others copy from: one that was replaced goes on taking writes, and does not know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Final, Self

from storeproof.adapters.mysql.asking import OWN_NUMBER, ask, literal
from storeproof.adapters.mysql.gtids import KNOWN, count
from storeproof.contract import Address, NodeAddresses, Unknown, answering

_STEP_SECONDS: Final = 5.0
"""For the threads of a replica to begin or to end, and for it to apply what it has received."""
_LOOK_SECONDS: Final = 0.02
_STATE: Final = f"""
    SELECT NOT @@super_read_only,
           IFNULL((SELECT host FROM performance_schema.replication_connection_configuration WHERE channel_name = ''), ''),
           IFNULL((SELECT service_state FROM performance_schema.replication_connection_status WHERE channel_name = ''), ''),
           IFNULL((SELECT service_state FROM performance_schema.replication_applier_status WHERE channel_name = ''), ''),
           @@gtid_executed, {KNOWN.format(channel="")}
"""


@dataclass(frozen=True)
class _State:
    """What one server says of itself."""

    writable: bool
    source: str
    """The host that it copies from; empty: none."""
    receiver: str
    """`ON` while it is connected to that host, else `OFF` or `CONNECTING`."""
    applier: str
    """`ON` while it applies what it has received."""
    executed: str
    """The writes that are in its tables, as sets of numbers."""
    known: str
    """Those, and what it has received."""

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        ((writable, source, receiver, applier, executed, known),) = ask(address, _STATE)
        return cls(bool(writable), source, receiver, applier, executed, known)


class Replicas:
    """See `Cluster`, `Promotion` and `Rebuilding`."""

    def form(self, nodes: NodeAddresses) -> None:
        """If none takes writes, promote the one with the most; of new servers any will do."""
        states = {name: _State.of(address) for name, address in nodes.items()}
        if not any(state.writable for state in states.values()):
            _promote(nodes, list(nodes))

    def primary(self, nodes: NodeAddresses) -> str:
        """Of those that take writes, the one that most others copy from."""
        states = answering(nodes, _State.of)
        writable = [name for name, state in states.items() if state.writable]
        if not writable:
            raise Unknown("no server takes writes")
        followers = Counter(state.source for state in states.values())
        return max(writable, key=lambda name: followers[nodes[name].host])

    def whole(self, nodes: NodeAddresses) -> None:
        """All others copy from the primary, and have written the same."""
        primary = self.primary(nodes)
        states = {name: _State.of(address) for name, address in nodes.items()}
        for name, state in states.items():
            if name == primary:
                continue
            if state.writable or (state.source, state.receiver, state.applier) != (nodes[primary].host, "ON", "ON"):
                raise Unknown(f"{name} does not copy from {primary}")
            if state.executed != states[primary].executed:
                raise Unknown(f"{name} has not caught up with {primary}")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """It copies all that was ever written from the binary log of the primary."""
        _copy_from(nodes[node], nodes[self.primary(nodes)])

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        """Primaries that were replaced, and those with writes that the primary has not: they begin with an empty directory. The
        others that do not copy from the primary are told to.

        If the primary was started again before it was replaced, none takes writes: then one is promoted first."""
        self.form(nodes)
        primary, renewed = self.primary(nodes), dict[str, Sequence[Sequence[str]]]()
        for name, address in nodes.items():
            if name == primary:
                continue
            state = _State.of(address)
            if state.writable or not _has_all(nodes[primary], state.executed):
                renewed[name] = []
            elif state.source != nodes[primary].host or "OFF" in (state.receiver, state.applier):
                _copy_from(address, nodes[primary])
        return renewed

    def promote(self, nodes: NodeAddresses) -> str:
        """Promote the replica that has most, and have the others copy from it.

        All but the lost primary must answer: a write is acknowledged when any one of them has it.
        """
        end = monotonic() + _STEP_SECONDS
        while len(replicas := [name for name, state in answering(nodes, _State.of).items() if not state.writable]) != len(nodes) - 1:
            if monotonic() > end:
                raise Unknown(f"replicas that answer: {', '.join(replicas) or 'none'}; another may have acknowledged writes")
            sleep(_LOOK_SECONDS)
        return _promote(nodes, replicas)


def _promote(nodes: NodeAddresses, candidates: Sequence[str]) -> str:
    """Make the one of them the primary that has most, and have the others copy from it. They first stop receiving from another."""
    for name in candidates:
        ask(nodes[name], "STOP REPLICA IO_THREAD", seconds=_STEP_SECONDS)
    known = {name: _State.of(nodes[name]).known for name in candidates}
    chosen = max(known, key=lambda name: count(known[name]))
    end = monotonic() + _STEP_SECONDS
    while not _has_all(nodes[chosen], known[chosen]):
        if monotonic() > end:
            raise Unknown(f"{chosen} has not applied what it has received")
        sleep(_LOOK_SECONDS)
    for name in candidates:  # before it takes writes: see `primary`
        if name != chosen:
            _copy_from(nodes[name], nodes[chosen])
    # Semi-synchronous where the variant lets replicas say what they have received. No replica may wait for others.
    opening = (
        "SET GLOBAL rpl_semi_sync_source_enabled = @@rpl_semi_sync_replica_enabled, GLOBAL super_read_only = OFF, GLOBAL read_only = OFF"
    )
    ask(nodes[chosen], "STOP REPLICA", "RESET REPLICA ALL", opening, seconds=_STEP_SECONDS)
    return chosen


def _has_all(address: Address, writes: str) -> bool:
    ((subset,),) = ask(address, f"SELECT GTID_SUBSET({literal(writes)}, @@gtid_executed)")
    return bool(subset)


def _copy_from(address: Address, primary: Address) -> None:
    user, password = literal(primary.user or ""), literal(primary.password or "")
    source = (
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = {literal(primary.host)}, SOURCE_PORT = {primary.port}, SOURCE_USER = {user},"
        f" SOURCE_PASSWORD = {password}, SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1,"
        " SOURCE_RETRY_COUNT = 1000"
    )
    ask(address, "STOP REPLICA", OWN_NUMBER, source, "START REPLICA", seconds=_STEP_SECONDS)
