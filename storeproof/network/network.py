"""The network of a cluster: a namespace for each node, joined by a switch in a namespace of its own.

A bridge in this machine's own namespace would be filtered by the machine's own rules (Docker's drop what is forwarded). So the only part
outside the namespaces is one interface with a route to the nodes, through which clients reach them. It is the far end of a cable to the
switch, and gone with it. Beneath that route lies one that says `unreachable`: without the interface packets would take the default route,
and what a stranger answered would be taken for the store's answer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import Final

from storeproof.errors import MachineFailed, NotAvailable
from storeproof.network.delay import Delay
from storeproof.network.namespaces import NetworkMark, entered, find_marks
from storeproof.network.packet_queue import PacketQueue
from storeproof.network.programs import Command, run, unavailable
from storeproof.network.subnet import free_subnet
from storeproof.network.traffic import arrival_rules, slow_commands

SWITCH: Final = ".switch"
"""Not a name that a node can have."""
_DEVICE: Final = "eth0"
"""The interface of a node."""
_TRIED_KBIT: Final = 1000
_TRIED_SHARE: Final = 0.5


class Network:
    """The network of one cluster. Its methods raise `MachineFailed` if a program that changes it fails."""

    def __init__(self, nodes: Sequence[str]) -> None:
        """Nothing is made yet; `close` removes what `make` has made, however far it came.
        Raises `NotAvailable`: programs or rights are missing."""
        if (missing := unavailable()) is not None:
            raise missing
        self.nodes = tuple(nodes)
        self.mark = NetworkMark.make()
        subnet = free_subnet()
        host, *addresses = [str(each) for each in subnet.hosts()]
        self.host = host
        """The address of this machine in it."""
        self._subnet = subnet
        self.addresses = dict(zip(self.nodes, addresses, strict=False))
        """By node."""
        self._ports = {node: f"v{number}" for number, node in enumerate(self.nodes, 1)}
        """The ports of the switch: names of interfaces are at most 15 characters long, and those of nodes need not be."""
        self._deaf: dict[str, set[str]] = {node: set() for node in self.nodes}
        """By node: those that it does not hear."""
        self._lost = 0.0
        """The share of packets between nodes that is dropped."""
        self._delay: Delay | None = None
        self._slow: set[str] = set()
        self._unplugged: set[str] = set()

    def namespace(self, node: str) -> str:
        """The name of a node's namespace."""
        return self.mark.namespace(node)

    def make(self, held: Mapping[str, int] | None = None) -> None:
        """Make it. What faults need is tried at once: a kernel without it must not be noticed in the middle of a round.

        Args:
            held: by node, a process whose namespace is that of the node: it gets a name. Other nodes get a new one.

        Raises:
            NotAvailable: this machine cannot.
        """
        try:
            self._make(held or {})
        except MachineFailed as failure:
            raise NotAvailable(f"a cluster needs a network of its own, which this machine cannot make: {failure}") from None

    def isolate(self, node: str) -> None:
        """The node and all others do not hear each other. Clients hear all of them."""
        for peer in self._peers(node):
            self._deaf[node].add(peer)
            self._deaf[peer].add(node)
        self._apply()

    def deafen(self, node: str) -> None:
        """The node does not hear the others, and they hear it. Clients hear all, and all hear them."""
        self._deaf[node].update(self._peers(node))
        self._apply()

    def split(self) -> None:
        """No node hears another. Clients hear all of them."""
        for node in self.nodes:
            self._deaf[node].update(self._peers(node))
        self._apply()

    def lose(self, share: float) -> None:
        """Lose this share of the packets from each node to each other, at random; clients lose none."""
        self._lost = share
        self._apply()

    def delay(self, seconds: float) -> None:
        """Each packet from each node to each other is held for that long where it arrives, and none overtakes another; those of clients are
        not."""
        if self._delay is not None:
            raise RuntimeError("packets are held already")
        self._delay = Delay(seconds, [self.namespace(node) for node in self.nodes])
        self._apply()

    def slow(self, node: str, kbits: Mapping[str, int]) -> None:
        """What the node sends to each of these takes as long as on a line of this many kilobits per second; clients notice nothing."""
        if node in self._slow:
            run(self._unslow(node))
        self._slow.add(node)
        run(
            Command(
                ("tc", "-n", self.namespace(node), "-batch", "-"),
                slow_commands(_DEVICE, {self.addresses[peer]: kbit for peer, kbit in kbits.items()}),
            )
        )

    def unplug(self, node: str) -> None:
        """The node reaches no one, and no one reaches it, clients neither. No connection is closed."""
        self._unplugged.add(node)
        run(self._link(node, "down"))

    def heal_all(self) -> None:
        """End all faults of the network, and wait until nodes that were unplugged reach the others and are reached."""
        back = sorted(self._unplugged)
        if back:
            run(*(self._link(node, "up") for node in back))
            self._unplugged.clear()
        if self._lost or self._delay is not None or any(self._deaf.values()):
            self._lost = 0.0
            for peers in self._deaf.values():
                peers.clear()
            self._hear_again()
        if self._slow:
            run(*map(self._unslow, sorted(self._slow)))
            self._slow.clear()
        for node in back:
            await_reached(None, self.addresses[node])
            for peer in self._peers(node):
                await_reached(self.namespace(node), self.addresses[peer])
                await_reached(self.namespace(peer), self.addresses[node])

    def close(self) -> None:
        """Remove it; never raises, and may be called twice. Call it after the processes in it have ended: one that goes on keeps its
        namespace alive, without a name."""
        if self._delay is not None:
            self._delay.close()
            self._delay = None
        remove(self.mark, [self.namespace(part) for part in (*self.nodes, SWITCH)])

    def _make(self, held: Mapping[str, int]) -> None:
        switch, cable = self.namespace(SWITCH), self.mark.interface
        run(Command(("ip", "netns", "add", switch)))  # alone: the first one of a machine also prepares the directory of the names
        names = {node: self.namespace(node) for node in self.nodes}
        run(*(Command(("ip", "netns", "add", name)) for node, name in names.items() if node not in held))
        run(*(Command(("ip", "netns", "attach", names[node], str(pid))) for node, pid in held.items()))
        way = f"link add {cable} type veth peer name host netns {switch}"
        # First: it is in no one's way, and there is no moment without it.
        nothing = f"route add unreachable {self._subnet} metric {self.mark.metric}"
        run(_batch(None, nothing, way, f"addr add {self.host}/{self._subnet.prefixlen} dev {cable}", f"link set {cable} up"))
        wires = [f"link add {port} type veth peer name {_DEVICE} netns {self.namespace(node)}" for node, port in self._ports.items()]
        ends = [line for port in ("host", *self._ports.values()) for line in (f"link set {port} master bridge", f"link set {port} up")]
        run(_batch(switch, "link add bridge type bridge", "link set bridge up", *wires, *ends))
        run(
            *(
                _batch(
                    self.namespace(node),
                    f"addr add {address}/{self._subnet.prefixlen} dev {_DEVICE}",
                    f"link set {_DEVICE} up",
                    "link set lo up",
                )
                for node, address in self.addresses.items()
            )
        )
        self._try_queues()
        self.lose(_TRIED_SHARE)
        self.slow(self.nodes[0], dict.fromkeys(self._peers(self.nodes[0]), _TRIED_KBIT))
        self.heal_all()

    def _peers(self, node: str) -> list[str]:
        return [each for each in self.nodes if each != node]

    def _hear_again(self) -> None:
        """Remove the rules of all nodes. What was held goes on before what comes then."""
        delay = self._delay
        if delay is None:
            self._apply()
            return
        try:
            delay.release()
        finally:
            self._delay = None
            self._apply()
            delay.close()

    def _try_queues(self) -> None:
        """That this kernel has them, and rules for them."""
        for node in self.nodes:
            PacketQueue(self.namespace(node)).close()
        self._apply(held=True)

    def _apply(self, *, held: bool = False) -> None:
        """Replace the rules of all nodes. `held`: also without a process that holds packets."""
        held = held or self._delay is not None
        run(
            *(
                Command(
                    ("iptables-restore", "-w"),
                    arrival_rules({self.addresses[peer]: self._dropped(node, peer) for peer in self._peers(node)}, held=held),
                    self.namespace(node),
                )
                for node in self.nodes
            )
        )

    def _dropped(self, node: str, peer: str) -> float:
        """The share of what a node is sent by another that is dropped."""
        return 1.0 if peer in self._deaf[node] else self._lost

    def _unslow(self, node: str) -> Command:
        return Command(("tc", "-n", self.namespace(node), "qdisc", "del", "dev", _DEVICE, "root"))

    def _link(self, node: str, state: str) -> Command:
        return Command(("ip", "-n", self.namespace(SWITCH), "link", "set", self._ports[node], state))


