"""As much of each store's protocol as a server must speak to be believed for a moment, and how a message of it is spoiled."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

import bson
import msgpack

Reader = Any
"""A buffered file over the connection: `read(n)` and `readline()`; short at its end."""

ABSURD: Final = "\x1b[2J\x1b]0;owned\x07\u202e" + "9" * 1_000_000
"""A version, or an error: it clears the screen, names the window, turns the direction of writing, and has a megabyte."""


class Ended(Exception):
    """The client has gone."""


class Protocol(ABC):
    """The server's side."""

    opening = b""
    """What a server says first."""
    line = b""
    """The beginning of a message that ends where its text ends."""
    huge = b""
    """The beginning of a message that says it is as long as the protocol can say."""
    nest = b""
    """What opens one more level, again and again, after `nested`."""
    nested = b""

    def __init__(self, version: str) -> None:
        self.version = version

    def hear(self, reader: Reader) -> None:  # noqa: B027 - most need not
        """Read of the first request what its answer must have to be looked at."""

    @abstractmethod
    def reply(self, reader: Reader) -> bytes | None:
        """Read one request and answer it; None for one that comes after the handshake and the version. Raises `Ended`."""

    @abstractmethod
    def error(self, text: bytes) -> bytes:
        """What refuses the first request with this text."""


def exactly(reader: Reader, number: int) -> bytes:
    """That many bytes."""
    found: bytes = reader.read(number)
    if len(found) < number:
        raise Ended
    return found


def _line(reader: Reader) -> bytes:
    found: bytes = reader.readline()
    if not found.endswith(b"\n"):
        raise Ended
    return found.strip()


class Resp(Protocol):
    """Redis."""

    product = "redis"
    line = b"+"
    huge = b"$2147483647\r\n"
    nest = b"*1\r\n"

    def reply(self, reader: Reader) -> bytes | None:
        command = [exactly(reader, int(_line(reader)[1:]) + 2)[:-2] for _ in range(int(_line(reader)[1:]))]
        match command[0].upper():
            case b"HELLO":
                return b"-ERR unknown command 'HELLO'\r\n" if command[1:2] != [b"3"] else b"%1\r\n$5\r\nproto\r\n:3\r\n"
            case b"INFO":
                text = f"# Server\r\n{self.product}_version:{self.version}\r\n".encode()
                return b"$%d\r\n%s\r\n" % (len(text), text)
            case b"PING":
                return b"+PONG\r\n"
            case b"CLIENT" | b"AUTH" | b"SELECT":
                return b"+OK\r\n"
        return None

    def error(self, text: bytes) -> bytes:
        return b"-ERR " + text + b"\r\n"


class Valkey(Resp):
    """The same, by its own name."""

    product = "valkey"


class Memcached(Protocol):
    """Its text protocol."""

    line = b"VERSION "
    huge = b"VALUE visit 0 2147483647\r\n"
    nest = b"VALUE visit 0 1\r\n"

    def reply(self, reader: Reader) -> bytes | None:
        return f"VERSION {self.version}\r\n".encode() if _line(reader) == b"version" else None

    def error(self, text: bytes) -> bytes:
        return b"SERVER_ERROR " + text + b"\r\n"


class Iproto(Protocol):
    """Tarantool."""

    opening = b"Tarantool 2.6.0 (Binary) 5a6c2f5e-9c4c-4c6c-8f5d-9f2d6d1c7a11".ljust(63) + b"\n" + (b"A" * 43 + b"=").ljust(63) + b"\n"
    line = opening + b"\xce\x00\xff\xff\xff\x82\x00\xcf"
    huge = opening + b"\xce\xff\xff\xff\xff"
    nested = opening + b"\xce\x00\x10\x00\x00\x81\x00"
    nest = b"\x91"

    def reply(self, reader: Reader) -> bytes | None:
        first = exactly(reader, 1)
        size = msgpack.unpackb(first + exactly(reader, {0xCC: 1, 0xCD: 2, 0xCE: 4}.get(first[0], 0)))
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        unpacker.feed(exactly(reader, size))
        header, body = unpacker.unpack(), unpacker.unpack()
        number, text = header[0x01], str(body.get(0x27, ""))
        if header[0x00] != 0x08:  # not eval: the handshake, or the schema
            return _iproto(number, 0, {0x30: [], 0x54: 4, 0x55: []})
        if "box.info.version" in text:
            return _iproto(number, 0, {0x30: ["Tarantool", self.version]})
        return _iproto(number, 0, {0x30: ["running"]}) if "box.info.status" in text else None

    def error(self, text: bytes) -> bytes:
        return self.opening + _iproto(0, 0x8000 | 42, {0x31: text.decode()})


