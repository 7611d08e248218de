"""A proxy between the store's ordinary client and the store: records both sides, and then hands over its connection to the store.

The client authenticates the relay's connections to the store through it. Once its requests are learned, the client's side is closed, and
`take` gives the connection to the store away. What the client sends on closing is dropped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import selectors
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from storeproof.contract.address import Address
from storeproof.errors import NotAvailable

_CHUNK: Final = 1 << 18
_CONNECTING: Final = 5.0
"""Seconds for a connection to the store."""
_MOST_WAITING: Final = 1 << 22
"""Bytes that wait for a receiver before the sender is no longer read."""

Direction = Literal["to_store", "to_client"]


@dataclass(frozen=True)
class Piece:
    """One piece of what went through, in the order it did."""

    link: int
    """The number of the connection."""
    direction: Direction
    data: bytes


@dataclass
class Recording:
    pieces: list[Piece] = field(default_factory=list)

    def turns(self, link: int) -> list[tuple[Direction, bytes]]:
        """What the two sides of one connection sent, in turns."""
        found: list[tuple[Direction, bytes]] = []
        for piece in self.pieces:
            if piece.link == link:
                if found and found[-1][0] == piece.direction:
                    found[-1] = (piece.direction, found[-1][1] + piece.data)
                else:
                    found.append((piece.direction, piece.data))
        return found


class _End:
    """One of the two sockets of a link, and what waits to be sent on it."""

    def __init__(self, sock: socket.socket, link: _Link, direction: Direction) -> None:
        self.sock = sock
        self.link = link
        self.direction: Direction = direction
        """The direction of what is read here."""
        self.other: _End
        self.waiting = bytearray()
        self.ended = False
        """Nothing more is to be read here."""


class _Link:
    """A client's connection, and ours to the store on its behalf."""

    def __init__(self, number: int, client: socket.socket, store: socket.socket) -> None:
        self.number = number
        self.client = _End(client, self, "to_store")
        self.store = _End(store, self, "to_client")
        self.client.other, self.store.other = self.store, self.client

    @property
    def ends(self) -> tuple[_End, _End]:
        return self.client, self.store


class Relay:
    """On the loopback, to one store; one thread for all connections."""

    def __init__(self, store: Address) -> None:
        """Raises `NotAvailable`: the connection is encrypted, and only the client could read it."""
        if store.tls:
            raise NotAvailable("the connection is encrypted: only the client can write on it")
        self._store = store
        self._links: dict[int, _Link] = {}
        self._number = 0
        self._recording: Recording | None = None
        self._refusing = False
        self._closed = False
        self._turn = threading.RLock()
        """Held while what is read is kept and sent on, and while connections are removed."""
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._listener.setblocking(False)
        self.address = dataclasses.replace(store, host="127.0.0.1", port=self._listener.getsockname()[1])
        """Where the client connects to; everything else is as the store's own."""
        self._nudged, self._nudge = socket.socketpair()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._nudged, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="storeproof-relay", daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def recording(self) -> Iterator[Recording]:
        """Keeps what goes through while the block runs."""
        recorded = Recording()
        with self._turn:
            self._recording = recorded
        try:
            yield recorded
        finally:
            with self._turn:
                self._recording = None

    def take(self, link: int) -> socket.socket:
        """The connection to the store of one link: from now on the caller's alone. The client's side is ended.
        Raises `NotAvailable`: the store or the client ended it, or something that was not asked for waits on it."""
        with self._turn:
            found = self._links.get(link)
            if found is None or found.store.ended or found.client.ended or found.store.waiting or found.client.waiting:
                raise NotAvailable("a connection to the store ended, or was busy, when it was to be handed over")
            self._forget(found.store)
            del self._links[link]
            self._drop(found.client)
            return found.store.sock

    @contextlib.contextmanager
    def disconnect_clients(self) -> Iterator[None]:
        """While the block runs, clients find all connections closed, also new ones: what they send on closing does not reach the store."""
        with self._turn:
            self._refusing = True
            for link in list(self._links.values()):
                self._end(link)
        try:
            yield
        finally:
            with self._turn:
                while True:  # connections that were made for closing requests
                    try:
                        self._listener.accept()[0].close()
                    except OSError:
                        break
                self._refusing = False

    def close(self) -> None:
        """End every connection that was not taken, and the thread. May be called twice."""
        with self._turn:
            if self._closed:
                return
            self._closed = True
        self._nudge.send(b"x")
        self._thread.join()
        for link in list(self._links.values()):
            self._end(link)
        self._selector.close()
        for each in (self._listener, self._nudge, self._nudged):
            each.close()

    def _serve(self) -> None:
        while True:
            ready = self._selector.select()
            with self._turn:
                if self._closed:
                    return
                for key, events in ready:
                    if key.fileobj is self._listener:
                        self._accept()
                    elif isinstance(key.data, _End) and key.data.link.number in self._links:
                        self._move(key.data, events)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return  # it left again, or `disconnect_clients` took it
        if self._refusing:
            client.close()
            return
        try:
            store = socket.create_connection((self._store.host, self._store.port), timeout=_CONNECTING)
        except OSError:
            client.close()  # the client sees its connection end, and says so in its own words
            return
        store.settimeout(None)
        client.setblocking(True)
        for each in (client, store):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = _Link(self._number, client, store)
        self._links[self._number] = link
        self._number += 1
        for end in link.ends:
            self._selector.register(end.sock, selectors.EVENT_READ, end)

    def _move(self, end: _End, events: int) -> None:
        """Read what is there to be read, and send what waits."""
        try:
            if events & selectors.EVENT_READ and not end.ended:
                self._read(end)
            if events & selectors.EVENT_WRITE:
                self._send(end)
        except OSError:
            self._end(end.link)
            return
        if end.link.number in self._links:
            self._watch(end)
            self._watch(end.other)

    def _read(self, end: _End) -> None:
        data = end.sock.recv(_CHUNK, socket.MSG_DONTWAIT)
        if not data:
            end.ended = True
            if not end.other.waiting:
                self._end(end.link)
            return
        if self._recording is not None:
            self._recording.pieces.append(Piece(end.link.number, end.direction, data))
        end.other.waiting += data
        self._send(end.other)

    def _send(self, end: _End) -> None:
        with contextlib.suppress(BlockingIOError):
            while end.waiting:
                del end.waiting[: end.sock.send(end.waiting, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)]
        if end.other.ended and not end.waiting:
            self._end(end.link)

    def _watch(self, end: _End) -> None:
        wanted = 0 if end.ended or len(end.other.waiting) > _MOST_WAITING else selectors.EVENT_READ
        if end.waiting:
            wanted |= selectors.EVENT_WRITE
        known = self._selector.get_map().get(end.sock)
        if known is None:
            if wanted:
                self._selector.register(end.sock, wanted, end)
        elif not wanted:
            self._selector.unregister(end.sock)
        elif known.events != wanted:
            self._selector.modify(end.sock, wanted, end)

    def _end(self, link: _Link) -> None:
        self._links.pop(link.number, None)
        for end in link.ends:
            self._drop(end)

    def _drop(self, end: _End) -> None:
        self._forget(end)
        with contextlib.suppress(OSError):
            end.sock.shutdown(socket.SHUT_RDWR)
        end.sock.close()

    def _forget(self, end: _End) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(end.sock)