def remove(mark: NetworkMark, namespaces: Sequence[str]) -> None:
    """Remove a network, as far as it exists; never raises."""
    with contextlib.suppress(MachineFailed):
        run(Command(("ip", "link", "del", mark.interface)), missing_ok=True)
        run(Command(("ip", "-4", "route", "flush", "type", "unreachable", "metric", str(mark.metric))), missing_ok=True)
    with contextlib.suppress(MachineFailed):
        run(*(Command(("ip", "netns", "del", name)) for name in namespaces), missing_ok=True)


def _batch(namespace: str | None, *lines: str) -> Command:
    where = ("-n", namespace) if namespace is not None else ()
    return Command(("ip", *where, "-batch", "-"), "\n".join(lines) + "\n")


def sweep_networks() -> list[str]:
    """Remove the networks whose owner has certainly ended; return a line for each. Call it after the servers in them have ended."""
    if os.geteuid() != 0:  # they are root's
        return []
    done = []
    for mark, namespaces in find_marks().items():
        if mark.owner.dead():
            remove(mark, namespaces)
            done.append(f"removed the network {mark.interface}, left by a killed run")
    return done


_PORT: Final = 1
"""tcpmux (RFC 1078), which nothing offers: that it is refused is the answer."""
_SECONDS: Final = 60.0
_TRY_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.01
"""Between two attempts: without a route each fails at once."""


def await_reached(namespace: str | None, address: str) -> None:
    """Until an address answers a connection attempt from a namespace, or from this process's own.

    For up to a second after a link came up the kernel's switch passes nothing on, and who asked for a neighbour's address before that is
    told "No route to host" after it: a server that is healed would fail for the network's sake.

    Raises:
        MachineFailed: it did not within 60 s.
    """
    end = monotonic() + _SECONDS
    while (reason := _tried(namespace, address)) not in (0, errno.ECONNREFUSED):
        if monotonic() > end:
            name = errno.errorcode.get(reason, reason)
            raise MachineFailed(f"the network was healed, and {address} is not reached within {_SECONDS:g} s: {name}")
        sleep(_PAUSE_SECONDS)


def _tried(namespace: str | None, address: str) -> int:
    """The error number of an attempt."""
    with entered(namespace):
        attempt = socket.socket()
    with attempt:
        attempt.settimeout(_TRY_SECONDS)
        return attempt.connect_ex((address, _PORT))
