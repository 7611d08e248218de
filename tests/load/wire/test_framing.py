"""The wire engine's framers, and those of the oracle: replies of real servers, and replies that no server should send."""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgpack
import pytest

from storeproof import native_support
from storeproof.load.wire.request import WireProtocol
from tests.load.wire import framing
from tests.load.wire.captured import CAPTURES, PUSHED, Captured

Replies = Callable[[WireProtocol, bytes, int], tuple[list[tuple[int, str | None, int]], str | None]]
IMPLEMENTATIONS: dict[str, Replies] = {"oracle": framing.replies}
if native_support.present():
    from storeproof import native

    IMPLEMENTATIONS["native"] = native.replies
WHOLE = 1 << 30


def host(*values: object) -> bytes:
    """What a host of an embedded store sends."""
    body = msgpack.packb(list(values))
    return struct.pack(">I", len(body)) + body


OTHERS: dict[WireProtocol, list[Captured]] = {
    "embedded": [
        Captured("rows", host(0, 2, [["a", 1], ["b", None]]), [(2, False)]),
        Captured("nothing", host(0, 0, None), [(0, False)]),
        Captured("changes", host(0, 300, [[], 300]), [(300, False)]),
        Captured("an error", host(1, "refused", "no such table: t"), [(0, True)]),
    ],
    "http": [
        Captured("a body", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", [(1, False)]),
        Captured(
            "chunks",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nEnd: 1\r\n\r\n",
            [(1, False)],
        ),
        Captured("none", b"HTTP/1.1 204 No Content\r\n\r\n", [(1, False)]),
        Captured("an interim answer", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length:0\r\n\r\n", [(1, False)]),
        Captured("missing", b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", [(0, False)]),
        Captured("refused", b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n", [(0, True)]),
    ],
}
ALL = {**CAPTURES, **OTHERS}
EACH = [pytest.param(protocol, each, id=f"{protocol}: {each.asked}") for protocol, found in ALL.items() for each in found]


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def replies(request: pytest.FixtureRequest) -> Replies:
    return IMPLEMENTATIONS[request.param]


@pytest.mark.parametrize("chunk", [1, 7, WHOLE])
@pytest.mark.parametrize(("protocol", "each"), EACH)
def test_what_real_servers_answer(replies: Replies, protocol: WireProtocol, each: Captured, chunk: int) -> None:
    """Counted, told apart and measured, in whatever pieces it comes."""
    found, problem = replies(protocol, each.data, chunk)
    assert problem is None
    assert [(0 if error else count, error is not None) for count, error, _length in found] == each.expected
    assert sum(length for _count, _error, length in found) == len(each.data)


@pytest.mark.parametrize("protocol", sorted(ALL))
def test_many_replies_in_one_piece(replies: Replies, protocol: WireProtocol) -> None:
    """Each is found and counted as if it had come alone."""
    expected = [each for captured in ALL[protocol] for each in captured.expected]
    found, problem = replies(protocol, b"".join(captured.data for captured in ALL[protocol]), 64)
    assert [(0 if error else count, error is not None) for count, error, _length in found] == expected
    assert problem is None


@pytest.mark.parametrize(("protocol", "each"), EACH)
def test_a_reply_that_is_cut_off_is_no_reply(replies: Replies, protocol: WireProtocol, each: Captured) -> None:
    """Nor is it malformed: the rest may be on its way. What of it is a whole reply is one."""
    whole, _ = replies(protocol, each.data, WHOLE)
    for size in range(len(each.data)):
        found, problem = replies(protocol, each.data[:size], WHOLE)
        assert problem is None
        assert found == whole[: len(found)]
        assert len(found) < len(whole)


GARBAGE: list[tuple[WireProtocol, bytes]] = [
    ("resp", b"HTTP/1.1 400 Bad Request\r\n"),
    ("resp", b"$x\r\n"),
    ("resp", b"$-2\r\n"),
    ("resp", b"$3\r\nabcde"),
    ("resp", b"*-2\r\n"),
    ("resp", b":1_000\r\n"),
    ("resp", b": 1\r\n"),
    ("resp", b":99999999999999999999\r\n"),
    ("resp", b"*1\r\n" * 17),
    ("resp", b">1\r\n+message\r\n"),
    ("resp", b"$999999999999\r\n"),
    ("resp", b"*999999999999\r\n"),
    ("memcached", b"OH NO\r\n"),
    ("memcached", b"VALUE k 0 x\r\n"),
    ("memcached", b"VALUE k 0\r\n"),
    ("memcached", b"VALUE k 0 -1\r\n"),
    ("memcached", b"VALUE k 0 3\r\nabcdefg"),
    ("memcached", b"VALUE k 0 3\r\nabc\r\nSTORED\r\n"),
    ("memcached", b"VALUE k 0 999999999999\r\n"),
    ("mongo", struct.pack("<iiiiIB", 1 << 30, 1, 1, 2013, 0, 0) + bytes(100)),
    ("mongo", struct.pack("<iiiiIB", 26, 1, 1, 2012, 0, 0) + b"\5\0\0\0\0"),
    ("mongo", struct.pack("<iiiiIB", 26, 1, 1, 2013, 2, 0) + b"\5\0\0\0\0"),
    ("mongo", struct.pack("<iiiiIB", 26, 1, 1, 2013, 0, 0) + b"\6\0\0\0\0"),
    ("mongo", struct.pack("<iiiiIB", 31, 1, 1, 2013, 0, 0) + b"\x0a\0\0\0\x20ok\0\0\0"),
    ("mongo", struct.pack("<iiiiIB", 31, 1, 1, 2013, 0, 0) + b"\x0a\0\0\0\x02k\0\xff\xff\xff"),
    ("iproto", PUSHED),
    ("iproto", b"\xce\x7f\xff\xff\xff\x82"),
    ("iproto", b"\x05hello"),
    ("iproto", b"\xce\0\0\0\x01\x80"),
    ("iproto", b"\xce\0\0\0\x05\x81\x00\x00\x81\x30"),
    ("iproto", b"\xce\0\0\0\x0a\x81\x00\x00\x81\x30\xdd\xff\xff\xff\xff"),
    ("iproto", b"\xce\0\0\0\x08\x81\x00\x00\x81\x99\xdd\xff\xff"),
    ("mysql", b"\x01\0\0\x02\0"),
    ("mysql", b"\0\0\0\x01"),
    ("mysql", b"\x01\0\0\x01\xfb"),
    ("mysql", b"\x03\0\0\x01\xfc\xff\xff"),
    ("mysql", b"\x02\0\0\x01\0\0"),
    ("postgres", b"D\0\0\0\x03"),
    ("postgres", b"D\x7f\xff\xff\xff"),
    ("postgres", b"X\0\0\0\x04"),
    ("postgres", b"Z\0\0\0\x05X"),
    ("postgres", b"Z\0\0\0\x06II"),
    ("postgres", b"C\0\0\0\x05X"),
    ("http", b"+OK\r\n"),
    ("http", b"HTTP/1.1 99 No\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nno colon\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\n\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
    ("http", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"),
    ("embedded", b"\x7f\xff\xff\xff\x93"),
    ("embedded", b"\0\0\0\x01\xc1"),
    ("embedded", host(0, None, 0)),
    ("embedded", host(2, "x", "y")),
    ("embedded", host(0, "rows", 0)),
    ("embedded", host(0, 1 << 63, 0)),
    ("embedded", host(0, 0, [], 0)),
    ("embedded", b"\0\0\0\x03\x93\0\0"),
    ("embedded", b"\0\0\0\x02\x93\x01"),
    ("embedded", b"\0\0\0\x04\x93\0\xcd\0"),
]


@pytest.mark.parametrize("chunk", [1, WHOLE])
@pytest.mark.parametrize(("protocol", "data"), GARBAGE)
def test_garbage_is_malformed(replies: Replies, protocol: WireProtocol, data: bytes, chunk: int) -> None:
    """After replies that were whole; and nothing that comes later is believed."""
    good = ALL[protocol][0]
    found, problem = replies(protocol, good.data + data + good.data, chunk)
    assert problem
    assert len(found) == len(good.expected)


LARGE = bytes(1 << 20)
ENDLESS: dict[str, tuple[WireProtocol, bytes, Callable[[int], bytes]]] = {
    "elements": ("resp", b"*60000000\r\n", lambda _: b"$1048576\r\n" + LARGE + b"\r\n"),
    "arrays in sets": ("resp", b"~2\r\n", lambda _: b"*2\r\n$1048576\r\n" + LARGE + b"\r\n"),
    "values": ("memcached", b"", lambda _: b"VALUE k 0 1048576\r\n" + LARGE + b"\r\n"),
    "rows": ("postgres", b"", lambda _: b"D\0\x10\0\x04" + LARGE),
    "packets": ("mysql", b"\1\0\0\1\1\1\0\0\2x", lambda number: b"\0\0\x10" + bytes([(number + 3) % 256]) + LARGE),
    "headers": ("http", b"HTTP/1.1 200 OK\r\n", lambda _: (b"X: " + bytes(8000) + b"\r\n") * 131),
    "chunks": ("http", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", lambda _: b"100000\r\n" + LARGE + b"\r\n"),
    "a line": ("resp", b":", lambda _: LARGE),
    "a word": ("memcached", b"", lambda _: b"x" * (1 << 20)),
}


@pytest.mark.parametrize("what", sorted(ENDLESS))
@pytest.mark.slow
def test_a_reply_that_does_not_end_is_malformed(replies: Replies, what: str) -> None:
    """Whatever it goes on with, it is given up at 64 MB."""
    protocol, start, part = ENDLESS[what]
    found, problem = replies(protocol, start + b"".join(part(number) for number in range(framing.MOST // len(LARGE) + 1)), 1 << 16)
    assert (found, bool(problem)) == ([], True)


def test_a_row_of_mysql_may_be_longer_than_a_packet(replies: Replies) -> None:
    """What a packet of 16 MB less one goes on with is no row of its own, whatever it begins with."""
    columns, last = b"\1\0\0\1\1\1\0\0\2x", b"\7\0\0\5\xfe\0\0\2\0\0\0"
    row = b"\xff\xff\xff\3\xfd" + bytes((1 << 24) - 2) + b"\5\0\0\4\xfe\0\0\2\0"
    assert [found[:2] for found in replies("mysql", columns + row + last, 1 << 16)[0]] == [(1, None)]


SAID: dict[WireProtocol, list[str]] = {
    "resp": ["WRONGTYPE Operation against a key holding the wrong kind of value"],
    "memcached": ["ERROR", "SERVER_ERROR object too large for cache", "CLIENT_ERROR cannot increment or decrement non-numeric value"],
    "mongo": ["no such command: "],
    "iproto": ["Duplicate key exists in unique index "],
    "mysql": ["Duplicate entry "],
    "postgres": ["duplicate key value violates unique constraint "],
    "http": ["HTTP/1.1 409 Conflict"],
    "embedded": ["no such table: t"],
}


@pytest.mark.parametrize("protocol", sorted(SAID))
def test_errors_are_shown_in_the_words_of_the_store(replies: Replies, protocol: WireProtocol) -> None:
    """Printable, and short."""
    shown = [error for each in ALL[protocol] for _count, error, _length in replies(protocol, each.data, WHOLE)[0] if error]
    assert all(any(words in error for error in shown) for words in SAID[protocol]), shown
    assert all(error.isprintable() and len(error) < 1000 for error in shown)


def test_what_is_shown_of_garbage_is_printable_and_short(replies: Replies) -> None:
    """Control characters of a terminal do not reach it."""
    _, problem = replies("resp", b"\x1b[31m\0" + bytes(1000) + b"\r\n", WHOLE)
    assert problem is not None
    assert problem.isprintable()
    assert len(problem) < 1000
