"""Networks of namespaces: who hears whom, and that nothing of them is left."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from storeproof.errors import MachineFailed, NotAvailable
from storeproof.network import programs
from storeproof.network.namespaces import NAMED, NetworkMark, entered, find_marks
from storeproof.network.network import SWITCH, Network, remove, sweep_networks
from storeproof.network.programs import Command, run
from storeproof.network.traffic import arrival_rules, slow_commands
from tests.launch.small import eventually
from tests.network.network_rights import needs_networks

NODES = ("a", "b", "c")
PORT = 4000
SILENCE = 0.05
"""Seconds after which a datagram is not waited for; one that is not dropped arrives within microseconds, or at the next attempt."""
PATIENCE = 10.0


class Ears:
    """A socket in each node, and one on this machine's side."""

    def __init__(self, network: Network) -> None:
        self.addresses = {**network.addresses, "host": network.host}
        self.sockets: dict[str, socket.socket] = {}
        for node in network.addresses:
            with entered(network.namespace(node)):
                self.sockets[node] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sockets["host"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for name, each in self.sockets.items():
            each.bind((self.addresses[name], PORT))
            each.setblocking(False)

    def heard(self, listener: str) -> list[bytes]:
        """The datagrams that have arrived since the last call."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.sockets[listener].recv(2000))
        return found

    def deaf(self) -> set[str]:
        """Who does not hear whom, as `ab` for a, which does not hear b."""
        for name in self.sockets:
            self.heard(name)  # earlier ones
        for speaker, each in self.sockets.items():
            for listener, address in self.addresses.items():
                if listener != speaker:
                    each.sendto(speaker.encode(), (address, PORT))
        time.sleep(SILENCE)
        pairs = {f"{one[0]}{other[0]}" for one in self.sockets for other in self.sockets if one != other}
        return pairs - {f"{listener[0]}{chr(each[0])}" for listener in self.sockets for each in self.heard(listener)}

    def become(self, *pairs: str) -> bool:
        """Whether just these are deaf, soon: the first datagram to an address waits until it is resolved. What is dropped never comes."""
        return eventually(lambda: self.deaf() == set(pairs), PATIENCE)

    def close(self) -> None:
        for each in self.sockets.values():
            each.close()


@pytest.fixture(scope="module")
def network(networks: None) -> Iterator[Network]:
    made = Network(NODES)
    try:
        made.make()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def ears(network: Network) -> Iterator[Ears]:
    made = Ears(network)
    yield made
    made.close()


@pytest.fixture
def whole(network: Network, ears: Ears) -> Iterator[None]:
    """Before and after a test all hear all."""
    assert ears.become()
    yield
    network.heal_all()


def interfaces() -> set[str]:
    """The names of this machine's interfaces."""
    return set(psutil.net_if_addrs())


def routes(mark: NetworkMark) -> list[str]:
    """The routes of a network that no interface has."""
    shown = subprocess.run(["ip", "-4", "route", "show", "type", "unreachable"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if f"metric {mark.metric}" in line]


@pytest.mark.usefixtures("whole")
def test_an_isolated_node_and_its_peers_do_not_hear_each_other_and_clients_reach_all(network: Network, ears: Ears) -> None:
    """Until all is healed."""
    network.isolate("a")
    assert ears.become("ab", "ac", "ba", "ca")
    network.heal_all()
    assert ears.become()


@pytest.mark.usefixtures("whole")
def test_a_deaf_node_is_heard_by_all_and_hears_clients_alone(network: Network, ears: Ears) -> None:
    """The network fails in one direction, and in both for a node that is isolated too; until all is healed."""
    network.deafen("a")
    assert ears.become("ab", "ac")
    network.isolate("b")
    assert ears.become("ab", "ac", "ba", "bc", "cb")
    network.heal_all()
    assert ears.become()


@pytest.mark.usefixtures("whole")
def test_in_a_split_no_node_hears_another_and_clients_reach_all(network: Network, ears: Ears) -> None:
    """Until all is healed."""
    network.split()
    assert ears.become("ab", "ac", "ba", "bc", "ca", "cb")
    network.heal_all()
    assert ears.become()


@pytest.mark.usefixtures("whole")
def test_lossy_links_lose_a_share_of_what_nodes_send_each_other_and_nothing_of_clients(network: Network, ears: Ears) -> None:
    """In both directions, and of each link by itself; until all is healed. A deaf node goes on hearing nothing."""
    number, at_once = 400, 100  # more at once do not fit into the buffer of a socket

    def heard(speaker: str, listener: str) -> int:
        found = 0
        for _ in range(number // at_once):
            for _ in range(at_once):
                ears.sockets[speaker].sendto(b"x", (ears.addresses[listener], PORT))
            time.sleep(SILENCE)
            found += len(ears.heard(listener))
        return found

    links = ("ab", "ba", "bc", "ca")
    network.lose(0.75)
    # By chance a quarter of 400 is not within 50 and 150 once in 40 million.
    assert all(50 < heard(*link) < 150 for link in links)
    assert heard("host", "a") == heard("a", "host") == number
    network.deafen("a")
    assert heard("b", "a") == 0
    assert 50 < heard("a", "b") < 150
    network.heal_all()
    assert [heard(*link) for link in links] == [number] * len(links)


@pytest.mark.usefixtures("whole")
def test_an_unplugged_node_is_silent_to_clients_too(network: Network, ears: Ears) -> None:
    """Until all is healed; its address and its routes stay. As soon as it is healed, it has found the others, and they have found it."""
    network.unplug("b")
    assert ears.become("ba", "bc", "bh", "ab", "cb", "hb")
    for name in network.nodes:  # so that each has to ask again
        run(Command(("ip", "neigh", "flush", "all"), namespace=network.namespace(name)))
    network.heal_all()
    for name, others in {"a": "b", "b": "ac", "c": "b"}.items():
        shown = subprocess.run(["ip", "-n", network.namespace(name), "neigh"], capture_output=True, text=True, check=True).stdout
        found = {line.split()[0] for line in shown.splitlines() if "lladdr" in line}
        assert found >= {network.addresses[each] for each in others}, shown
    assert ears.become()


@pytest.mark.usefixtures("whole")
def test_a_slow_node_lags_behind_for_its_peers_alone(network: Network, ears: Ears) -> None:
    """When all of its packets have reached a client, most of those to a peer still wait; once it is healed, none waits."""
    network.slow("a", {"b": 64, "c": 64})
    network.slow("a", {"b": 16})
    number, size = 60, 1200
    for _ in range(number):
        for listener in ("b", "host"):
            ears.sockets["a"].sendto(b"x" * size, (ears.addresses[listener], PORT))
    missing = number
    while missing:
        select.select([ears.sockets["host"]], [], [], PATIENCE)
        arrived = len(ears.heard("host"))
        assert arrived
        missing -= arrived
    assert len(ears.heard("b")) < number / 2, "36 s at 16 kilobits per second"
    network.heal_all()
    assert ears.become()


@needs_networks
def test_without_its_interface_nothing_is_reached() -> None:
    """Packets do not take the default route, where a stranger might answer."""
    made = Network(NODES)
    try:
        made.make()
        with entered(made.namespace("a")):
            server = socket.create_server((made.addresses["a"], PORT))
        with server, socket.create_connection((made.addresses["a"], PORT), PATIENCE):
            pass  # it is reached
        programs.run(programs.Command(("ip", "link", "del", made.mark.interface)))
        with pytest.raises(OSError, match=os.strerror(errno.EHOSTUNREACH)):
            socket.create_connection((made.addresses["a"], PORT), PATIENCE)
    finally:
        made.close()


@needs_networks
def test_it_leaves_nothing(network: Network) -> None:
    """Neither namespaces nor the interface nor routes; also if it is closed twice, or before it was made. Others are not in its way."""
    made = Network(NODES)
    assert not set(made.addresses.values()) & set(network.addresses.values())
    made.close()
    made.make()
    names = [made.namespace(part) for part in (*NODES, SWITCH)]
    assert find_marks()[made.mark] == sorted(names)
    assert made.mark.interface in interfaces()
    assert routes(made.mark)
    made.close()
    made.close()
    assert made.mark.interface not in interfaces()
    assert not routes(made.mark)
    assert made.mark not in find_marks()


@needs_networks
@pytest.mark.serial  # any other run on this machine would remove it as well, while it is being made
def test_the_next_run_removes_what_a_dead_one_left_and_nothing_of_a_live_one(network: Network) -> None:
    """The names say whose it was; a process with the same number may have begun since."""
    left = Network(NODES)
    left.mark = replace(left.mark, owner=replace(left.mark.owner, start=1))
    try:
        left.make()
        assert len(find_marks()[left.mark]) == 4
        assert f"removed the network {left.mark.interface}, left by a killed run" in sweep_networks()
        assert left.mark.interface not in interfaces()
        assert left.mark not in find_marks()
    finally:
        left.close()
    assert len(find_marks()[network.mark]) == 4


@needs_networks
def test_what_was_half_made_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot make all of it is not available, with the message of the program."""
    made = Network(NODES)
    monkeypatch.setattr("storeproof.network.network._DEVICE", "a/b")  # no name of an interface
    try:
        with pytest.raises(NotAvailable, match=r"a network of its own, which this machine cannot make: .*ip -n"):
            made.make()
        assert made.mark in find_marks()
    finally:
        made.close()
    assert made.mark.interface not in interfaces()
    assert made.mark not in find_marks()


@needs_networks
def test_a_thread_is_where_it_was_after_a_block_in_a_namespace(network: Network) -> None:
    """Also after an error; and there is no block in a namespace that is gone."""
    before = os.readlink("/proc/thread-self/ns/net")  # noqa: PTH115 - no file has this path
    with pytest.raises(ValueError, match="mine"), entered(network.namespace("a")):
        assert os.readlink("/proc/thread-self/ns/net") != before  # noqa: PTH115 - as above
        raise ValueError("mine")
    assert os.readlink("/proc/thread-self/ns/net") == before  # noqa: PTH115 - as above
    with pytest.raises(MachineFailed, match="is gone"), entered(NetworkMark.make().namespace("a")):
        pass


def test_without_the_programs_or_the_rights_it_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is missing, and what provides it."""
    monkeypatch.setattr(programs, "find", lambda name: None if name == "tc" else f"/sbin/{name}")
    with pytest.raises(NotAvailable, match=r"needs the programs tc for its network.*apt-get install iproute2 iptables"):
        Network(NODES)
    monkeypatch.setattr(programs, "find", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(programs, "_effective", lambda: 1 << 21)
    with pytest.raises(NotAvailable, match="may not make them: it lacks CAP_NET_ADMIN; run it as root"):
        Network(NODES)


def test_names_say_whose_they_are() -> None:
    """The owner in them is the process that made them, and names of others are not read."""
    mark = NetworkMark.make()
    assert not mark.owner.dead()
    name = mark.namespace("n1")
    assert len(name) < 100
    assert len(mark.interface) <= 15
    assert replace(mark, owner=replace(mark.owner, start=1)).owner.dead()


def test_names_of_others_are_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace that was not named by storeproof is not found; the parts of one network are found together."""
    monkeypatch.setattr("storeproof.network.namespaces.NAMED", tmp_path)
    mark = NetworkMark.make()
    for name in ("cni-1234", "storeproof-1", mark.namespace("n1"), mark.namespace(SWITCH)):
        (tmp_path / name).touch()
    assert find_marks() == {mark: sorted([mark.namespace("n1"), mark.namespace(SWITCH)])}
    monkeypatch.setattr("storeproof.network.namespaces.NAMED", tmp_path / "none")
    assert find_marks() == {}
    assert Path("/run/netns") == NAMED


def test_removing_what_is_not_there_is_silent() -> None:
    """As in a sweep that comes second."""
    if programs.unavailable() is None:
        mark = NetworkMark.make()
        remove(mark, [mark.namespace("n1")])


def test_the_rules_name_the_addresses() -> None:
    """What arrives from these is dropped; what is sent to these waits, and nothing else does."""
    rules = arrival_rules({"198.18.0.2": 1.0, "198.18.0.3": 0.25, "198.18.0.4": 0.0})
    some = "-m statistic --mode random --probability 0.25 -j DROP"
    assert f"-A INPUT -s 198.18.0.2/32 -j DROP\n-A INPUT -s 198.18.0.3/32 {some}\nCOMMIT" in rules
    assert "-A" not in arrival_rules({"198.18.0.2": 0.0})
    held = "-j NFQUEUE --queue-num 1 --queue-bypass"
    late = arrival_rules({"198.18.0.2": 1.0, "198.18.0.3": 0.0}, held=True)
    assert f"-s 198.18.0.2/32 -j DROP\n-A INPUT -s 198.18.0.2/32 {held}\n-A INPUT -s 198.18.0.3/32 {held}\nCOMMIT" in late
    lines = slow_commands("eth0", {"198.18.0.2": 128, "198.18.0.3": 16}).splitlines()
    assert [line for line in lines if "filter" in line] == [
        f"filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 198.18.0.{number + 1}/32 flowid 1:{number}" for number in (1, 2)
    ]
    for number, kbit in ((1, 128), (2, 16)):
        assert any(f"classid 1:{number} htb rate {kbit}kbit ceil {kbit}kbit" in line for line in lines)
