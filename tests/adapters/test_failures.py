"""How adapters sort what goes wrong: what a server has not is unsupported, and a reply that cannot be read is a wrong one of the server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bson
import psycopg
import pymysql
import pytest
import tarantool
from bson.errors import InvalidBSON
from pymongo.errors import AutoReconnect, BulkWriteError, ConfigurationError, OperationFailure, ProtocolError
from redis.exceptions import ConnectionError as RedisGone
from redis.exceptions import InvalidResponse, ResponseError
from tarantool.error import DatabaseError, NetworkError

from storeproof.adapters import memcached, mongodb, postgresql, redis
from storeproof.adapters.mongodb import link as mongodb_link
from storeproof.adapters.mysql import link as mysql_link
from storeproof.adapters.postgresql import link as postgresql_link
from storeproof.adapters.redis import link as redis_link
from storeproof.adapters.tarantool import link as tarantool_link
from storeproof.contract import Address, GaveUp, Layout, Refused, Unknown, Unsupported, Version, WrongReply
from tests.shipped import SHIPPED

MODELS = SHIPPED.models


@contextmanager
def answering(reply: Callable[[bytes], bytes]) -> Iterator[Address]:
    """A server that answers every piece of a request with what `reply` makes of it."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(link: socket.socket) -> None:
        with link, suppress(OSError):
            while request := link.recv(65536):
                link.sendall(reply(request))

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield Address("127.0.0.1", listening.getsockname()[1])
    finally:
        listening.close()


def memcached_that(**answers: bytes) -> Callable[[bytes], bytes]:
    """Answers by the first word of a request."""
    return lambda request: answers.get(request.split()[0].decode(), b"ERROR\r\n")


STATS = b"STAT libevent 2.1\r\nSTAT lru_crawler_running 0\r\nSTAT slab_global_page_pool 0\r\nEND\r\n"


@pytest.mark.parametrize(
    ("version", "stats", "product"),
    [
        (b"VERSION 1.6.18\r\n", STATS, Version("Memcached", "1.6.18")),
        (b"VERSION 1.6.18\r\n", b"STAT pid 7\r\nEND\r\n", Version("a relative of Memcached", "1.6.18")),
        (b"VERSION 1.6.18\r\n", b"ERROR\r\n", Version("a relative of Memcached", "1.6.18")),
        (b"VERSION mcrouter 41.0\r\n", STATS, Version("mcrouter", "41.0")),
    ],
)
def test_memcached_is_asked_what_it_is(version: bytes, stats: bytes, product: Version) -> None:
    """A server that speaks the protocol but is another product is not called Memcached."""
    with answering(memcached_that(version=version, stats=stats)) as address:
        session = memcached.connect(address, {})
        assert session.version() == product
        session.close()


def test_a_memcached_without_meta_commands_does_not_say_that_there_is_no_item() -> None:
    """A server without meta commands is asked for the item itself, and has no way to tell when it ends."""
    with answering(memcached_that(version=b"VERSION 1.6.18\r\n", stats=STATS, get=b"nonsense\r\n")) as address:
        session = memcached.connect(address, {})
        items: Any = session.collection(Layout("c", MODELS["single_key"]))
        with pytest.raises(Unsupported, match="the server says ERROR"):
            items.expires_in("k")
        for ask in (items.get, items.exists):
            with pytest.raises(WrongReply, match="cannot be read"):
                ask("k")
        session.close()


def test_a_memcached_that_answers_the_value_of_another_key_answers_wrong() -> None:
    """It is the server's fault: Hazelcast leaves out a part of the key."""
    with answering(memcached_that(version=b"VERSION 1.6.18\r\n", get=b"VALUE k 0 1\r\n1\r\nEND\r\n")) as address:
        session = memcached.connect(address, {})
        items: Any = session.collection(Layout("c", MODELS["counter"]))
        with pytest.raises(WrongReply, match="another key"):
            items.get("k")
        session.close()


