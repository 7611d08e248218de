"""The proxy that counts: all bytes arrive, are counted, and nothing is left open."""

from __future__ import annotations

import socket
import threading

import pytest

from storeproof.contract import Address
from storeproof.errors import NotAvailable
from storeproof.launch.proxy import counting


@pytest.fixture
def doubling_server() -> Address:
    """Sends everything twice."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, listener:
            while chunk := connection.recv(65536):
                connection.sendall(chunk + chunk)

    threading.Thread(target=serve, daemon=True).start()
    return Address("127.0.0.1", listener.getsockname()[1], password="secret")


def test_what_goes_through_arrives_and_is_counted(doubling_server: Address) -> None:
    """The proxy relays both directions, counts bytes, and stops listening at the end."""
    with counting(doubling_server) as proxy:
        assert proxy.address.password == "secret"
        with socket.create_connection((proxy.address.host, proxy.address.port)) as client:
            client.sendall(b"abc" * 1000)
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(65536), b""))
        assert len(received) == 6000
        assert (proxy.to_store, proxy.to_client) == (3000, 6000)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((proxy.address.host, proxy.address.port))


def test_clients_of_a_store_that_is_gone_find_their_connections_closed() -> None:
    """A client that the proxy cannot connect to the store is not kept waiting, nor is the next one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        gone = Address("127.0.0.1", free.getsockname()[1])
    with counting(gone) as proxy:
        for _ in range(2):
            with socket.create_connection((proxy.address.host, proxy.address.port), timeout=20) as client:
                assert client.recv(1) == b""


def test_an_encrypted_connection_is_left_alone() -> None:
    """A TLS connection cannot be counted, and is `NotAvailable`."""
    with pytest.raises(NotAvailable, match="encrypted"), counting(Address("127.0.0.1", 1, tls=True)):
        pass
