"""Packets between nodes that are held back: for how long, in which order, whose, and that nothing is slower before and after."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from storeproof.errors import MachineFailed
from storeproof.network.network import Network, sweep_networks
from storeproof.network.packet_queue import PacketQueue
from tests.launch.small import eventually
from tests.network.network_rights import needs_networks
from tests.network.test_network import NODES, PATIENCE, PORT, Ears, ears, network, whole

__all__ = ["ears", "network", "whole"]

HELD = 0.4
"""Seconds: more than a busy machine takes for a datagram that is not held."""


def relays(network: Network) -> list[psutil.Process]:
    """The processes that hold packets of this network back."""
    found = []
    for each in psutil.process_iter(["cmdline"]):
        words = each.info["cmdline"] or []
        if "storeproof.network.delay_child" in words and network.namespace("a") in words:
            found.append(each)
    return found


def seconds_until_heard(ears: Ears, speaker: str, listener: str, said: bytes = b"x") -> float:
    """How long a datagram is on its way."""
    sent = time.monotonic()
    ears.sockets[speaker].sendto(said, (ears.addresses[listener], PORT))
    assert select.select([ears.sockets[listener]], [], [], PATIENCE)[0]
    took = time.monotonic() - sent
    assert ears.heard(listener) == [said]
    return took


@pytest.fixture
def delayed(network: Network, whole: None) -> Iterator[Network]:
    network.delay(HELD)
    yield network
    network.heal_all()


def test_packets_between_nodes_are_held_and_those_of_clients_are_not(delayed: Network, ears: Ears) -> None:
    """In each direction; until all is healed. Then no process is left that holds any."""
    for pair in ("ab", "ba", "ca"):
        assert HELD <= seconds_until_heard(ears, *pair) < HELD + PATIENCE
    for speaker, listener in (("host", "a"), ("a", "host")):
        assert min(seconds_until_heard(ears, speaker, listener) for _ in range(5)) < HELD / 2
    assert len(relays(delayed)) == 1
    delayed.heal_all()
    assert min(seconds_until_heard(ears, "a", "b") for _ in range(5)) < HELD / 2
    assert not relays(delayed)


def test_none_overtakes_another_also_when_it_ends(delayed: Network, ears: Ears) -> None:
    """What is held goes on as soon as all is healed, before what comes after it."""
    texts = [b"%d" % number for number in range(60)]
    for each in texts[:50]:
        ears.sockets["a"].sendto(each, (ears.addresses["b"], PORT))
    before = ears.heard("b")
    delayed.heal_all()
    for each in texts[50:]:
        ears.sockets["a"].sendto(each, (ears.addresses["b"], PORT))
    found = list(before)

    def complete() -> bool:
        found.extend(ears.heard("b"))
        return len(found) >= len(texts)

    assert eventually(complete, PATIENCE)
    assert found == texts
    assert not before, "they were held"


def test_a_deaf_node_hears_nothing_late_either(delayed: Network, ears: Ears) -> None:
    """And is heard late."""
    delayed.deafen("a")
    assert seconds_until_heard(ears, "a", "b") >= HELD
    ears.sockets["b"].sendto(b"x", (ears.addresses["a"], PORT))
    assert select.select([ears.sockets["a"]], [], [], 2 * HELD)[0] == []


def test_if_the_process_is_killed_packets_pass_and_it_is_told(delayed: Network, ears: Ears) -> None:
    """The fault was not what it should have been: the round says nothing. All is healed nevertheless."""
    (relay,) = relays(delayed)
    relay.kill()
    os.waitid(os.P_PID, relay.pid, os.WEXITED | os.WNOWAIT)  # a dying process loses its arguments before its sockets
    assert min(seconds_until_heard(ears, "a", "b") for _ in range(5)) < HELD / 2
    with pytest.raises(MachineFailed, match="the process that holds packets back ended: it was killed"):
        delayed.heal_all()
    assert ears.become()
    delayed.delay(HELD)
    assert seconds_until_heard(ears, "a", "b") >= HELD


@pytest.mark.usefixtures("whole")
def test_where_a_queue_is_taken_none_is_held(network: Network, ears: Ears) -> None:
    """Two processes cannot have the same one. Nothing is changed."""
    queue = PacketQueue(network.namespace("b"))
    try:
        with pytest.raises(MachineFailed, match=r"the process that holds packets back failed: .*Operation not permitted"):
            network.delay(HELD)
    finally:
        queue.close()
    assert not relays(network)
    assert min(seconds_until_heard(ears, "a", "b") for _ in range(5)) < HELD / 2


KILLED = """
import os, signal, sys
from storeproof.network.network import Network
made = Network(["a", "b"])
made.make()
made.delay(0.1)
print(made.mark.owner.pid, made.namespace("a"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@needs_networks
@pytest.mark.serial  # any other run on this machine would remove the network as well
def test_it_ends_with_a_run_that_is_killed() -> None:
    """Nothing of it keeps the namespaces alive, which the next run removes."""
    said = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False).stdout
    namespace = said.split()[1]
    assert eventually(lambda: not any(namespace in (each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])), PATIENCE)
    assert len(sweep_networks()) >= 1


@needs_networks
def test_a_network_that_is_closed_ends_it() -> None:
    """As at the end of a round that failed."""
    made = Network(NODES)
    try:
        made.make()
        made.delay(HELD)
        assert len(relays(made)) == 1
    finally:
        made.close()
    assert not relays(made)