@pytest.mark.parametrize("first", [b"", b"OK\r\n"])
def test_the_keys_of_old_and_new_versions_of_memcached_are_read(first: bytes) -> None:
    """1.6.45 begins its list of keys with a line that 1.6.18 leaves out."""
    listed = first + b"key=c%3Ak exp=-1 la=1 cas=2 fetch=no cls=1 size=62\nkey=d%3Ak exp=-1\nEND\r\n"
    with answering(memcached_that(version=b"VERSION 1.6.45\r\n", stats=STATS, lru_crawler=listed)) as address:
        session = memcached.connect(address, {})
        assert session.keys(b"c:") == [b"c:k"]
        session.close()


@pytest.mark.parametrize("reply", [b"?what\r\n", b"$x\r\n", b":1x\r\n"])
def test_a_reply_that_redis_py_cannot_read_is_wrong(reply: bytes) -> None:
    """A malformed reply of Redis raises WrongReply."""
    with answering(lambda request: reply if b"GET" in request else b"+OK\r\n") as address:
        session = redis.connect(address, {})
        with pytest.raises(WrongReply):
            session.run("GET", "k")
        session.close()


def mongo_that(details: dict[str, Any], there: bool, **build: Any) -> Callable[[bytes], bytes]:
    """Answers an insert with these details of an error, a find with the record or without, and buildInfo with `build` too."""
    hello = {"ok": 1.0, "isWritablePrimary": True, "maxWireVersion": 21, "minWireVersion": 0, "maxBsonObjectSize": 2**24}
    hello |= {"maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000, "helloOk": True}

    def reply(request: bytes) -> bytes:
        number, code = request[4:8], int.from_bytes(request[12:16], "little")
        if code == 2004:  # OP_QUERY, of the first hello
            body = bytes(4) + bytes(8) + bytes(4) + (1).to_bytes(4, "little") + bson.encode(hello)
            return (16 + len(body)).to_bytes(4, "little") + bytes(4) + number + (1).to_bytes(4, "little") + body
        asked = bson.decode(request[21 : 21 + int.from_bytes(request[21:25], "little")])
        if "insert" in asked:
            answer: dict[str, Any] = {"ok": 1.0, "n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "duplicate", **details}]}
        elif "aggregate" in asked or "find" in asked:
            batch = [{"_id": "k", "n": 1, "value": b""}] if there else []
            answer = {"ok": 1.0, "cursor": {"id": 0, "ns": "storeproof.c", "firstBatch": batch}}
        elif "buildInfo" in asked:
            answer = {"ok": 1.0, "version": "7.0.1", **build}
        elif "getParameter" in asked:
            answer = {"ok": 0.0, "code": 59, "errmsg": "no such command: getParameter"}
        else:
            answer = hello
        body = bytes(5) + bson.encode(answer)
        return (16 + len(body)).to_bytes(4, "little") + bytes(4) + number + (2013).to_bytes(4, "little") + body

    return reply


@pytest.mark.parametrize(
    ("details", "there", "taken"),
    [
        ({"keyPattern": {"_id": 1}}, True, True),
        ({}, True, True),
        ({}, False, False),
        ({"keyPattern": {"name": 1}}, True, False),
    ],
)
def test_the_code_of_a_duplicate_key_alone_will_do(details: dict[str, Any], there: bool, taken: bool) -> None:
    """Relatives of MongoDB send no pattern of the index: then it is the key's, if there is a record with that key."""
    with answering(mongo_that(details, there)) as address:
        session = mongodb.connect(address, {})
        records: Any = session.collection(Layout("c", MODELS["single_key"]))
        if taken:
            assert records.put_if_absent("k", b"v") is False
            assert records.insert_many({"k": b"v", "l": b"w"}) is False
        else:
            with pytest.raises(Refused):
                records.put_if_absent("k", b"v")
            with pytest.raises(Refused):
                records.insert_many({"k": b"v", "l": b"w"})
        session.close()


def test_what_a_relative_of_mongodb_does_not_tell_is_not_reported() -> None:
    """A setting that a MongoDB-compatible server does not have reads as `(not reported)`."""
    with answering(mongo_that({}, there=False)) as address:
        session = mongodb.connect(address, {})
        assert session.read_settings(["storageEngine", "wiredTigerCacheSizeGB", "ttlMonitorEnabled"]) == dict.fromkeys(
            ["storageEngine", "wiredTigerCacheSizeGB", "ttlMonitorEnabled"], "(not reported)"
        )
        with pytest.raises(Unsupported, match="the server says: "):
            session._link.command("getParameter", 1, x=1)
        session.close()


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit", "15.14"),
        ("PostgreSQL 17.0 on x86_64-pc-linux-musl, compiled by gcc (Alpine 13.2.1) 13.2.1 20240309, 64-bit", "17.0"),
        ("PostgreSQL 18beta1, compiled by Visual C++ build 1942, 64-bit", "18beta1"),
        ("PostgreSQL 8.2.23 server protocol using H2 2.2.224 (2023-09-17)", None),
        ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017, Redshift 1.0.12103", None),
        ("PostgreSQL 9.4.26 (Greenplum Database 6.25.3) on x86_64-unknown-linux-gnu, compiled by gcc (GCC) 6.4.0, 64-bit", None),
        ("PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 15.0.3, 64-bit", None),
        ("CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)", None),
        ("", None),
    ],
)  # fmt: skip
def test_only_postgresql_is_postgresql(text: str, product: str | None) -> None:
    """Servers that only speak PostgreSQL's protocol are reported under their own names."""
    found = postgresql.product_of(text)
    assert (found == Version("PostgreSQL", product)) if product else found.product != "PostgreSQL"


