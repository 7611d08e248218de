"""A proxy between a client and a store that counts bytes: if a filter moves few bytes, the store has evaluated it."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
from collections.abc import Iterator

from storeproof.contract.address import Address
from storeproof.errors import NotAvailable
from storeproof.outcome import Lack

_CHUNK = 65536


class CountingProxy:
    """A TCP relay on the loopback interface to one store. Byte counts include all connections since the start.

    Of a composite store each server has a relay of its own, and the counts are of all of them.
    """

    def __init__(self, store: Address) -> None:
        self._store = store
        self._bytes = {"to_store": 0, "to_client": 0}
        self._counting = threading.Lock()
        self._open: list[socket.socket] = []
        self._parts = [CountingProxy(part.address) for part in store.parts]
        self._listener = socket.create_server(("127.0.0.1", 0))
        parts = tuple(dataclasses.replace(part, address=proxy.address) for part, proxy in zip(store.parts, self._parts, strict=True))
        self.address: Address = dataclasses.replace(store, host="127.0.0.1", port=self._listener.getsockname()[1], parts=parts)
        """The address for clients: the store's, with another host and port."""
        threading.Thread(target=self._accept, name="storeproof-proxy", daemon=True).start()

    @property
    def to_store(self) -> int:
        """Bytes from clients."""
        return self._bytes["to_store"] + sum(part.to_store for part in self._parts)

    @property
    def to_client(self) -> int:
        """Bytes to clients."""
        return self._bytes["to_client"] + sum(part.to_client for part in self._parts)

    def close(self) -> None:
        """Close the listener and all connections."""
        for part in self._parts:
            part.close()
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener was closed
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            store = socket.create_connection((self._store.host, self._store.port))
        except OSError:  # the store is gone: the client finds its connection closed
            client.close()
            return
        self._open.append(store)
        for each in (client, store):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for way in ((client, store, "to_store"), (store, client, "to_client")):
            threading.Thread(target=self._relay, args=way, name="storeproof-proxy", daemon=True).start()

    def _relay(self, source: socket.socket, sink: socket.socket, count: str) -> None:
        with contextlib.suppress(OSError):  # either side closed its connection
            while chunk := source.recv(_CHUNK):
                with self._counting:
                    self._bytes[count] += len(chunk)
                sink.sendall(chunk)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def counting(store: Address) -> Iterator[CountingProxy]:
    """Run a proxy for the duration of the block.
    Raises `NotAvailable`: the connection is encrypted, and the store's certificate does not match the proxy's address."""
    if store.tls:
        raise NotAvailable("bytes cannot be counted on an encrypted connection", lack=Lack.PLAIN_CONNECTION)
    proxy = CountingProxy(store)
    try:
        yield proxy
    finally:
        proxy.close()
