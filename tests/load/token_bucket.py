"""A store whose speed is known: it answers a given number of requests a second, and says how many it did.

`python token_bucket.py` is its server, alone in its process: enough of Redis' protocol for a client of plain values. Each request takes a
token; one falls into the bucket every `1 / rate` seconds. The bucket is empty when the first request of a window comes, and holds what
falls in 20 ms: a server that was kept from working for so long makes up for it. What falls beside a full bucket is lost: on a busy machine,
or with a load generator that asks too little, the store is slower than its rate, and never faster. It says by how much.

Standard input has its orders, a line each: `rate NUMBER` (0: as fast as it can) and `mark`, with which a window begins; `told` answers with
what was given out since then. It ends with its input.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns, sleep
from typing import Final

HOLDS_NS: Final = 20_000_000
_NONE: Final = b"$-1\r\n"
_NAP: Final = 50e-6
"""Seconds between two looks while requests wait for a token."""


@dataclass
class Bucket:
    """Of one window."""

    gap: float = 0.0
    """Nanoseconds from one token to the next; 0: there is always one."""
    granted: int = 0
    begun: int = 0
    """When the first request was looked at."""
    last: int = 0
    """When the last token was given out."""
    due: float = 0.0
    """When the next token falls, or fell."""

    def take(self, now: int) -> bool:
        """Whether there is a token for a request."""
        if not self.begun:
            self.begun, self.due = now, now + self.gap
        if self.gap:
            if self.due > now:
                return False
            self.due = max(self.due, now - HOLDS_NS) + self.gap
        self.granted += 1
        self.last = now
        return True


class Server:
    """One thread, which looks at all of its connections."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.bucket = Bucket()
        self._records: dict[bytes, bytes] = {}
        """Each as it is answered."""
        self._waiting: deque[tuple[socket.socket, list[bytes]]] = deque()
        self._poll = select.epoll()
        self._open: dict[int, socket.socket] = {}
        self._partial: dict[int, bytes] = {}

    def serve(self) -> None:
        """Until the input ends."""
        for each in (self.listener, sys.stdin):
            self._poll.register(each.fileno(), select.EPOLLIN)
        while True:
            while self._waiting and self.bucket.take(monotonic_ns()):
                self._answer(*self._waiting.popleft())
            if self._waiting:
                sleep(_NAP)
            for number, _ in self._poll.poll(0 if self._waiting else None):
                if number == self.listener.fileno():
                    self._accept()
                elif number != sys.stdin.fileno():
                    self._receive(number)
                elif not self._obey(sys.stdin.readline()):
                    return

    def _accept(self) -> None:
        client, _ = self.listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open[client.fileno()] = client
        self._poll.register(client.fileno(), select.EPOLLIN)

    def _receive(self, number: int) -> None:
        client = self._open[number]
        data = client.recv(1 << 20)
        if not data:
            self._poll.unregister(number)
            self._partial.pop(number, None)
            self._open.pop(number).close()
            return
        held = self._partial.pop(number, b"") + data
        words = held.split(b"\r\n")
        while len(words) > 1 and len(words) > 2 * (count := int(words[0][1:])) + 1:
            self._waiting.append((client, words[2 : 2 * count + 1 : 2]))
            del words[: 2 * count + 1]
        if words != [b""]:
            self._partial[number] = b"\r\n".join(words)

    def _answer(self, client: socket.socket, words: list[bytes]) -> None:
        match words:
            case [b"GET", key]:
                reply = self._records.get(key, _NONE)
            case [b"SET", key, value]:
                self._records[key] = b"$%d\r\n%s\r\n" % (len(value), value)
                reply = b"+OK\r\n"
            case [b"DEL", key]:
                reply = b":%d\r\n" % (self._records.pop(key, None) is not None)
            case [b"MGET", *keys]:
                found = self._records.get
                reply = b"*%d\r\n" % len(keys) + b"".join([found(key, _NONE) for key in keys])
            case [b"CLIENT", *_]:
                reply = b"+OK\r\n"
            case _:
                reply = b"-ERR unknown command\r\n"
        if client.fileno() != -1:
            client.sendall(reply)

    def _obey(self, order: str) -> bool:
        match order.split():
            case ["rate", number]:
                self.bucket = Bucket(1e9 / float(number) if float(number) else 0.0)
            case ["mark"]:
                self.bucket = Bucket(self.bucket.gap)
            case ["told"]:
                print(json.dumps([self.bucket.granted, self.bucket.last - self.bucket.begun]), flush=True)
        return bool(order)


@dataclass(frozen=True)
class Told:
    """What the server says of a window."""

    granted: int
    rate: float
    """Answers a second, from its first request to its last answer."""


class TokenBucket:
    """The server, from the outside."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def limit(self, rate: float) -> None:
        """Answer that many requests a second from now on; 0: as many as it can."""
        self._order(f"rate {rate}")

    def mark(self) -> None:
        """A window begins."""
        self._order("mark")

    def told(self) -> Told:
        """What became of it."""
        self._order("told")
        assert self._process.stdout is not None
        granted, nanoseconds = json.loads(self._process.stdout.readline())
        return Told(granted, granted * 1e9 / max(nanoseconds, 1))

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _order(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()


ADAPTER: Final = """
import redis
from storeproof.contract import Version

class Session:
    def __init__(self, client): self.client = client
    def version(self): return Version("Bucket", "1")
    def read_settings(self, names): return {}
    def collection(self, layout): return Records(self.client)
    def close(self): self.client.close()

class Records:
    def __init__(self, client): self.client = client
    def prepare(self): pass
    def clear(self): pass
    def describe(self): return {"indexes": "0"}
    def get(self, key): return self.client.get(key)
    def get_many(self, keys): return self.client.mget(keys)
    def put(self, key, record): self.client.set(key, record)
    def delete(self, key): return bool(self.client.delete(key))
    def exists(self, key): return self.client.get(key) is not None

def connect(address, options):
    return Session(redis.Redis(address.host, address.port, protocol=2))
"""
"""Of the store, in a file of its own."""


def main() -> None:
    """Print the port, and serve."""
    server = Server()
    print(server.listener.getsockname()[1], flush=True)
    server.serve()


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # its neighbours are no modules of anyone's
    main()
