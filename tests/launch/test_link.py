"""The link to a server: it relays, it breaks, it hangs, and what hangs is delivered late."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from storeproof.contract import Address, Unknown
from storeproof.launch.link import NetworkLink
from tests.launch.small import eventually


class Server:
    """Answers each line with the number of lines so far, until its clients are gone."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address("127.0.0.1", self._listener.getsockname()[1], password="secret")
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        try:
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        except OSError:  # closed
            return

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                for line in lines:
                    self.lines.append(line)
                    connection.sendall(b"%d\n" % len(self.lines))
            except OSError:  # reset
                return

    def close(self) -> None:
        with suppress(OSError):  # closed already
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server()) as made:
        yield made


@pytest.fixture
def link(server: Server) -> Iterator[NetworkLink]:
    with closing(NetworkLink(server.address)) as made:
        yield made


def connect(link: NetworkLink) -> socket.socket:
    """A client."""
    return socket.create_connection((link.address.host, link.address.port), timeout=20)


def hangs(client: socket.socket) -> bool:
    """Whether no answer comes."""
    client.settimeout(0.1)
    try:
        return client.recv(10) == b"never"
    except TimeoutError:
        return True


def test_a_whole_link_relays_in_both_directions(server: Server) -> None:
    """Several clients, large requests too; the address keeps the credentials; nothing listens afterwards."""
    with closing(NetworkLink(server.address)) as link:
        assert link.address.password == "secret"
        with connect(link) as one, connect(link) as other:
            one.sendall(b"a\n")
            assert one.recv(10) == b"1\n"
            other.sendall(b"b" * 1_000_000 + b"\n")
            assert other.recv(10) == b"2\n"
    assert [len(line) for line in server.lines] == [2, 1_000_001]
    with pytest.raises(OSError, match="refused"):
        connect(link)


def test_a_reset_breaks_connections_and_new_ones_until_it_is_restored(server: Server, link: NetworkLink) -> None:
    """The client that waits gets an error at once, and no end of a stream that it could take for a clean one."""
    with connect(link) as client:
        client.sendall(b"a\n")
        assert client.recv(10) == b"1\n"
        link.cut("reset")
        with pytest.raises(ConnectionResetError):
            client.recv(10)
    with pytest.raises(ConnectionResetError), connect(link) as client:  # the reset may come while it still connects
        client.recv(10)
    link.restore()
    with connect(link) as client:
        client.sendall(b"b\n")
        assert client.recv(10) == b"2\n"


def test_what_hangs_arrives_when_it_is_delivered_although_its_client_is_gone(server: Server, link: NetworkLink) -> None:
    """And after what came later; the answers of the server are lost."""
    with connect(link) as client:
        client.sendall(b"before\n")
        assert client.recv(10) == b"1\n"
        link.cut("hang")
        client.sendall(b"late\n")
        assert hangs(client)
    with connect(link) as client:  # a new connection hangs as well
        assert eventually(lambda: len(link._connections) == 2)
        client.sendall(b"late too\n")
        assert hangs(client)
    assert server.lines == [b"before\n"]
    link.restore()
    with connect(link) as client:
        client.sendall(b"newer\n")
        assert client.recv(10) == b"2\n"
        link.deliver()
        assert sorted(server.lines[2:]) == [b"late\n", b"late too\n"]
        client.sendall(b"last\n")
        assert client.recv(10) == b"5\n"


def test_a_client_that_still_waits_is_told_when_the_link_is_restored(server: Server, link: NetworkLink) -> None:
    """It finds its connection broken; its request is delivered all the same."""
    with connect(link) as client:
        client.sendall(b"before\n")
        assert client.recv(10) == b"1\n"
        link.cut("hang")
        client.sendall(b"late\n")
        link.restore()
        with pytest.raises(ConnectionResetError):
            client.recv(10)
        link.deliver()
    assert server.lines == [b"before\n", b"late\n"]


def test_what_a_server_may_not_have_carried_out_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not close the connection of a client that is gone, so that nothing says when it has read all."""
    monkeypatch.setattr("storeproof.launch.link._DELIVERY_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, closing(NetworkLink(Address("127.0.0.1", silent.getsockname()[1]))) as to_silent:
        with connect(to_silent) as client:
            assert eventually(lambda: len(to_silent._connections) == 1)
            to_silent.cut("hang")
            client.sendall(b"late\n")
            to_silent.restore()
        with pytest.raises(Unknown, match="did not close 1 connections"):
            to_silent.deliver()


def test_a_client_of_a_server_that_is_gone_finds_its_connection_closed(server: Server, link: NetworkLink) -> None:
    """Nothing is kept waiting."""
    server.close()
    with connect(link) as client:
        assert client.recv(1) == b""