def _iproto(number: int, code: int, body: Mapping[int, Any]) -> bytes:
    message = msgpack.packb({0x00: code, 0x01: number, 0x05: 1}) + msgpack.packb(body)
    return b"\xce" + struct.pack(">I", len(message)) + message


class Mongo(Protocol):
    """OP_MSG."""

    def hear(self, reader: Reader) -> None:
        size, number, _, code = struct.unpack("<iiii", exactly(reader, 16))
        exactly(reader, size - 16)
        self._old, self._number = code == 2004, number
        self.line = self._long(47_000_000) + b"\x02ok\0" + struct.pack("<i", 46_000_000)
        self.huge = struct.pack("<iiii", 2**31 - 1, 1, number, 1 if self._old else 2013)
        self.nested = self._long(47_000_000)
        self.nest = b"\x03a\0" + struct.pack("<i", 45_000_000)

    def _long(self, size: int) -> bytes:
        """The beginning of a reply whose document has a number of bytes."""
        body = struct.pack("<iqii", 8, 0, 0, 1) if self._old else struct.pack("<I", 0) + b"\0"
        return struct.pack("<iiii", size + len(body) + 16, 1, self._number, 1 if self._old else 2013) + body + struct.pack("<i", size)

    def reply(self, reader: Reader) -> bytes | None:
        size, number, _, code = struct.unpack("<iiii", exactly(reader, 16))
        rest = exactly(reader, size - 16)
        if code == 2004:  # OP_QUERY, of a client that does not yet know us
            return _mongo(number, bson.encode({**_HELLO, "ok": 1.0}), old=True)
        name = next(iter(bson.decode(rest[5:])))
        if name.lower() in ("hello", "ismaster"):
            return _mongo(number, bson.encode({**_HELLO, "ok": 1.0}))
        if name == "listCollections":
            return _mongo(number, bson.encode({"cursor": {"id": 0, "ns": "a.$cmd.listCollections", "firstBatch": []}, "ok": 1.0}))
        if name in ("ping", "endSessions"):
            return _mongo(number, bson.encode({"ok": 1.0}))
        return _mongo(number, bson.encode({"version": self.version, "ok": 1.0})) if name.lower() == "buildinfo" else None

    def error(self, text: bytes) -> bytes:
        refusal = {"ok": 0.0, "code": 13, "codeName": "Unauthorized", "errmsg": text.decode()}
        return _mongo(self._number, bson.encode(refusal), old=self._old)


_HELLO: Final = {
    "helloOk": True,
    "isWritablePrimary": True,
    "ismaster": True,
    "maxBsonObjectSize": 2**24,
    "maxMessageSizeBytes": 48_000_000,
    "maxWriteBatchSize": 100_000,
    "minWireVersion": 0,
    "maxWireVersion": 21,
}


def _mongo(number: int, document: bytes, old: bool = False) -> bytes:
    body = struct.pack("<iqii", 8, 0, 0, 1) + document if old else struct.pack("<I", 0) + b"\0" + document
    return struct.pack("<iiii", len(body) + 16, 1, number, 1 if old else 2013) + body


