"""Who listens on a port, told without a look at every connection of the machine."""

from __future__ import annotations

import socket

import pytest

from storeproof.machine import ports


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::")],
)
def test_a_listener_of_any_address_is_seen_and_what_it_leaves_is_none(family: socket.AddressFamily, address: str) -> None:
    """A connection that outlives its listener, or waits for its time to be over, is not taken for one."""
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        assert ports.is_listened_on(port)
        loopback = "127.0.0.1" if family == socket.AF_INET else "::1"
        client = socket.create_connection((loopback, port))
        accepted, _ = server.accept()
    with client, accepted:
        assert not ports.is_listened_on(port)
    assert not ports.is_listened_on(port)


def test_a_port_that_cannot_be_bound_for_another_reason_has_no_listener() -> None:
    """A socket that is bound without being told to listen keeps others from the port, and answers no client."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert not ports.is_listened_on(bound.getsockname()[1])
