"""A store in miniature, and clients of it that ask in different ways: what a client does, the wire engine must do, or say why it cannot."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, cast

from storeproof.contract import Address, Key, Record
from tests.load.wire.listening import Listening

PREPARED: Final = {b"GET": b"G", b"SET": b"S", b"DEL": b"D"}
"""Shorter names of the same commands."""
_FULL: Final = {short: full for full, short in PREPARED.items()}
_MINUTE: Final = count(1)


class Store(Listening):
    """Answers `GET key`, `SET key value`, `DEL key`, `LOSE key`, `MGET key ...`, `MSET key value ...`, `PING`; not what is behind `;`."""

    def __init__(self) -> None:
        self.records: dict[bytes, bytes] = {}
        self.commands: list[list[bytes]] = []
        super().__init__()

    def serve(self, client: socket.socket) -> None:
        """One connection, to its end."""
        with contextlib.suppress(OSError, ValueError), client.makefile("rb") as stream:
            while head := stream.readline():
                words = []
                for _ in range(int(head[1:])):
                    size = int(stream.readline()[1:])
                    words.append(stream.read(size + 2)[:-2])
                self.commands.append(words)
                client.sendall(self._answer(words[: words.index(b";")] if b";" in words else words))

    def _answer(self, words: list[bytes]) -> bytes:
        match [_FULL.get(words[0], words[0]), *words[1:]]:
            case [b"GET", key]:
                return _string(self.records.get(key))
            case [b"SET", key, value]:
                self.records[key] = value
                return b"+OK\r\n"
            case [b"DEL", key]:
                return b":1\r\n" if self.records.pop(key, None) is not None else b":0\r\n"
            case [b"MGET", *keys]:
                return b"*%d\r\n" % len(keys) + b"".join(_string(self.records.get(key)) for key in keys)
            case [b"MSET", *pairs]:
                self.records.update(zip(pairs[::2], pairs[1::2], strict=True))
                return b"+OK\r\n"
            case [(b"MSETNX" | b"MINSERT") as name, *pairs]:
                if not self.records.keys().isdisjoint(pairs[::2]):
                    return b":0\r\n" if name == b"MSETNX" else b"-ERR a key exists\r\n"
                self.records.update(zip(pairs[::2], pairs[1::2], strict=True))
                return b":1\r\n"
            case [b"PING", *_]:
                return b"+PONG\r\n"
            case [b"LOSE", key]:
                return b"+OK\r\n" if self.records.pop(key, None) is not None else b"-ERR no such key\r\n"
            case [b"NULL", key]:
                return b"+%s\r\n" % (self.records.get(key) or b"nothing")
        return b"-ERR unknown command\r\n"


class Client:
    """One connection, and a second one where it watches. A subclass asks in another way."""

    def __init__(self, address: Address, name: str = "mini") -> None:
        self.sock = socket.create_connection((address.host, address.port), timeout=5)
        self._stream = self.sock.makefile("rb")
        self._name = f"{name}:"
        self.session = os.urandom(16)
        self.asked = 0

    def close(self) -> None:
        """Says good-bye, and is not heard."""
        with contextlib.suppress(OSError):
            self.sock.sendall(b"*1\r\n$3\r\nBYE\r\n")
        self._stream.close()
        self.sock.close()

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        """What it sends for a command."""
        return words

    def ask(self, *words: bytes) -> Any:
        """One command and its answer."""
        self.asked += 1
        sent = self.words(*words)
        self.sock.sendall(b"*%d\r\n" % len(sent) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in sent))
        return self._read()

    def _read(self) -> Any:
        line = self._stream.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"*":
            return [self._read() for _ in range(int(rest))]
        if kind == b"$":
            return None if rest == b"-1" else self._stream.read(int(rest) + 2)[:-2]
        return int(rest) if kind == b":" else rest

    def named(self, key: Key) -> bytes:
        """A key as the store has it."""
        return f"{self._name}{key}".encode()

    # The contract's families KeyValue, BatchRead and BatchWrite.
    def prepare(self) -> None:
        """Nothing to do."""

    def clear(self) -> None:
        """Nothing to do."""

    def describe(self) -> Mapping[str, str]:
        """No indexes."""
        return {"indexes": "0"}

    def get(self, key: Key) -> Record | None:
        """GET."""
        return cast("bytes | None", self.ask(b"GET", self.named(key)))

    def put(self, key: Key, record: Record) -> None:
        """SET."""
        self.ask(b"SET", self.named(key), cast(bytes, record))

    def delete(self, key: Key) -> bool:
        """DEL."""
        return bool(self.ask(b"DEL", self.named(key)))

    def exists(self, key: Key) -> bool:
        """GET."""
        return self.get(key) is not None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """MGET."""
        return cast("list[Record | None]", self.ask(b"MGET", *map(self.named, keys)))

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """MSET."""
        self.ask(b"MSET", *(word for key, record in records.items() for word in (self.named(key), cast(bytes, record))))


class Preparing(Client):
    """Asks otherwise from the sixth time on."""

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        """The short name of the command."""
        return (PREPARED[words[0]], *words[1:]) if self.asked > 5 else words


class WithSession(Client):
    """Sends the id of its session with each command."""

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        """With the id."""
        return (*words, b";", self.session)


class WithClock(Client):
    """Sends something that differs each time."""

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        """With the time of the day, as it were."""
        return (*words, b";", b"%08d" % next(_MINUTE))


class WithNumber(Client):
    """Sends something that becomes longer."""

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        """With the number of the command."""
        return (*words, b";", b"x" * (self.asked % 3))


class AskingTwice(Client):
    """Takes two commands for one operation."""

    def get(self, key: Key) -> Record | None:
        """PING and GET."""
        self.ask(b"PING")
        return super().get(key)


class LookingAgain(Client):
    """Asks once more where nothing was found."""

    def delete(self, key: Key) -> bool:
        """DEL, and DEL again."""
        return super().delete(key) or super().delete(key)


class Sorting(Client):
    """Sorts what it writes at once."""

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """MSET in the order of keys."""
        super().put_many(dict(sorted(records.items())))


class Inserting(Client):
    """Has also the family BatchInsert."""

    command = b"MSETNX"

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """One command."""
        return bool(
            self.ask(self.command, *(word for key, record in records.items() for word in (self.named(key), cast(bytes, record)))) == 1
        )


class InsertingOrNot(Inserting):
    """Its store answers with an error that there is a record, which it takes for an answer."""

    command = b"MINSERT"


class Untelling(Client):
    """Its answers look alike whether there is a record or not."""

    def get(self, key: Key) -> Record | None:
        """NULL."""
        found = self.ask(b"NULL", self.named(key))
        return None if found == b"nothing" else cast(bytes, found)


class Corrected(Client):
    """Its store answers with an error that there is no record, which it takes for an answer."""

    def delete(self, key: Key) -> bool:
        """LOSE."""
        return bool(self.ask(b"LOSE", self.named(key)) == b"OK")


class Compressing(Client):
    """Its values are not on the wire as they are."""

    def put(self, key: Key, record: Record) -> None:
        """SET of the value backwards."""
        super().put(key, cast(bytes, record)[::-1])

    def get(self, key: Key) -> Record | None:
        """GET, backwards."""
        found = super().get(key)
        return None if found is None else cast(bytes, found)[::-1]


class Watching(Client):
    """Keeps watching the store over a second connection."""

    def __init__(self, address: Address, name: str = "mini") -> None:
        super().__init__(address, name)
        self._watch = Client(address)

    def ask(self, *words: bytes) -> Any:
        """It looks each time."""
        self._watch.ask(b"PING", b"are you there")
        return super().ask(*words)

    def close(self) -> None:
        """Both."""
        self._watch.close()
        super().close()


def _string(value: bytes | None) -> bytes:
    return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)


@contextlib.contextmanager
def a_store() -> Iterator[Store]:
    """For as long as the block lasts."""
    store = Store()
    try:
        yield store
    finally:
        store.close()