class _Refusal(psycopg.errors.FeatureNotSupported):
    """As the server's own: libpq fills in what is seen of it."""

    diag: Any = type("Diag", (), {"severity_nonlocalized": "ERROR"})()


class _SyntaxError(psycopg.errors.SyntaxError):
    """As H2's: it has no severity that is the same in all languages."""

    diag: Any = type("Diag", (), {"severity_nonlocalized": None, "severity": "ERROR"})()


def _stumbled() -> Exception:
    """What the connector raises for a reply that is no MessagePack."""
    connection: Any = type("Connection", (), {"_unpacker_factory": lambda self: tarantool.response.unpacker_factory(self)})()
    connection.use_list, connection.encoding = True, "utf-8"
    try:
        tarantool.response.Response(connection, b"\xc1")
    except Exception as reason:  # noqa: BLE001 - whatever it is
        return reason
    raise AssertionError("it took the reply")


def _without_length() -> Exception:
    """What it raises where the length of a reply is no number of MessagePack."""
    connection: Any = type("Connection", (), {"_recv": lambda self, size: bytes(size)})()
    try:
        tarantool.Connection._read_response(connection)
    except Exception as reason:  # noqa: BLE001 - whatever it is
        return reason
    raise AssertionError("it took the length")


@pytest.mark.parametrize(
    ("sort", "reason", "kind"),
    [
        (redis_link.failure_of, ResponseError("unknown command 'HGETDEL', with args beginning with: "), Unsupported),
        (redis_link.failure_of, ResponseError("WRONGTYPE Operation against a key"), Refused),
        (redis_link.failure_of, InvalidResponse("Protocol Error: b'?'"), WrongReply),
        (redis_link.failure_of, RedisGone("closed"), Unknown),
        (mysql_link.failure_of, pymysql.OperationalError(1205, "Lock wait timeout exceeded"), GaveUp),
        (mysql_link.failure_of, pymysql.OperationalError(1213, "Deadlock found"), Refused),
        (mongodb_link._failure_of, OperationFailure("no such command", 59), Unsupported),
        (mongodb_link._failure_of, OperationFailure("not implemented", 238), Unsupported),
        (mongodb_link._failure_of, OperationFailure("Feature not supported: $lookup", 303), Unsupported),
        (mongodb_link._failure_of, OperationFailure("bad value", 2), Refused),
        (mongodb_link._failure_of, ConfigurationError("Server at x:1 reports wire version 8, but this version of PyMongo"), Unsupported),
        (mongodb_link._failure_of, BulkWriteError({"writeErrors": [{"errmsg": "bad"}], "nInserted": 0}), Refused),
        (mongodb_link._failure_of, BulkWriteError({"writeErrors": [{"errmsg": "bad"}], "nInserted": 1}), Unknown),
        (mongodb_link._failure_of, InvalidBSON("no"), WrongReply),
        (mongodb_link._failure_of, ProtocolError("Got opcode 3"), WrongReply),
        (mongodb_link._failure_of, KeyError("cursor"), WrongReply),
        (mongodb_link._failure_of, AutoReconnect("closed"), Unknown),
        (mongodb_link._failure_of_many, OperationFailure("no such command", 59), Unsupported),
        (mysql_link.failure_of, pymysql.OperationalError(1235, "not yet"), Unsupported),
        (mysql_link.failure_of, pymysql.OperationalError(2059, "Authentication plugin 'gssapi' not configured"), Unsupported),
        (mysql_link.failure_of, pymysql.OperationalError(2027, "malformed packet"), WrongReply),
        (mysql_link.failure_of, pymysql.InternalError("Packet sequence number wrong - got 3 expected 1"), WrongReply),
        (mysql_link.failure_of, pymysql.OperationalError(2013, "lost"), Unknown),
        (mysql_link.failure_of, pymysql.IntegrityError(1062, "duplicate"), Refused),
        (mysql_link.failure_of, pymysql.OperationalError(1290, "--super-read-only"), Refused),
        # A member that lost its group: the others may have what it could not commit.
        (mysql_link.failure_of, pymysql.OperationalError(3100, "Error on observer while running 'before_commit'"), Unknown),
        (mysql_link.failure_of, pymysql.OperationalError(3101, "Plugin instructed the server to rollback"), Unknown),
        (mysql_link.failure_of, pymysql.InternalError(144, "Table is marked as crashed and last (automatic?) repair failed"), Refused),
        (mysql_link.failure_of, pymysql.InternalError(127, "Record file is crashed"), Refused),
        (mysql_link.failure_of, pymysql.InternalError(175, "File too short; Expected more data in file"), Refused),
        (mysql_link.failure_of, pymysql.InternalError(176, "Read page with wrong checksum"), Refused),
        (mysql_link.failure_of, pymysql.InternalError(28, "No space left on device"), Unknown),
        (postgresql_link._failure_of, _Refusal("no"), Unsupported),
        (postgresql_link._failure_of, _SyntaxError("no ON CONFLICT"), Refused),
        (postgresql_link._failure_of, psycopg.OperationalError('lost synchronization with server: got message type "x"'), WrongReply),
        (postgresql_link._failure_of, psycopg.OperationalError("server closed the connection unexpectedly"), Unknown),
        (postgresql._no_connection, "FATAL:  unsupported frontend protocol 3.0: server supports 2.0 to 2.0", Unsupported),
        (postgresql._no_connection, "expected authentication request from server, but received H", WrongReply),
        (postgresql._no_connection, "authentication method 13 not supported", Unsupported),
        (postgresql._no_connection, 'FATAL:  password authentication failed for user "x"', Refused),
        (postgresql._no_connection, "Connection refused", Unknown),
        (tarantool_link._failure_of, DatabaseError(5, "Vinyl does not support"), Unsupported),
        (tarantool_link._failure_of, DatabaseError(3, "Duplicate key"), Refused),
        (tarantool_link._failure_of, NetworkError("closed"), Unknown),
        (tarantool_link._failure_of, NetworkError("Unsupported protocol: HTTP"), WrongReply),
        (tarantool_link._failure_of, _stumbled(), WrongReply),
        (tarantool_link._failure_of, _without_length(), WrongReply),
        (tarantool_link._failure_of, TypeError("cannot be packed"), Refused),
    ],
    ids=lambda value: f"{type(value).__name__}-{value}"[:50] if isinstance(value, Exception) else None,
)  # fmt: skip
def test_driver_errors_are_mapped(sort: Callable[[Any], Exception], reason: Exception | str, kind: type[Exception]) -> None:
    """Each driver error becomes the error of the contract: refused, unknown, unsupported or a wrong reply."""
    assert type(sort(reason)) is kind, sort(reason)
