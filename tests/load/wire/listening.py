"""A server in a test: it accepts connections, and has a thread for each."""

from __future__ import annotations

import contextlib
import socket
import threading

from storeproof.contract import Address


class Listening:
    """Serves until it is closed, as `serve` does."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = Address("127.0.0.1", self._listener.getsockname()[1])
        self.open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        """One connection, to its end."""
        raise NotImplementedError

    def close(self) -> None:
        """End all connections."""
        for each in (self._listener, *self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.open.append(client)
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()
