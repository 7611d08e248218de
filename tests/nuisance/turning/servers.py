"""A relay to a real store that turns hostile in the middle of a run: from then on it answers by itself, and misbehaves in one way."""

from __future__ import annotations

import itertools
import select
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from tests.nuisance.protocols import PROTOCOLS, Ended, Etcd, Iproto, MySql, Postgres, Protocol
from tests.nuisance.ways import WAYS

ENDLESS: Final = ("random bytes", "zeros", "text", "a line without end", "a huge length", "deep nesting")
"""The ways that would fill the memory of a client."""
_PART: Final = 1 << 16


class _Iproto(Iproto):
    """After the greeting."""

    opening = b""
    line = Iproto.line.removeprefix(Iproto.opening)
    huge = Iproto.huge.removeprefix(Iproto.opening)
    nested = Iproto.nested.removeprefix(Iproto.opening)


class _MySql(MySql):
    """The numbers of its packets begin with 1, as those of each answer do."""

    huge = b"".join(b"\xff\xff\xff" + bytes([number]) + b"1" * (2**24 - 1) for number in (1, 2, 3))
    line = b"\xff\xff\xff\x01\n"


class _Postgres(Postgres):
    """Rows may be long, other messages than those of the first contact."""

    huge = b"D\x7f\xff\xff\xff"
    nested = b"D\x3f\xff\xff\xff"


STORES: Final[Mapping[str, type[Protocol]]] = {
    "redis": PROTOCOLS["redis"],
    "memcached": PROTOCOLS["memcached"],
    "tarantool": _Iproto,
    "mongodb": PROTOCOLS["mongodb"],
    "mariadb": _MySql,
    "postgresql": _Postgres,
    "etcd": Etcd,
}
"""How each is spoken to in the middle of a connection."""


class _Relay:
    def __init__(self, store: str, way: str, port: int, requests: int) -> None:
        self._store, self._way, self._port = store, way, port
        self._left = requests

    def serve(self, listener: socket.socket) -> None:
        """Relay every connection, each in a thread of its own."""
        for turn in itertools.count():
            connection, _ = listener.accept()
            threading.Thread(target=self._relay, args=(connection, turn), daemon=True).start()

    def _relay(self, client: socket.socket, turn: int) -> None:
        with suppress(OSError, Ended, ValueError), client, socket.create_connection(("127.0.0.1", self._port)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                self._left -= client in ready
                if client in ready and self._left < 0:
                    WAYS[self._way](client, STORES[self._store]("7.0.15"), turn)  # in answer to a request
                    return
                for source, sink in ((client, server), (server, client)):
                    if source in ready:
                        part = source.recv(_PART)
                        if not part:
                            return
                        sink.sendall(part)


if __name__ == "__main__":
    # A process of its own: `python -m tests.nuisance.turning.servers STORE WAY PORT REQUESTS [OWN_PORT]`.
    with socket.create_server(("127.0.0.1", int(sys.argv[5]) if len(sys.argv) > 5 else 0)) as own:
        print(own.getsockname()[1], flush=True)
        _Relay(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])).serve(own)
