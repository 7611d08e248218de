"""The null server answers what it was told, for as many bytes as it was told, and is gone when we are."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from storeproof import native_support
from storeproof.load.wire.null_server import CannedReply, NullServer

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")


@pytest.fixture(scope="module")
def server() -> Iterator[NullServer]:
    with closing(NullServer()) as here:
        yield here


def _exactly(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size and (more := connection.recv(size - len(got))):
        got += more
    return got


def _is_quiet(connection: socket.socket) -> bool:
    connection.settimeout(0.02)
    try:
        return not connection.recv(1)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(5)


def test_one_reply_for_every_so_many_bytes(server: NullServer) -> None:
    """However they are cut, and on each connection by itself."""
    with server.connections(CannedReply(5, b"yes!"), 2) as (one, other):
        one.sendall(b"12")
        assert _is_quiet(one)
        one.sendall(b"345" + b"12345" + b"1")
        assert _exactly(one, 8) == b"yes!yes!"
        assert _is_quiet(one)
        other.sendall(b"12345")
        assert _exactly(other, 4) == b"yes!"
        one.sendall(b"2345")
        assert _exactly(one, 4) == b"yes!"


def test_the_id_of_the_request_is_in_its_reply(server: NullServer) -> None:
    """In each of its places, also where the request comes byte for byte."""
    with server.connections(CannedReply(8, b"<....><....>", id_at=2, id_width=4, places=(1, 7)), 1) as (one,):
        one.sendall(b"--abcd--" + b"--ef")
        assert _exactly(one, 12) == b"<abcd><abcd>"
        one.sendall(b"gh--")
        assert _exactly(one, 12) == b"<efgh><efgh>"
        for byte in b"..wxyz..":
            one.sendall(bytes([byte]))
        assert _exactly(one, 12) == b"<wxyz><wxyz>"


def test_replies_that_do_not_fit_are_sent_as_they_are_read(server: NullServer) -> None:
    """Two megabytes each, while the client does not read."""
    reply = bytes(range(256)) * 8192
    with server.connections(CannedReply(3, reply), 1) as (one,):
        one.sendall(b"123" * 10)
        for _ in range(10):
            assert _exactly(one, len(reply)) == reply
        assert _is_quiet(one)


@pytest.mark.parametrize(
    "told",
    [
        struct.pack("<5I", 0, 1, 0, 0, 0) + b"x",
        struct.pack("<5I", 1, 0, 0, 0, 0),
        struct.pack("<5I", 4, 1 << 31, 0, 0, 0),
        struct.pack("<5I", 4, 4, 2, 4, 0) + b"abcd",
        struct.pack("<6I", 4, 4, 0, 2, 1, 3) + b"abcd",
        struct.pack("<5I", 4, 4, 0, 2, 1 << 20),
    ],
)
def test_what_cannot_be_is_not_served(server: NullServer, told: bytes) -> None:
    """The connection is closed, and the others are served."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as one:
        one.sendall(told)
        assert one.recv(1) == b""
    with server.connections(CannedReply(1, b"y"), 1) as (other,):
        other.sendall(b"x")
        assert _exactly(other, 1) == b"y"


_SLEEPS = (
    "import sys, signal\nfrom contextlib import closing\nfrom storeproof.load.wire.null_server import NullServer\n"
    "with closing(NullServer()) as server:\n    print(server.pid, flush=True)\n    signal.pause()\n"
)


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_us(ended_by: signal.Signals) -> None:
    """Interrupted or killed: no process is left."""
    with subprocess.Popen([sys.executable, "-c", _SLEEPS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ours:
        assert ours.stdout is not None
        server = psutil.Process(int(ours.stdout.readline()))
        ours.send_signal(ended_by)
        ours.wait(10)
        server.wait(10)


def test_closing_it_twice_is_closing_it() -> None:
    """It ends by itself, and is gone then."""
    server = NullServer()
    process = psutil.Process(server.pid)
    server.close()
    server.close()
    assert not process.is_running()
    assert server._process.returncode == 0
