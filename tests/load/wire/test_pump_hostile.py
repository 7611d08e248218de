"""The wire engine and what a store should never answer: each is told as what it is, at once, and takes neither memory nor time."""

from __future__ import annotations

import resource
import socket
import struct
import time

import pytest

from storeproof import native_support
from storeproof.load.wire.request import RequestTemplate, Slot, WireProtocol
from tests.load.wire.pump_server import GET, SET, always, job, op, requests, served

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native

_OP_MSG = RequestTemplate(b"\x10\0\0\0" + b"\xff" * 4 + b"\0" * 8, (Slot(4, 4, "id-le"),), 0, (8, 4, "le"))
_FINE = struct.pack("<IIIIIB", 38, 1, 1, 2013, 0, 0) + b"\x11\0\0\0\x01ok\0" + struct.pack("<d", 1.0) + b"\0"


def memory() -> int:
    """The most that this process ever took, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("protocol", "reply"),
    [
        ("resp", b"hello\r\n"),
        ("resp", b"$12345678901\r\n"),
        ("resp", b"*99999999999\r\n"),
        ("resp", b"$-2\r\n"),
        ("resp", b":12a\r\n"),
        ("resp", b"$3\r\nabcde"),
        ("resp", b"*1\r\n" * 40),
        ("resp", b">1\r\n+message\r\n"),
        ("memcached", b"VALUE a 0 99999999999\r\n"),
        ("memcached", b"VALUE a 0 1\r\nabcd"),
        ("memcached", b"YES\r\n"),
        ("mongo", b"\xff\xff\xff\x7f" + b"\0" * 12),
        ("mongo", b"\x05\0\0\0" + b"\0" * 12),
        ("mongo", _FINE[:12] + struct.pack("<I", 2012) + _FINE[16:]),
        ("mongo", _FINE[:25] + b"\x63" + _FINE[26:]),
        ("mongo", _FINE[:21] + b"\x12" + _FINE[22:]),
        ("iproto", b"\xce\xff\xff\xff\xff"),
        ("iproto", b"\x05\x81\0\0\x80\0"),
        ("iproto", b"\xce\0\0\0\x03\x81\0\xcf"),
        ("mysql", b"\x01\0\0\x05\0"),
        ("mysql", b"\0\0\0\x01"),
        ("mysql", b"\x01\0\0\x01\xfb"),
        ("postgres", b"Z\0\0\0\x02I"),
        ("postgres", b"Z\0\0\0\x05X"),
        ("postgres", b"?\0\0\0\x05X"),
        ("postgres", b"D\xff\xff\xff\xff"),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
        ("http", b"HTTP/1.1 200 OK\r\n\r\n"),
        ("http", b"SSH-2.0-OpenSSH\r\n"),
        ("embedded", b"\xff\xff\xff\xff"),
        ("embedded", b"\0\0\0\x04\x93\x05\x90\0"),
    ],
)
def test_garbage_is_malformed_and_ends_its_connection_alone(protocol: WireProtocol, reply: bytes) -> None:
    """The request that is in doubt is named; nothing waits for the end of the patience."""
    with served(always(reply)) as sockets:
        found = native.start(job(sockets, op(writes=True, keys="sequential"), protocol=protocol, seconds=30.0, patience=30.0)).join()
    assert (found.ops[0].malformed, found.ops[0].errors, found.ops[0].ok) == (1, 0, 0)
    assert (found.broken, found.silent, found.indeterminate) == ([0], [], [0])
    assert len(found.samples) == 1
    assert found.elapsed_seconds < 5


@pytest.mark.parametrize("order", [2, 0, 0xFFFFFFFF])
def test_the_id_of_another_request_is_malformed(order: int) -> None:
    """The connection is not used again."""
    reply = _FINE[:8] + struct.pack("<I", order) + _FINE[12:]
    with served(always(reply, len(_OP_MSG.request))) as sockets:
        found = native.start(job(sockets, op(templates=(_OP_MSG,), keys="none"), protocol="mongo", seconds=30.0)).join()
    assert (found.ops[0].malformed, found.broken) == (1, [0])
    assert "the id of no request" in found.samples[0]


def test_the_id_of_the_request_is_fine_in_however_small_pieces() -> None:
    """The id is read also where the reply comes byte by byte."""

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(_OP_MSG.request)), 1):
            for byte in _FINE[:8] + struct.pack("<I", place) + _FINE[12:]:
                connection.sendall(bytes((byte,)))

    with served(handler) as sockets:
        for each in sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        found = native.start(job(sockets, op(templates=(_OP_MSG,), keys="none"), protocol="mongo", limit=20, seconds=30.0)).join()
    assert (found.ops[0].ok, found.samples) == (20, [])


def test_a_count_that_was_not_foreseen_is_malformed_and_the_connection_goes_on() -> None:
    """Where one reply ends is known all the same."""
    with served(always(b":7\r\n")) as sockets:
        found = native.start(job(sockets, op(), limit=50)).join()
    assert (found.ops[0].malformed, found.broken, found.ops[0].ok) == (50, [], 0)
    assert found.samples == [r"op: an unexpected count: :7\r\n"] * 3


def test_a_client_gives_up_after_a_hundred_errors_in_a_row() -> None:
    """It does not go on until the deadline."""
    with served(always(b"-ERR no\r\n"), 2) as sockets:
        found = native.start(job(sockets, op(), seconds=60.0)).join()
    assert (found.ops[0].errors, found.broken) == (200, [])


def test_a_reply_that_nobody_asked_for_is_malformed() -> None:
    """Also where it lies there before anything was asked."""
    with served(always(b"$1\r\nx\r\n" * 2)) as sockets:
        twice = native.start(job(sockets, op(), seconds=30.0)).join()

    def early(connection: socket.socket, _number: int) -> None:
        connection.sendall(b"+hello\r\n")
        connection.recv(1)

    with served(early) as sockets:
        time.sleep(0.1)
        before = native.start(job(sockets, op(), seconds=30.0)).join()
    assert (twice.ops[0].ok, twice.ops[0].malformed, twice.broken) == (1, 1, [0])
    assert (before.ops[0].ok, before.ops[0].malformed, before.broken, before.bytes_sent) == (0, 1, [0], 0)


@pytest.mark.parametrize("begun", [b"", b"$100\r\nabc", b"*2\r\n"])
def test_a_connection_that_is_closed_in_the_middle_loses_what_was_in_flight(begun: bytes) -> None:
    """One error, one indeterminate key, and the other client goes on."""

    def handler(connection: socket.socket, number: int) -> None:
        for place, _ in enumerate(requests(connection, len(SET))):
            if number == 0 and place == 3:
                connection.sendall(begun)
                return
            connection.sendall(b"+OK\r\n")

    with served(handler, 2) as sockets:
        found = native.start(job(sockets, op(SET, "new"), seconds=0.3)).join()
    assert (found.ops[0].errors, found.ops[0].malformed, found.broken, found.silent) == (1, 0, [0], [])
    assert found.indeterminate == [1000 + 2 * 3]
    assert found.ops[0].ok == sum(found.positions) - 1
    assert "closed" in found.samples[0] or "reset" in found.samples[0]


@pytest.mark.parametrize("begun", [b"", b"$100\r\nabc", b"*2\r\n"])
@pytest.mark.parametrize("rate", [0.0, 100.0])
def test_no_reply_within_the_patience_is_silence(begun: bytes, rate: float) -> None:
    """In a closed and in an open loop, with no byte of the reply or with some."""

    def handler(connection: socket.socket, number: int) -> None:
        for _ in requests(connection, len(GET)):
            connection.sendall(begun if number == 1 else b"$1\r\nx\r\n")

    with served(handler, 3) as sockets:
        found = native.start(job(sockets, op(), rate=rate, seconds=0.2, patience=0.3)).join()
    assert (found.silent, found.broken, found.ops[0].errors) == ([1], [1], 1)
    assert found.ops[0].ok > 0


def test_a_reply_that_never_ends_ends_with_the_patience_and_takes_no_memory() -> None:
    """An array without end, and a string that grows beyond what any reply has."""

    def handler(connection: socket.socket, _number: int) -> None:
        next(requests(connection, len(GET)))
        connection.sendall(b"*60000000\r\n")
        while True:
            connection.sendall(b"$-1\r\n" * 20_000)

    with served(handler) as sockets:
        before = memory()
        found = native.start(job(sockets, op(), seconds=0.5, patience=60.0)).join()
    assert (found.ops[0].malformed, found.broken) == (1, [0])
    assert 60_000_000 < found.bytes_received < 80_000_000
    assert memory() - before < 20_000_000


def test_a_store_that_reads_slowly_is_waited_for() -> None:
    """Requests larger than the buffers of the kernel: what cannot be sent is kept, and sent when there is room."""
    head, size = b"*2\r\n$4\r\nECHO\r\n$4000000\r\n", 4_000_000
    request = head + b"v" * size + b"\r\n"

    def handler(connection: socket.socket, _number: int) -> None:
        wanted = len(request)
        while data := connection.recv(wanted):
            wanted -= len(data)
            time.sleep(0.001)
            if not wanted:
                connection.sendall(b"+OK\r\n")
                wanted = len(request)

    slots = (Slot(len(head), 16, "write-id"), Slot(len(head) + 16, size - 16, "filler"))
    with served(handler) as sockets:
        found = native.start(job(sockets, op(templates=(RequestTemplate(request, slots),)), limit=3, seconds=60.0, patience=60.0)).join()
    assert (found.ops[0].ok, found.bytes_sent, found.samples) == (3, 3 * len(request), [])
