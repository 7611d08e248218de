"""The link to one server, as a relay on the loopback interface that can be cut: so that connections break, or so that they hang.

What was sent on a connection that hangs is not lost: as in a network that delivers late, it reaches the server when it is delivered, also
after its client has given up. A socket cannot be reset while another thread reads from it, so that one event loop has them all.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal, TypeVar

from storeproof.contract.address import Address
from storeproof.contract.failures import Unknown

CutKind = Literal["reset", "hang"]

_CHUNK: Final = 65536
_CALL_SECONDS: Final = 30.0
_DELIVERY_SECONDS: Final = 20.0
"""How long a server may take to carry out what is delivered late, and to close the connection of a client that is gone."""
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""`struct linger`: a socket that is closed sends a reset, and drops what it has."""

Found = TypeVar("Found")
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NetworkLink:
    """A relay to one server. It is whole at first, and may be cut and restored repeatedly."""

    def __init__(self, server: Address) -> None:
        self._server = server
        self._cut: CutKind | None = None
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="storeproof-link", daemon=True)
        self._thread.start()
        self._listener = self._call(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.address: Address = replace(server, host="127.0.0.1", port=self._listener.sockets[0].getsockname()[1])
        """The address for clients: the server's, with another host and port."""

    def cut(self, kind: CutKind) -> None:
        """Cut it, for all connections and for new ones, until it is restored. `reset`: they break. `hang`: nothing passes, in neither
        direction, and no end of a connection is seen on the other side."""
        self._call(self._strike(kind))

    def restore(self) -> None:
        """New connections work. The clients of those that hang find them broken, but what they sent is still on its way."""
        self._call(self._mend())

    def deliver(self) -> None:
        """Let through what hangs, and wait until the server has closed the connections whose clients are gone.
        Raises `Unknown`: it did not, so that what hung may still be on its way."""
        if left := self._call(self._release()):
            raise Unknown(f"the server did not close {left} connections whose clients are gone: what they sent may be carried out yet")

    def close(self) -> None:
        """Close the listener and all connections."""
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def _held(self) -> list[_Connection]:
        """The connections that hang."""
        return [connection for connection in self._connections if not connection.flows.is_set()]

    def _call(self, work: Coroutine[Any, Any, Found]) -> Found:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_SECONDS)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_server = await asyncio.open_connection(self._server.host, self._server.port)
        except OSError:  # the server is gone: the client finds its connection closed
            writer.close()
            return
        connection = _Connection((reader, writer), to_server)
        self._connections.add(connection)
        if self._cut is not None:
            connection.cut(self._cut)
        try:
            await connection.relay()
        finally:
            self._connections.discard(connection)

    async def _strike(self, kind: CutKind) -> None:
        self._cut = kind
        for connection in self._connections:
            connection.cut(kind)

    async def _mend(self) -> None:
        self._cut = None
        for _ in range(2):  # what has come in is read in the next turn of the loop, before the connections of its senders are broken
            await asyncio.sleep(0)
        for connection in self._held:
            connection.leave_client()

    async def _release(self) -> int:
        """Returns the number of connections that the server did not close."""
        held = self._held
        for connection in held:
            connection.flows.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DELIVERY_SECONDS):
                for connection in held:
                    await connection.ended.wait()
        return sum(not connection.ended.is_set() for connection in held)

    async def _end(self) -> None:
        self._listener.close()
        for connection in self._connections:
            connection.cut("reset")
        relays = asyncio.all_tasks() - {asyncio.current_task()}
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close their sockets in the next turn of the loop


class _Connection:
    """The connection of one client, and the one to the server for it."""

    def __init__(self, client: Stream, server: Stream) -> None:
        self._client = client
        self._server = server
        self.flows = asyncio.Event()
        """Clear: it hangs."""
        self.flows.set()
        self.ended = asyncio.Event()

    async def relay(self) -> None:
        """Both directions, until both have ended."""
        (from_client, to_client), (from_server, to_server) = self._client, self._server
        try:
            await asyncio.gather(self._pump(from_client, to_server), self._pump(from_server, to_client))
        finally:
            to_client.close()
            to_server.close()
            self.ended.set()

    def cut(self, kind: CutKind) -> None:
        if kind == "hang":
            self.flows.clear()
            return
        _reset(self._client[1])
        _reset(self._server[1])
        self.flows.set()

    def leave_client(self) -> None:
        """The client finds its connection broken; the one to the server is as it was."""
        _reset(self._client[1])

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # the sender broke its connection
            while chunk := await source.read(_CHUNK):
                await self.flows.wait()
                with suppress(OSError):  # the receiver is gone; the sender is heard to the end all the same
                    sink.write(chunk)
                    await sink.drain()
        await self.flows.wait()
        with suppress(OSError):
            sink.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # it is closed already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()
