"""Who listens on a port, told without a look at every connection of the machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import psutil
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


@pytest.mark.parametrize("told", [True, False], ids=["by the kernel", "by the tables"])
@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_process_that_listens_is_told_from_others(
    family: socket.AddressFamily, address: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from one that is connected to the port, and where the kernel says nothing."""
    if told:
        monkeypatch.setattr(psutil.Process, "net_connections", lambda *_: [])
    else:
        monkeypatch.setattr(ports, "listening_sockets", lambda _: set())
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        waiting = f"import socket; held = socket.create_connection(({address!r}, {port})); print(flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", waiting], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            assert ports.is_listener([other.pid, os.getpid()], port)
            assert not ports.is_listener([other.pid], port)
            other.communicate(b"\n")
    assert not ports.is_listener([os.getpid()], port)
