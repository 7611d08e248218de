"""Redis, and what speaks its protocol (Valkey), through redis-py.

A record is one Redis key, `<collection>:<key>`: a string for values and counters, a hash for hashes and rows, and Redis'
own list, set and sorted set. What Redis has no single command for (replace a whole hash, compare and set) is one Lua script:
it runs inside the store, atomically, and is one request. It counts no namespace, orders no keys, and without modules
(Redis 8 brings some along) has no documents and no secondary indexes: those are not used here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from storeproof.adapters.redis import scripts
from storeproof.adapters.redis.collection import Named, RedisCollection, rewrite
from storeproof.adapters.redis.feed import Followed
from storeproof.adapters.redis.link import FAILURES, RedisLink, failure_of
from storeproof.adapters.redis.managed import service, settings_of
from storeproof.adapters.redis.scripts import Script
from storeproof.adapters.redis.sentinel import SentinelCluster
from storeproof.adapters.redis.structures import Places, Queues, Rankings, Sets
from storeproof.contract import (
    Address,
    ExactExpiry,
    Key,
    Layout,
    Record,
    Refused,
    Row,
    Unknown,
    Unsupported,
    Version,
    WrongReply,
)
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_WAIT: Final = "wait"
"""The option: how many replicas must have a write before it is acknowledged."""

_KIN: Final = {"valkey_version": "Valkey", "dragonfly_version": "Dragonfly", "kvrocks_version": "Kvrocks", "garnet_version": "Garnet"}
"""What INFO of other servers with this protocol has and that of Redis has not."""


class RedisSession(RedisLink):
    unsupported_because: Mapping[str, str] = {"Transactions": "between MULTI and EXEC commands are only queued, so reads return nothing"}

    def __init__(self, client: redis.Redis, service: str | None = None, replicas: int = 0) -> None:
        """`service`: whose managed Redis this is, where the host name says so. `replicas`: see `RedisLink`."""
        super().__init__(client, replicas)
        self._service = service

    def version(self) -> Version:
        """By INFO. Valkey also gives a `redis_version`, the one that it is compatible with: its own comes first."""
        try:
            found = self.run("INFO", "server")
        except Unsupported:
            return self._greeting()
        if self._service is not None:
            return Version(self._service, str(found["redis_version"]))
        for field, product in _KIN.items():
            if field in found:
                return Version(product, str(found[field]))
        return Version("Redis", str(found["redis_version"])) if "redis_version" in found else self._greeting()

    def _greeting(self) -> Version:
        """By HELLO, where INFO does not tell: it names the server, and the version of Redis that a relative takes itself for."""
        told = self.run("HELLO", 2)
        pairs = told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
        said = {_text(name): _text(value) for name, value in pairs.items()}
        if "server" not in said:
            raise WrongReply(f"neither INFO nor HELLO names the server: {told!r}"[:300])
        version = said.get("version", "(not told)")
        return Version(said["server"], f"(like Redis {version})")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """By CONFIG GET, or INFO where CONFIG is closed; a setting that the server does not have, or does not tell, is left out."""
        live: dict[str, str] = {}
        try:
            for name in names:
                live.update((key, value) for key, value in self.run("CONFIG GET", name).items() if key == name)
        except (Refused, Unsupported):
            return settings_of(names, self.run("INFO"))
        return live

    def compact(self) -> str:
        """BGREWRITEAOF or BGSAVE: see `rewrite`."""
        return rewrite(self.run)

    def collection(self, layout: Layout) -> Named:
        if layout.indexes:
            raise Unsupported("without modules there are no secondary indexes")
        record = layout.model.record
        if isinstance(record, shapes.Value):
            return Values(self, layout)
        if isinstance(record, shapes.CounterRecord):
            return Counters(self, layout)
        if isinstance(record, shapes.Hash):
            return Hashes(self, layout)
        if isinstance(record, shapes.RowRecord):
            return Rows(self, layout)
        if isinstance(record, shapes.QueueRecord):
            return Queues(self, layout)
        if isinstance(record, shapes.MembersRecord):
            return Sets(self, layout)
        if isinstance(record, shapes.RankingRecord):
            return Rankings(self, layout)
        if isinstance(record, shapes.PlacesRecord):
            return Places(self, layout)
        raise Unsupported(f"without modules there are no documents with paths: {layout.model.model}")


class Strings(Followed, ExactExpiry, RedisCollection):
    """Strings, whatever they mean."""

    def _record(self, value: bytes) -> Record:
        raise NotImplementedError

    def get(self, key: Key) -> Record | None:
        value = self._run("GET", f"{self._prefix}{key}")
        return None if value is None else self._record(value)

    def put(self, key: Key, record: Record) -> None:
        self._run("SET", f"{self._prefix}{key}", record)

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """GETSET; SET with GET is younger than many servers."""
        value = self._run("GETSET", f"{self._prefix}{key}", record)
        return None if value is None else self._record(value)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        values = self._run("MGET", *[f"{self._prefix}{key}" for key in keys]) if keys else []
        return [None if value is None else self._record(value) for value in values]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if records:
            self._run("MSET", *[item for key, record in records.items() for item in (f"{self._prefix}{key}", record)])

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        pairs = [item for key, record in records.items() for item in (f"{self._prefix}{key}", record)]
        return not pairs or bool(self._run("MSETNX", *pairs) == 1)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return self._run("SET", f"{self._prefix}{key}", record, "NX") is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A script; SET IFEQ is younger than most servers."""
        return bool(self._session.script(scripts.COMPARE_AND_SET_STRING, [f"{self._prefix}{key}"], (expected, record)) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self._run("SET", f"{self._prefix}{key}", record, "EX", seconds)


class Values(Strings):
    """Bytes as they are."""

    def _record(self, value: bytes) -> Record:
        return value

    def append(self, key: Key, value: bytes) -> None:
        self._run("APPEND", f"{self._prefix}{key}", value)

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        """MULTI with a GET of each, then a SET of each."""
        commands: list[Sequence[Any]] = [("GET", f"{self._prefix}{key}") for key in reads]
        commands += [("SET", f"{self._prefix}{key}", record) for key, record in writes.items()]
        return self._session.together(commands)[: len(reads)]


class Counters(Strings):
    """Strings that Redis counts in: decimal, 64 bits, signed."""

    def _record(self, value: bytes) -> Record:
        return int(value)

    def increment(self, key: Key, by: int) -> int:
        """INCRBY; a sum beyond 64 bits is refused."""
        return int(self._run("INCRBY", f"{self._prefix}{key}", by))

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        if amount < 0:
            raise Refused(f"an amount is not negative; found {amount}")
        return bool(self._session.script(scripts.TRANSFER, [f"{self._prefix}{source}", f"{self._prefix}{target}"], (amount,)) == 1)


class HashRecords(ExactExpiry, RedisCollection):
    """Records that are Redis hashes, whatever their fields mean."""

    def _pairs(self, record: Record) -> list[Any]:
        """The record as field, value, field, value ..."""
        raise NotImplementedError

    def _record(self, found: Mapping[bytes, bytes]) -> Record:
        raise NotImplementedError

    def get(self, key: Key) -> Record | None:
        """HGETALL; Redis knows no hash without fields."""
        found = self._run("HGETALL", f"{self._prefix}{key}")
        return self._record(found) if found else None

    def put(self, key: Key, record: Record) -> None:
        """DEL and HSET in one script: HSET alone would leave the fields that the new record lacks."""
        self._session.script(scripts.PUT, [f"{self._prefix}{key}"], self._pairs(record))

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """HGETALL, DEL and HSET in one script."""
        flat = self._session.script(scripts.GET_AND_SET, [f"{self._prefix}{key}"], self._pairs(record))
        return self._record(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """HGETALL of each in one script."""
        if not keys:
            return []
        replies = self._session.script(scripts.GET_MANY, [f"{self._prefix}{key}" for key in keys], ())
        return [self._record(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None for flat in replies]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """DEL and HSET of each in one script: the batch is atomic."""
        if records:
            self._batch(scripts.PUT_MANY, records)

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """EXISTS of each, then HSET of each, in one script."""
        return not records or bool(self._batch(scripts.INSERT_MANY, records) == 1)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """EXISTS and HSET in one script."""
        return bool(self._session.script(scripts.PUT_IF_ABSENT, [f"{self._prefix}{key}"], self._pairs(record)) == 1)

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Field by field in one script."""
        wanted = self._pairs(expected)
        args = [len(wanted) // 2, *wanted, *self._pairs(record)]
        return bool(self._session.script(scripts.COMPARE_AND_SET, [f"{self._prefix}{key}"], args) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self._session.script(scripts.PUT_EXPIRING, [f"{self._prefix}{key}"], [seconds, *self._pairs(record)])

    def _batch(self, script: Script, records: Mapping[Key, Record]) -> Any:
        pairs = [self._pairs(record) for record in records.values()]
        args = [len(each) for each in pairs] + [item for each in pairs for item in each]
        return self._session.script(script, [f"{self._prefix}{key}" for key in records], args)


class Hashes(HashRecords):
    """Hashes. Redis removes one with its last field."""

    def __init__(self, session: RedisSession, layout: Layout) -> None:
        super().__init__(session, layout)
        assert isinstance(layout.model.record, shapes.Hash)
        self._fields = frozenset(layout.model.record.fields)

    def put(self, key: Key, record: Record) -> None:
        """HSET, where the record has every field of its model, so that nothing of an older one is left; else the script."""
        assert isinstance(record, dict)
        if record.keys() == self._fields:
            self._run("HSET", f"{self._prefix}{key}", *self._pairs(record))
        else:
            super().put(key, record)

    def _pairs(self, record: Record) -> list[Any]:
        assert isinstance(record, dict)
        return [item for pair in record.items() for item in pair]

    def _record(self, found: Mapping[bytes, bytes]) -> Record:
        return {field.decode(): value for field, value in found.items()}

    def get_field(self, key: Key, field: str) -> bytes | None:
        value: bytes | None = self._run("HGET", f"{self._prefix}{key}", field)
        return value

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self._run("HSET", f"{self._prefix}{key}", field, value)

    def delete_field(self, key: Key, field: str) -> bool:
        return bool(self._run("HDEL", f"{self._prefix}{key}", field) == 1)

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        values: list[bytes | None] = self._run("HMGET", f"{self._prefix}{key}", *fields) if fields else []
        return values

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        if values:
            self._run("HSET", f"{self._prefix}{key}", *[item for pair in values.items() for item in pair])

    def increment_field(self, key: Key, field: str, by: int) -> int:
        """HINCRBY; a sum beyond 64 bits is refused."""
        return int(self._run("HINCRBY", f"{self._prefix}{key}", field, by))


class Rows(HashRecords):
    """Rows as hashes of two fields; a double is written with the digits that read back as the same double."""

    def _pairs(self, record: Record) -> list[Any]:
        assert isinstance(record, Row)
        return ["integer", record.integer, "real", record.real]

    def _record(self, found: Mapping[bytes, bytes]) -> Record:
        return Row(int(found[b"integer"]), float(found[b"real"]))

    def get(self, key: Key) -> Record | None:
        integer, real = self._run("HMGET", f"{self._prefix}{key}", "integer", "real")
        return None if integer is None else Row(int(integer), float(real))

    def put(self, key: Key, record: Record) -> None:
        """HSET: a row always has both fields, so that nothing of an older one is left."""
        self._run("HSET", f"{self._prefix}{key}", *self._pairs(record))


def client(address: Address, options: Mapping[str, str]) -> redis.Redis:
    """The client for one connection, which is not open yet. Raises `Refused`: an option, or a database that is not a number."""
    if options:
        raise Refused(f"the adapter does not have these options: {', '.join(options)}")
    database = address.database or "0"
    if not database.isdigit():
        raise Refused(f"a Redis database is a number; found {database}")
    try:
        return redis.Redis(
            host=address.host,
            port=address.port,
            db=int(database),
            username=address.user,
            password=address.password,
            ssl=address.tls,
            ssl_cert_reqs="required",
            ssl_check_hostname=True,
            protocol=2,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            single_connection_client=True,
        )
    except FAILURES as reason:
        raise failure_of(reason) from reason


def connect(address: Address, options: Mapping[str, str]) -> RedisSession:
    """Open one authenticated session.

    Raises:
        Refused: wrong credentials, or no such database.
        Unknown: no server answers, or the server still loads its data.
    """
    replicas = _replicas(options)
    others = {name: value for name, value in options.items() if name != _WAIT}
    session = RedisSession(client(address, others), service(address), replicas)
    try:
        session.run("PING")
    except (Refused, Unknown):
        session.close()
        raise
    return session


def cluster(options: Mapping[str, str]) -> SentinelCluster:
    return SentinelCluster(options)


def _replicas(options: Mapping[str, str]) -> int:
    """The number in the option `wait`; 0 without it."""
    text = options.get(_WAIT, "0")
    if not (text.isascii() and text.isdecimal()):
        raise Refused(f"the option `{_WAIT}` is a number of replicas; found {text}")
    return int(text)


def _text(told: Any) -> str:
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
