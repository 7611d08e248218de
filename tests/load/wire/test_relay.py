"""The relay between a client and its store: what it keeps, what it hands over, and that nothing is left open."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from storeproof.errors import NotAvailable
from storeproof.load.wire.relay import Relay
from tests.load.wire.listening import Listening


class Echo(Listening):
    """A store that sends back each line in capitals, and remembers all that it heard."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        """One connection, to its end."""
        with contextlib.suppress(OSError), client.makefile("rb") as lines:
            for line in lines:
                self.heard.append(line)
                client.sendall(line.upper())


@pytest.fixture
def store() -> Iterator[Echo]:
    """A store for each test."""
    echo = Echo()
    yield echo
    echo.close()


@pytest.fixture
def relay(store: Echo) -> Iterator[Relay]:
    """A relay to it."""
    made = Relay(store.address)
    yield made
    made.close()


def connected(relay: Relay) -> socket.socket:
    """A client."""
    return socket.create_connection((relay.address.host, relay.address.port), timeout=5)


def asked(client: socket.socket, line: bytes) -> bytes:
    """The answer to one line."""
    client.sendall(line)
    answer = b""
    while not answer.endswith(b"\n"):
        answer += client.recv(1 << 16) or pytest.fail("the connection ended")
    return answer


def test_what_goes_through_is_kept_by_turns(relay: Relay) -> None:
    """Only while it is recorded, and for each connection apart."""
    with connected(relay) as one, connected(relay) as other:
        assert asked(one, b"before\n") == b"BEFORE\n"
        with relay.recording() as tape:
            assert asked(one, b"first\n") == b"FIRST\n"
            assert asked(other, b"between\n") == b"BETWEEN\n"
            assert asked(one, b"second\n") == b"SECOND\n"
        assert asked(one, b"after\n") == b"AFTER\n"
    links = sorted({piece.link for piece in tape.pieces})
    assert len(links) == 2
    said = {tape.turns(link)[0][1]: tape.turns(link) for link in links}
    assert said[b"first\n"] == [("to_store", b"first\n"), ("to_client", b"FIRST\n"), ("to_store", b"second\n"), ("to_client", b"SECOND\n")]
    assert said[b"between\n"] == [("to_store", b"between\n"), ("to_client", b"BETWEEN\n")]


def test_large_messages_pass_while_neither_side_waits(relay: Relay) -> None:
    """Megabytes both ways at once: a relay that sent without looking would wait for itself for ever."""
    line = b"x" * (8 << 20) + b"\n"
    with connected(relay) as client:
        sending = threading.Thread(target=client.sendall, args=(line,))
        sending.start()
        time.sleep(0.2)  # all buffers are full
        got = 0
        while got < len(line):
            got += len(client.recv(1 << 20))
        sending.join(5)
    assert got == len(line)


def test_a_connection_that_was_taken_is_the_takers_alone(relay: Relay, store: Echo) -> None:
    """What the client sends afterwards does not reach the store."""
    client = connected(relay)
    with relay.recording() as tape:
        asked(client, b"hello\n")
    taken = relay.take(tape.pieces[0].link)
    assert client.recv(10) == b"", "the client's side is ended"
    with contextlib.suppress(OSError):
        client.sendall(b"farewell\n")
    client.close()
    relay.close()
    assert asked(taken, b"still here\n") == b"STILL HERE\n"
    assert store.heard == [b"hello\n", b"still here\n"]
    taken.close()


def test_a_connection_that_ended_is_not_handed_over(relay: Relay, store: Echo) -> None:
    """Nor one that has bytes waiting."""
    with connected(relay) as client, relay.recording() as tape:
        asked(client, b"hello\n")
        store.open[0].shutdown(socket.SHUT_RDWR)
        assert client.recv(10) == b""
    with pytest.raises(NotAvailable, match="ended"):
        relay.take(tape.pieces[0].link)


def test_a_farewell_reaches_nobody(relay: Relay, store: Echo) -> None:
    """A client that says good-bye, on its connection or on a new one, finds an end at once, and the store hears nothing."""
    client = connected(relay)
    asked(client, b"hello\n")
    with relay.disconnect_clients():
        began = time.monotonic()
        assert client.recv(10) == b""
        with contextlib.suppress(OSError), connected(relay) as another:
            another.settimeout(2)
            another.sendall(b"good-bye\n")
            assert another.recv(10) == b""
        assert time.monotonic() - began < 1
    with connected(relay) as later:
        assert asked(later, b"again\n") == b"AGAIN\n"
    assert store.heard == [b"hello\n", b"again\n"]


def test_one_thread_for_all_connections(relay: Relay) -> None:
    """Fifty connections take no further thread."""
    before = psutil.Process().num_threads()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(relay)) for _ in range(50)]
        assert [asked(client, b"%d\n" % number) for number, client in enumerate(clients)] == [b"%d\n" % number for number in range(50)]
        assert psutil.Process().num_threads() - before <= 50, "those of the store, and none of the relay"


def test_nothing_is_left_open(store: Echo) -> None:
    """Closing ends the thread and all descriptors, and may be repeated."""
    before, threads = psutil.Process().num_fds(), threading.active_count()
    for _ in range(5):
        relay = Relay(store.address)
        with connected(relay) as client:
            asked(client, b"hello\n")
            relay.close()
            relay.close()
    deadline = time.monotonic() + 5
    while (psutil.Process().num_fds() > before + len(store.open) or threading.active_count() > threads + 5) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert psutil.Process().num_fds() <= before + len(store.open)


def test_a_store_that_does_not_listen(store: Echo) -> None:
    """The client finds its connection ended, and says so itself."""
    store.close()
    relay = Relay(store.address)
    with connected(relay) as client:
        assert client.recv(10) == b""
    relay.close()


def test_an_encrypted_connection_is_refused(store: Echo) -> None:
    """Its bytes could not be written by anyone else."""
    with pytest.raises(NotAvailable, match="encrypted"):
        Relay(replace(store.address, tls=True))
