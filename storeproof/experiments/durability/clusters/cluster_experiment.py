"""What every experiment with faults of a cluster does: it strikes the primary, waits for the failover under load, and ends the fault.

Some clients are *tied* to the primary that the fault strikes, as drivers without discovery are: clients that follow the primary leave it
before it acknowledges what will be rolled back.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, monotonic_ns
from typing import Final

from storeproof.contract import Address, Refused, Session, Unknown
from storeproof.errors import MachineFailed, StoreDied
from storeproof.experiments.client import Client, ClosedLoop
from storeproof.experiments.client_threads import Running
from storeproof.experiments.durability.clusters.connections import Connections
from storeproof.experiments.durability.clusters.round_record import Fates, Moments, Roles, S, record_of
from storeproof.experiments.durability.clusters.takeover import Second, Takeover
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import RunningCluster
from storeproof.launch.readiness import timeout_error
from storeproof.machine.deadline import Deadline
from storeproof.machine.pressure import machine_is_busy
from storeproof.result.measured.cluster_round import ClusterRoundRecord, SetAside

_LOOK_SECONDS: Final = 0.02
_REFUSED_SECONDS: Final = 0.05
_SIDES_SECONDS: Final = 2.0
"""How long both sides of a partition take writes after the failover."""
_DEPOSED_SECONDS: Final = 2.0
"""How long the load goes on after the end of a partition or a pause: a primary that was replaced may not know it yet."""
_SURVIVORS_SECONDS: Final = 0.5
"""How long the load goes on after a failover without the lost node."""


@dataclass(frozen=True)
class ClusterRound:
    """One fault."""

    fault: ClusterFault
    last: bool
    """Its audit reads the keys of all rounds: what survived an earlier fault must survive the later ones too."""


class Persistent(ClosedLoop):
    """A client that connects again after a lost connection, and pauses after a write that was not acknowledged: a node that was replaced
    may refuse thousands in a second."""

    def __init__(self) -> None:
        super().__init__(reconnects=True)

    def replied(self, *, ok: bool) -> None:
        """Pause after anything but an acknowledgement."""
        if not ok:
            time.sleep(_REFUSED_SECONDS)


class ClusterExperiment(FaultExperiment[ClusterRound]):
    """One cluster, its faults in turns."""

    recovers_under_load = True

    def __init__(self, subject: Subject, turns: Sequence[ClusterFault], connect_to: Callable[[Address], Session]) -> None:
        """
        Args:
            turns: the fault of each round.
            connect_to: opens a session with one node, for clients that are tied to it.
        """
        super().__init__(subject)
        assert subject.handle.cluster is not None, "see `Capability.CLUSTER`"
        self._cluster: RunningCluster = subject.handle.cluster
        self._turns = turns
        self._connect_to = connect_to
        self._struck_node = ""
        """The primary that clients of this round are tied to."""
        self._successor: str | None = None
        """The node that took its place in this round."""
        self._moments = Moments()
        """Those of this round."""
        self._connections = Connections()
        """Those of the clients of this round."""
        self._gone = ""
        """The node that is lost now."""
        self._missing = ""
        """Why no node has become the primary yet."""
        self._followers: Running | None = None
        """The clients that follow the primary: they end at the fault, and others go on once there is another one."""

    @abstractmethod
    def done(self) -> int:
        """The number of rounds that need no other: those in the summary."""

    @abstractmethod
    def first_client(self, node: str) -> Client:
        """A client that writes at a node, and shows by an acknowledgement that it is the primary now."""

    @abstractmethod
    def go_on(self, primary: str) -> None:
        """It has acknowledged a write after the fault: clients go on there."""

    def failed_over(self, seconds: float | None) -> None:
        """Note a failover, by the time since the fault; None: no other node became the primary within the topology's time."""
        if seconds is not None:
            self._moments.failed_over = self._moments.struck + round(seconds * 1e9)

    def rounds(self) -> Iterator[ClusterRound]:
        """All turns that are not done."""
        total = len(self._turns)
        while (number := self.done() + 1) <= total:
            fault = self._turns[number - 1]
            self.subject.progress(f"{fault.name} · round {number}/{total}")
            yield ClusterRound(fault, last=number == total)

    def begin(self) -> None:
        """Wait until the cluster is whole, and find the primary that this round strikes."""
        self._cluster.wait_whole()
        self._struck_node = self._cluster.primary()
        self._successor = None
        self._moments, self._connections = Moments(began=monotonic_ns()), Connections()

    def fault(self) -> None:
        """Strike, and end the clients that follow the primary."""
        if (primary := self._cluster.primary()) != self._struck_node:
            raise Unknown(f"before the fault {primary} took the place of {self._struck_node}, to which half of the clients are tied")
        if self.round.fault.loses_node:
            self._gone = self._struck_node
        self._moments.strike = monotonic_ns()  # that asks nothing more: a busy cluster may take a second to say who is the primary
        self.round.fault.strike_node(self._cluster, primary)
        self.struck = self._moments.struck = monotonic_ns()
        if self._followers is not None:
            self._followers.stop.set()

    def recover(self) -> None:
        """Wait for the failover, all the while under load; end a fault that loses no node, and one that has struck twice."""
        fault = self.round.fault
        if fault.lasts is not None:
            self._outlast(fault.lasts)
        else:
            self.failed_over(self._fail_over())
            if fault.loses_node:
                time.sleep(_SURVIVORS_SECONDS)
                if fault.second_lasts is None:
                    return
                self._strike_again(fault.second_lasts)
            else:
                time.sleep(_SIDES_SECONDS)
            self._end_fault()
            if self._moments.second is not None:
                self._await_any()
        time.sleep(_DEPOSED_SECONDS)

    def replace_lost(self) -> None:
        """End a fault that lost the node."""
        self._gone = ""
        self.round.fault.end(self.handle)

    def make_whole(self) -> None:
        """Give the cluster a lost node back, and wait until it is whole."""
        if self._gone:
            self.replace_lost()
        self._cluster.wait_whole()

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """A server that ended by itself is a failure. A cluster that gives no answers gives none that could be wrong: the guarantee's own
        case says so, and the round is repeated on a new one."""
        died, running = self.why_broken(reason, ended)
        raise Unknown(died.reason) if running else died

    def why_broken(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> tuple[StoreDied, bool]:
        """The failure, and whether all servers run. A cluster whose servers run, and which is not whole, or takes no writes, has broken a
        promise; only a server that ended by itself is a failure without one. No answer says nothing, and neither does a busy machine.

        Raises:
            Unknown, MachineFailed: it says nothing.
        """
        died = reason if isinstance(reason, StoreDied) else StoreDied(f"after the fault it does not work: {reason}", self.handle.log_tail())
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
                if name != self._gone:
                    self._cluster.node(name).check_alive()
        except StoreDied as ended:
            return ended
        return None

    def finish(self) -> None:
        """End what a round that failed has left of its fault."""
        with suppress(MachineFailed):  # the network is removed with the store
            self._cluster.network.heal_all()

    def at(self, node: str) -> Callable[[], Session]:
        """What opens a session with that node, also when it is the primary no more."""
        address = self._cluster.node(node).address
        return lambda: self._connect_to(address)

    def connecting(self, client: int, choose: Callable[[], str]) -> Callable[[], Session]:
        """What opens a session of a client with the node that is chosen then, and notes it."""

        def connect() -> Session:
            node = choose()
            session = self.at(node)()
            self._connections.opened(client, monotonic_ns(), node)
            return session

        return connect

    def recorded(
        self, sent: Iterable[S], fates: Fates[S], *, set_aside: Sequence[SetAside] = (), wrong: Sequence[str] = ()
    ) -> ClusterRoundRecord:
        """The record of this round, whose load has ended: see `record_of`."""
        roles = Roles(self._cluster.nodes, self._struck_node, self._successor, self._cluster.primary())
        node_of = self._connections.node_of
        return record_of(self.round.fault.name, roles, self._moments, sent, fates, node_of=node_of, set_aside=set_aside, wrong=wrong)

    def _end_fault(self) -> None:
        self._moments.healed = monotonic_ns()
        self._gone = ""
        self.round.fault.end(self.handle)

    def _fail_over(self) -> float | None:
        """Wait until another primary acknowledges a write; return the seconds since the fault, or None if the topology's time is over.

        Raises:
            StoreDied: it is over, and the node is gone: no node serves what it had; or a node that was not struck has ended.
            MachineFailed: the same on a busy machine; or such a node was killed from outside.
        """
        deadline = Deadline(self._cluster.settle_seconds, lambda: None)
        self._cluster.fail_over()
        found = self._await_primary(deadline.has_passed, self._struck_node, self._take_over)
        if found is not None:
            return self._since(found)
        if (ended := self.how_it_ended()) is not None:
            raise ended
        if self.round.fault.loses_node:
            what = f"with {self._struck_node} gone, no other node acknowledged a write within"
            raise timeout_error(deadline, what, self._missing, lambda text: StoreDied(text, self.handle.log_tail()))
        return None

    def _outlast(self, seconds: float) -> None:
        """Let a fault last that long and end it; then wait for a primary, which may be the same one.

        No operator promotes a node: that some do not hear each other is no reason to replace a primary that answers.
        """
        time.sleep(seconds)
        self._end_fault()
        found = self._await_any(self._take_over)
        if found is not None and self._successor is not None:
            self.failed_over(self._since(found))

    def _strike_again(self, seconds: float) -> None:
        """Strike the node that took over, and wait for a third one. That none takes over breaks no promise: two of three were struck within
        a short time, and what they had is back with them."""
        assert self._successor is not None, "else `_fail_over` has raised"
        self._gone = self._successor
        self.round.fault.strike_again(self._cluster, self._struck_node, self._successor)
        moment, end = monotonic_ns(), monotonic() + seconds
        with suppress(Unknown):  # an operator promotes none while another may have acknowledged more
            self._cluster.fail_over()
        takeover = self._await_primary(lambda: monotonic() > end, self._successor)
        self._moments.second = Second(self._successor, moment, takeover)
        if takeover is not None:
            time.sleep(_SURVIVORS_SECONDS)

    def _take_over(self, found: Takeover) -> None:
        self._successor = found.node if found.node != self._struck_node else None
        self.go_on(found.node)

    def _since(self, found: Takeover) -> float:
        """Seconds since the fault."""
        return (found.moment - self.struck) / 1e9

    def _await_any(self, then: Callable[[Takeover], None] | None = None) -> Takeover | None:
        """Wait for a primary, whichever it is. If there is none, the audit finds that."""
        return self._await_primary(Deadline(self._cluster.settle_seconds, lambda: None).has_passed, None, then)

    def _await_primary(
        self, over: Callable[[], bool], other_than: str | None, then: Callable[[Takeover], None] | None = None
    ) -> Takeover | None:
        """Wait until a primary acknowledges a write; None if none did before it was over, see `_missing`.

        Args:
            over: whether to give up.
            other_than: not this node.
            then: has clients go on there; those that began after an earlier failover find the primary themselves.
        """
        self._missing = "the others name no other primary"
        while not over():
            try:
                primary = self._cluster.primary()
                if primary != other_than and (moment := self._first_acknowledgement(primary, over)) is not None:
                    found = Takeover(primary, moment)
                    if then is not None:
                        then(found)
                    return found
            except (Unknown, Refused) as reason:
                self._missing = str(reason)
            time.sleep(_LOOK_SECONDS)
        return None

    def _first_acknowledgement(self, node: str, over: Callable[[], bool]) -> int | None:
        """Write at a node until a write is acknowledged; return that moment, or None if it answers otherwise, or not before it is over."""
        client = self.first_client(node)
        try:
            while not over() and client.step():
                if client.acknowledged:
                    return monotonic_ns()
        finally:
            client.close()
        return None