class MySql(Protocol):
    """MariaDB."""

    huge = (b"\xff\xff\xff\x00" + b"\n" + b"1" * (2**24 - 2)) * 2
    line = b"\xff\xff\xff\x00\n"
    nest = b"\xff\xff\xff\x00\n"  # one packet is the next one's beginning, and so on

    def __init__(self, version: str) -> None:
        super().__init__(version)
        able = struct.pack("<HBHHB", 0xFFFF, 45, 2, 0xC1FF, 21)
        greeting = b"\n" + version.encode() + b"\0" + struct.pack("<I", 7) + b"saltsalt\0" + able
        self.opening = _packet(0, greeting + bytes(10) + b"saltsaltsalt\0mysql_native_password\0")
        self._greeted = False

    def reply(self, reader: Reader) -> bytes | None:
        size = int.from_bytes(exactly(reader, 4)[:3], "little")
        request = exactly(reader, size)
        done = b"\0\0\0\2\0\0\0"
        if not self._greeted:
            self._greeted = True
            return _packet(2, done)
        if b"aria_block_size" in request:
            facts = {"version": self.version, "version_comment": "MariaDB", "aria_block_size": "8192", "max_allowed_packet": "16777216"}
            rows = [_text(name) + _text(value) for name, value in facts.items()]
            columns = [_column(name) for name in ("Variable_name", "Value")]
            end = b"\xfe\0\0\2\0"
            return b"".join(_packet(n, part) for n, part in enumerate([b"\2", *columns, end, *rows, end], 1))
        return None if request[:1] == b"\3" and request[1:].lstrip()[:4].upper() not in (b"SET ", b"SET@", b"USE ") else _packet(1, done)

    def error(self, text: bytes) -> bytes:
        return _packet(0, b"\xff" + struct.pack("<H", 1045) + b"#28000" + text)


def _packet(number: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([number % 256]) + body


def _text(text: str) -> bytes:
    body = text.encode()
    return (bytes([len(body)]) if len(body) < 251 else b"\xfd" + len(body).to_bytes(3, "little")) + body


def _column(name: str) -> bytes:
    return b"".join(map(_text, ("def", "", "", "", name, name))) + b"\x0c" + struct.pack("<HIBHB", 45, 2**20, 253, 0, 0) + b"\0\0"


class Postgres(Protocol):
    """PostgreSQL."""

    line = b"E\x3f\xff\xff\xffMserver says "
    huge = b"R\x7f\xff\xff\xff"
    nested = b"S\x3f\xff\xff\xff"
    nest = b"S\x00\x00\x00\x05"

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self._started = False

    def reply(self, reader: Reader) -> bytes | None:
        ready = b"Z\0\0\0\5I"
        if not self._started:
            self._started = True
            exactly(reader, int.from_bytes(exactly(reader, 4), "big") - 4)
            told = {"server_version": "15.18", "client_encoding": "UTF8", "standard_conforming_strings": "on"}
            status = [_message(b"S", f"{name}\0{value}\0".encode()) for name, value in told.items()]
            return b"".join([_message(b"R", struct.pack(">I", 0)), *status, _message(b"K", bytes(8)), ready])
        column = _message(b"T", struct.pack(">H", 1) + b"version\0" + struct.pack(">IHIhih", 0, 0, 25, -1, -1, 1))
        value = f"PostgreSQL {self.version} on x86_64-pc-linux-gnu, compiled by gcc, 64-bit".encode()
        row = _message(b"D", struct.pack(">HI", 1, len(value)) + value) + _message(b"C", b"SELECT 1\0")
        answer = b""
        while True:
            kind, size = struct.unpack(">cI", exactly(reader, 5))
            body = exactly(reader, size - 4)
            if kind == b"X":
                raise Ended
            if kind in (b"P", b"Q") and b"version()" not in body:
                return None
            if kind == b"Q":
                return column + row + ready
            if kind == b"S":
                return answer + ready
            answer += {b"P": b"1\0\0\0\4", b"B": b"2\0\0\0\4", b"D": column, b"E": row}.get(kind, b"")

    def error(self, text: bytes) -> bytes:
        return _message(b"E", b"SFATAL\0VFATAL\0C28P01\0M" + text + b"\0\0")


class Etcd(Protocol):
    """etcd's gateway: JSON over HTTP."""

    line = b"HTTP/1.1 200 OK\r\nContent-Length: 46\r\nX-Etcd: "
    huge = b"HTTP/1.1 200 OK\r\nContent-Length: 2147483647\r\n\r\n"
    nested = huge
    nest = b"["

    def hear(self, reader: Reader) -> None:
        size = 0
        while line := _line(reader):
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        exactly(reader, size)

    def reply(self, reader: Reader) -> bytes | None:
        return None

    def error(self, text: bytes) -> bytes:
        return b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n" % len(text) + text


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


PROTOCOLS: Final[Mapping[str, type[Protocol]]] = {
    "redis": Resp,
    "valkey": Valkey,
    "memcached": Memcached,
    "tarantool": Iproto,
    "mongodb": Mongo,
    "mariadb": MySql,
    "postgresql": Postgres,
}
"""By store."""
