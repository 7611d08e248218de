"""Servers that are none: each takes connections, and misbehaves in one way for as long as it is let."""

from __future__ import annotations

import itertools
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from tests.nuisance.protocols import ABSURD, PROTOCOLS, Ended, Protocol

Way = Callable[[socket.socket, Protocol, int], None]
"""What is done on a connection; the last is its number."""

_PART: Final = 1 << 18
_BANNERS: Final = (
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 46\r\n\r\n<html><body><h1>It works!</h1></body></html>\r\n",
    b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n",
    b"-ERR unknown command 'GET', with args beginning with: '/'\r\n",
    b"ERROR\r\n",
)


def _flood(connection: socket.socket, part: bytes) -> None:
    while True:
        connection.sendall(part)


def _wait(connection: socket.socket) -> None:
    """Take what comes until the client goes."""
    while connection.recv(65536):
        pass


def _hear(connection: socket.socket, protocol: Protocol) -> None:
    with connection.makefile("rb") as reader:
        protocol.hear(reader)


def _says_nothing(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _wait(connection)


def _closes(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def _resets(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _random(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    chance = random.Random(turn)
    while True:
        connection.sendall(chance.randbytes(_PART))


def _zeros(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _flood(connection, bytes(_PART))


def _text(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _flood(connection, b"lorem ipsum dolor sit amet " * (_PART // 27))


def _line(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _hear(connection, protocol)
    connection.sendall(protocol.line)
    _flood(connection, b"a" * _PART)


def _huge(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _hear(connection, protocol)
    connection.sendall(protocol.huge)
    _flood(connection, b"a" * _PART)


def _nested(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _hear(connection, protocol)
    connection.sendall(protocol.nested)
    _flood(connection, protocol.nest * (_PART // len(protocol.nest)))


def _banner(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    connection.sendall(_BANNERS[turn % len(_BANNERS)])
    _wait(connection)


def _error(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _hear(connection, protocol)
    message = protocol.error(ABSURD.encode())
    connection.sendall(message)
    while connection.recv(65536):
        connection.sendall(message.removeprefix(protocol.opening))


def _slow(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    message = protocol.opening
    with connection.makefile("rb") as reader:
        message = message or protocol.reply(reader) or b""
    for byte in itertools.cycle(message):
        connection.sendall(bytes([byte]))
        time.sleep(1)


def _half(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    with connection.makefile("rb") as reader:
        message = protocol.opening or protocol.reply(reader) or b""
    connection.sendall(message[: len(message) // 2])
    _wait(connection)


def _garbage(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _converse(connection, protocol)
    _random(connection, protocol, turn)


def _absurd(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    _converse(connection, protocol)
    _wait(connection)


def _echo(connection: socket.socket, protocol: Protocol, turn: int) -> None:
    while part := connection.recv(65536):
        connection.sendall(part)


def _converse(connection: socket.socket, protocol: Protocol) -> None:
    """Answer as a store would, as far as the handshake and the version."""
    connection.sendall(protocol.opening)
    with connection.makefile("rb") as reader:
        while (answer := protocol.reply(reader)) is not None:
            connection.sendall(answer)


WAYS: Final[Mapping[str, Way]] = {
    "says nothing": _says_nothing,
    "closes": _closes,
    "resets": _resets,
    "random bytes": _random,
    "zeros": _zeros,
    "text": _text,
    "a line without end": _line,
    "a huge length": _huge,
    "deep nesting": _nested,
    "another product": _banner,
    "a long error": _error,
    "slow bytes": _slow,
    "half a reply": _half,
    "garbage": _garbage,
    "an absurd version": _absurd,
    "echo": _echo,
}
"""Each by what it sends."""


def serve(store: str, way: str, listener: socket.socket) -> None:
    """Misbehave on every connection, each in a thread of its own."""
    protocol, version = PROTOCOLS[store], ABSURD if way == "an absurd version" else "7.0.15"

    def misbehave(connection: socket.socket, turn: int) -> None:
        with suppress(OSError, Ended, ValueError), connection:
            WAYS[way](connection, protocol(version), turn)

    for turn in itertools.count():
        connection, _ = listener.accept()
        threading.Thread(target=misbehave, args=(connection, turn), daemon=True).start()


if __name__ == "__main__":
    # A process of its own, so that the process that started it is not the one with the memory: `python -m tests.nuisance.ways STORE WAY`.
    with socket.create_server(("127.0.0.1", 0)) as port:
        print(port.getsockname()[1], flush=True)
        serve(sys.argv[1], sys.argv[2], port)
