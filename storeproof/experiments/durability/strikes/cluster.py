"""A strike of a cluster: at the primary, or between nodes. It waits for the failover under load, and ends the fault.

Some clients are *tied* to the primary that the fault strikes, as drivers without discovery are: clients that follow the primary leave it
before it acknowledges what will be rolled back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic, monotonic_ns
from typing import Final

from storeproof.contract import Address, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.evidence import ClusterEvidence, RoundEvidence, Second, Takeover
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Moments
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.succession_watch import SuccessionWatch
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.store_files import StoreFiles
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.history import Reach
from storeproof.launch.handle import RunningCluster
from storeproof.launch.readiness import timeout_error
from storeproof.machine.deadline import Deadline, machine_is_busy

_LOOK_SECONDS: Final = 0.02
_SIDES_SECONDS: Final = 2.0
"""How long both sides of a partition take writes after the failover."""
_DEPOSED_SECONDS: Final = 2.0
"""How long the load goes on after the end of a partition or a pause: a primary that was replaced may not know it yet."""
_SURVIVORS_SECONDS: Final = 0.5
"""How long the load goes on after a failover without the lost node."""


class ClusterStrike:
    """One fault of it, which may last until clients go on at another node."""

    cuts_off = False

    def __init__(self, subject: Subject, fault: ClusterFault, connect_to: Callable[[Address], Session]) -> None:
        """`connect_to`: opens a session with one node, for clients that are tied to it."""
        assert subject.handle.cluster is not None, "see `FaultMeans.CLUSTER`"
        self.fault = fault
        self.last = False
        self.struck_node = ""
        self.gone = ""
        """The node that is lost now."""
        self.moments = Moments()
        self._handle = subject.handle
        self._cluster: RunningCluster = subject.handle.cluster
        self._connect_to = connect_to
        self._successor: str | None = None
        """The node that took the place of the struck one."""
        self._primary = ""
        """In the end."""
        self._connections = Connections()
        self._files: StoreFiles | None = None
        self._reach: Reach | None = None
        """None: the fault takes no node's files."""
        self._missing = ""
        """Why no node has become the primary yet."""

    @property
    def name(self) -> str:
        """That of the fault."""
        return self.fault.name

    @property
    def other_nodes(self) -> Sequence[str]:
        """All but the one that it strikes."""
        return [name for name in self._cluster.nodes if name != self.struck_node]

    def primary(self) -> str:
        """As the cluster says."""
        return self._cluster.primary()

    def at(self, node: str) -> Callable[[], Session]:
        """What opens a session with that node, also when it is the primary no more."""
        address = self._cluster.node(node).address
        return lambda: self._connect_to(address)

    def connecting(self, client: int, choose: Callable[[], str]) -> Callable[[], Session]:
        """What opens a session of a client with the node that is chosen then, and notes it."""

        def connect() -> Session:
            node = choose()
            session = self.at(node)()
            self.asks(client, node)
            return session

        return connect

    def asks(self, client: int, node: str) -> None:
        """Note it."""
        self._connections.opened(client, monotonic_ns(), node)

    def set_up(self) -> None:
        """Nothing: a cluster is whole before each strike."""

    def begin(self) -> None:
        """Wait until the cluster is whole, and find the primary that it strikes."""
        self._cluster.wait_whole()
        self.struck_node = self._cluster.primary()
        if self.fault.loses_node:
            self._files = StoreFiles(self._handle)
        self.moments.began = monotonic_ns()

    def strike(self, clients: RoundClients) -> None:
        """Strike the primary, and end the clients that follow it."""
        if self._files is not None:  # before the strike, which may remove what a node has
            self._files.look()
            self._reach = self._files.reach()
        if (primary := self._cluster.primary()) != self.struck_node:
            raise Unknown(f"before the fault {primary} took the place of {self.struck_node}, to which half of the clients are tied")
        if self.fault.loses_node:
            self.gone = self.struck_node
        clients.strike_comes()
        self.moments.strike = monotonic_ns()  # that asks nothing more: a busy cluster may take a second to say who is the primary
        self.fault.strike_node(self._cluster, primary)
        self.moments.struck = monotonic_ns()
        clients.struck()

    def recover(self, clients: RoundClients, prepare: Callable[[], None]) -> None:  # noqa: ARG002 - no cluster loses its collections
        """Wait for the failover, all the while under load; end a fault that loses no node, and one that has struck twice."""
        if self.fault.lasts is not None:
            self._outlast(self.fault.lasts, clients)
        else:
            self._fail_over(clients)
            if self.fault.loses_node:
                time.sleep(_SURVIVORS_SECONDS)
                if self.fault.second_lasts is None:
                    return
                self._strike_again(self.fault.second_lasts, clients)
            else:
                time.sleep(_SIDES_SECONDS)
            self._end_fault()
            if self.moments.second is not None:
                self._await_any(clients)
        time.sleep(_DEPOSED_SECONDS)

    def replace_lost(self) -> None:
        """End a fault that lost the node."""
        self.gone = ""
        self.fault.end(self._handle)

    def make_whole(self) -> None:
        """Give the cluster a lost node back, and wait until it is whole."""
        if self.gone:
            self.replace_lost()
        self._cluster.wait_whole()
        self._primary = self._cluster.primary()

    def missed(self, records: int) -> str:  # noqa: ARG002 - a node may keep all in memory, as others do too
        """Why the loss of a node did not take what it had. A fault of the network takes nothing."""
        return self._reach.missed(0) if self._reach is not None else ""

    def broken(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> Exception:
        """A server that ended by itself is a failure. A cluster that gives no answers gives none that could be wrong: the guarantee's own
        case says so, and the round is repeated on a new one."""
        died, running = self.why_broken(reason, ended)
        return Unknown(died.reason) if running else died

    def why_broken(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> tuple[StoreDied, bool]:
        """The failure, and whether all servers run. A cluster whose servers run, and which is not whole, or takes no writes, has broken a
        promise; only a server that ended by itself is a failure without one. No answer says nothing, and neither does a busy machine.

        Raises:
            Unknown, MachineFailed: it says nothing.
        """
        died = reason
        if not isinstance(died, StoreDied):
            died = StoreDied(f"after the fault it does not work: {reason}", self._handle.log_tail())
        if ended is not None or self.how_it_ended() is not None:
            return died, False
        if isinstance(reason, Unknown):
            raise reason
        if busy := machine_is_busy():
            raise MachineFailed(f"{died.reason}, on a busy machine ({busy})")
        return died, True

    def how_it_ended(self) -> StoreDied | None:
        """As of any store, without the node that the fault has killed."""
        try:
            for name in self._cluster.nodes:
                if name != self.gone:
                    self._cluster.node(name).check_alive()
        except StoreDied as ended:
            return ended
        return None

    def note(self, round_: RoundEvidence) -> None:
        """Keep what has happened so far: who was who, and when."""
        seen, moments = round_.cluster or ClusterEvidence(self.fault.name, self.fault.lasts is not None), self.moments
        round_.cluster = seen
        seen.nodes, seen.struck, seen.successor = tuple(self._cluster.nodes), self.struck_node, self._successor
        round_.began = moments.began or round_.began
        seen.strike, round_.struck, round_.load_ended = moments.strike, moments.struck, moments.ended
        seen.failed_over, seen.succession, seen.second, seen.healed = (
            moments.failed_over,
            moments.succession,
            moments.second,
            moments.healed,
        )
        seen.connections, seen.primary, round_.reach = self._connections.all, self._primary, self._reach

    def clean_up(self) -> None:
        """Heal the network."""
        with suppress(MachineFailed):  # it is removed with the store
            self._cluster.network.heal_all()

    def _end_fault(self) -> None:
        self.moments.healed = monotonic_ns()
        self.gone = ""
        self.fault.end(self._handle)

    def _fail_over(self, clients: RoundClients) -> None:
        """Wait until another primary acknowledges a write, or the topology's time is over.

        Raises:
            StoreDied: it is over, and the node is gone: no node serves what it had; or a node that was not struck has ended.
            MachineFailed: the same on a busy machine; or such a node was killed from outside.
        """
        deadline = Deadline(self._cluster.settle_seconds, lambda: None)
        with SuccessionWatch(self._cluster, self.struck_node, self.moments.strike) as watch:
            found = self._await_primary(clients, deadline.has_passed, watch.ask, self._take_over)
        if found is not None:
            self.moments.failed_over, self.moments.succession = found.moment, watch.seen(found.moment)
            return
        if (ended := self.how_it_ended()) is not None:
            raise ended
        if self.fault.loses_node:
            what = f"with {self.struck_node} gone, no other node acknowledged a write within"
            raise timeout_error(deadline, what, self._missing, lambda text: StoreDied(text, self._handle.log_tail()))

    def _outlast(self, seconds: float, clients: RoundClients) -> None:
        """Let a fault last that long and end it; then wait for a primary, which may be the same one.

        No operator promotes a node: that some do not hear each other is no reason to replace a primary that answers.
        """
        time.sleep(seconds)
        self._end_fault()
        found = self._await_any(clients, self._take_over)
        if found is not None and self._successor is not None:
            self.moments.failed_over = found.moment

    def _strike_again(self, seconds: float, clients: RoundClients) -> None:
        """Strike the node that took over, and wait for a third one. That none takes over breaks no promise: two of three were struck within
        a short time, and what they had is back with them."""
        assert self._successor is not None, "else `_fail_over` has raised"
        self.gone = self._successor
        self.fault.strike_again(self._cluster, self.struck_node, self._successor)
        moment, end = monotonic_ns(), monotonic() + seconds
        with suppress(Unknown):  # an operator promotes none while another may have acknowledged more
            self._cluster.fail_over()
        takeover = self._await_primary(clients, lambda: monotonic() > end, partial(self._cluster.successor_of, self._successor))
        self.moments.second = Second(self._successor, moment, takeover)
        if takeover is not None:
            time.sleep(_SURVIVORS_SECONDS)

    def _take_over(self, found: Takeover, clients: RoundClients) -> None:
        self._successor = found.node if found.node != self.struck_node else None
        clients.go_on(found.node)

    def _await_any(self, clients: RoundClients, then: Callable[[Takeover, RoundClients], None] | None = None) -> Takeover | None:
        """Wait for a primary, whichever it is. If there is none, the audit finds that."""
        return self._await_primary(clients, Deadline(self._cluster.settle_seconds, lambda: None).has_passed, self._cluster.primary, then)

    def _await_primary(
        self,
        clients: RoundClients,
        over: Callable[[], bool],
        ask: Callable[[], str],
        then: Callable[[Takeover, RoundClients], None] | None = None,
    ) -> Takeover | None:
        """Wait until a primary acknowledges a write; None if none did before it was over, see `_missing`.

        Args:
            over: whether to give up.
            ask: who the primary is.
            then: has clients go on there; those that began after an earlier failover find the primary themselves.
        """
        self._missing = "the others name no other primary"
        while not over():
            try:
                primary = ask()
                if (moment := self._first_acknowledgement(clients, primary, over)) is not None:
                    found = Takeover(primary, moment)
                    if then is not None:
                        then(found, clients)
                    return found
            except (Unknown, Refused) as reason:
                self._missing = str(reason)
            time.sleep(_LOOK_SECONDS)
        return None

    @staticmethod
    def _first_acknowledgement(clients: RoundClients, node: str, over: Callable[[], bool]) -> int | None:
        """Write at a node until a write is acknowledged; return that moment, or None if it answers otherwise, or not before it is over."""
        client = clients.first(node)
        try:
            while not over() and client.step():
                if client.acknowledged:
                    return monotonic_ns()
        finally:
            client.close()
        return None
