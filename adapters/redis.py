"""Redis, and what speaks its protocol (Valkey), through redis-py.

A record is one Redis key, `<collection>:<key>`: a string for values and counters, a hash for hashes and rows, and Redis'
own list, set and sorted set. What Redis has no single command for (replace a whole hash, compare and set) is one Lua script:
it runs inside the store, atomically, and is one request. Redis counts no namespace, orders no keys and has no secondary
indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, DataError, NoScriptError, RedisError, ResponseError
from redis.retry import Retry

from storeproof.adapters.redis_scripts import (
    COMPARE_AND_SET,
    COMPARE_AND_SET_STRING,
    GET_AND_SET,
    GET_MANY,
    PERSIST,
    PUT,
    PUT_EXPIRING,
    PUT_IF_ABSENT,
    PUT_LIST,
    PUT_MANY,
    PUT_RANKING,
    PUT_SET,
    Script,
)
from storeproof.adapters.redis_service import service, told, untrusted
from storeproof.contract import Address, Cursor, Key, Layout, Record, Refused, Row, Unknown, Unsupported, Version
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_SCAN_BATCH: Final = 1000
"""Keys that `clear` asks for at a time."""


def _sorted(reason: Exception) -> Exception:
    """Error replies and requests that never left are refusals; anything else leaves the question open.

    `AuthenticationError` comes first: redis-py makes it a kind of lost connection.
    """
    if isinstance(reason, (AuthenticationError, ResponseError, DataError, UnicodeEncodeError)) or untrusted(reason):
        return Refused(str(reason))
    return Unknown(f"{type(reason).__name__}: {reason}")


class RedisSession:
    """One connection."""

    def __init__(self, client: redis.Redis, service: str | None = None) -> None:
        """`service`: whose managed Redis this is, where the host name says so."""
        self._client = client
        self._service = service
        self._execute: Callable[..., Any] = client.execute_command

    def run(self, *command: Any) -> Any:
        """Send one command and read its reply."""
        try:
            return self._execute(*command)
        except (RedisError, UnicodeEncodeError, OSError) as reason:
            raise _sorted(reason) from reason

    def script(self, script: Script, keys: Sequence[str], args: Iterable[Any]) -> Any:
        """Run a script. NOSCRIPT says that nothing ran: a server that lost its scripts is given the text again."""
        try:
            return self._execute("EVALSHA", script.digest, len(keys), *keys, *args)
        except NoScriptError:
            return self.run("EVAL", script.text, len(keys), *keys, *args)
        except (RedisError, UnicodeEncodeError, OSError) as reason:
            raise _sorted(reason) from reason

    def version(self) -> Version:
        """Valkey also gives a `redis_version`, the one that it is compatible with: its own comes first."""
        found = self.run("INFO", "server")
        if self._service is not None:
            return Version(self._service, str(found["redis_version"]))
        if "valkey_version" in found:
            return Version("Valkey", str(found["valkey_version"]))
        return Version("Redis", str(found["redis_version"]))

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """By CONFIG GET, or INFO where CONFIG is closed; a setting that the server does not have, or does not tell, is left out."""
        live: dict[str, str] = {}
        try:
            for name in names:
                live.update((key, value) for key, value in self.run("CONFIG GET", name).items() if key == name)
        except Refused:
            return told(names, self.run("INFO"))
        return live

    def collection(self, layout: Layout) -> RedisCollection:
        """The kind of Redis' own that the record is kept as."""
        if layout.indexes:
            raise Unsupported("Redis has no secondary indexes")
        record = layout.model.record
        if isinstance(record, shapes.Value):
            return Values(self, layout)
        if isinstance(record, shapes.Counter):
            return Counters(self, layout)
        if isinstance(record, shapes.Hash):
            return Hashes(self, layout)
        if isinstance(record, shapes.Row):
            return Rows(self, layout)
        if isinstance(record, shapes.Queue):
            return Queues(self, layout)
        if isinstance(record, shapes.Members):
            return Sets(self, layout)
        if isinstance(record, shapes.Ranking):
            return Rankings(self, layout)
        raise Unsupported(f"Redis keeps no documents with paths: {layout.model.model}")

    def close(self) -> None:
        """End the connection."""
        with suppress(Exception):
            self._client.close()


class RedisCollection:
    """The keys under one prefix; nothing is there to be created."""

    def __init__(self, session: RedisSession, layout: Layout) -> None:
        self._session = session
        self._run = session.run
        self._prefix = f"{layout.name}:"
        self._numbered = layout.model.key == "integer"

    def prepare(self) -> None:
        """A key comes to be by its first write."""

    def clear(self) -> None:
        """Remove the keys under the prefix; a layout's name holds no character that MATCH reads as a pattern."""
        cursor = 0
        while True:
            cursor, keys = self._run("SCAN", cursor, "MATCH", f"{self._prefix}*", "COUNT", _SCAN_BATCH)
            if keys:
                self._run("UNLINK", *keys)
            if cursor == 0:
                return

    def describe(self) -> Mapping[str, str]:
        """Nothing is set on connections or keys, and Redis has no indexes."""
        return {"indexes": "0"}

    def delete(self, key: Key) -> bool:
        """DEL."""
        return bool(self._run("DEL", f"{self._prefix}{key}") == 1)

    def exists(self, key: Key) -> bool:
        """EXISTS."""
        return bool(self._run("EXISTS", f"{self._prefix}{key}") == 1)

    def expire(self, key: Key, seconds: int) -> bool:
        """EXPIRE."""
        return bool(self._run("EXPIRE", f"{self._prefix}{key}", seconds) == 1)

    def expires_in(self, key: Key) -> float | None:
        """PTTL, which is below zero where there is no key, or no end."""
        milliseconds: int = self._run("PTTL", f"{self._prefix}{key}")
        return None if milliseconds < 0 else milliseconds / 1000

    def persist(self, key: Key) -> bool:
        """PERSIST and EXISTS in one script: PERSIST alone does not tell an absent key from one without an end."""
        return bool(self._session.script(PERSIST, [f"{self._prefix}{key}"], ()) == 1)

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """SCAN, of all that the database holds: where others have keys too, most answers have few of ours."""
        onwards, found = self._run("SCAN", cursor or 0, "MATCH", f"{self._prefix}*", "COUNT", count)
        names = [name[len(self._prefix) :].decode() for name in found]
        return int(onwards) or None, [int(name) if self._numbered else name for name in names]


class Strings(RedisCollection):
    """Strings, whatever they mean."""

    def _record(self, value: bytes) -> Record:
        """The record that a string is."""
        raise NotImplementedError

    def get(self, key: Key) -> Record | None:
        """GET."""
        value = self._run("GET", f"{self._prefix}{key}")
        return None if value is None else self._record(value)

    def put(self, key: Key, record: Record) -> None:
        """SET."""
        self._run("SET", f"{self._prefix}{key}", record)

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """GETSET; SET with GET is younger than many servers."""
        value = self._run("GETSET", f"{self._prefix}{key}", record)
        return None if value is None else self._record(value)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """MGET."""
        values = self._run("MGET", *[f"{self._prefix}{key}" for key in keys]) if keys else []
        return [None if value is None else self._record(value) for value in values]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """MSET."""
        if records:
            self._run("MSET", *[item for key, record in records.items() for item in (f"{self._prefix}{key}", record)])

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """SET NX."""
        return self._run("SET", f"{self._prefix}{key}", record, "NX") is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A script; SET IFEQ is younger than most servers."""
        return bool(self._session.script(COMPARE_AND_SET_STRING, [f"{self._prefix}{key}"], (expected, record)) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """SET EX."""
        self._run("SET", f"{self._prefix}{key}", record, "EX", seconds)


class Values(Strings):
    """Bytes as they are."""

    def _record(self, value: bytes) -> Record:
        return value

    def append(self, key: Key, value: bytes) -> None:
        """APPEND."""
        self._run("APPEND", f"{self._prefix}{key}", value)


class Counters(Strings):
    """Strings that Redis counts in: decimal, 64 bits, signed."""

    def _record(self, value: bytes) -> Record:
        return int(value)

    def increment(self, key: Key, by: int) -> int:
        """INCRBY; a sum beyond 64 bits is refused."""
        return int(self._run("INCRBY", f"{self._prefix}{key}", by))


class HashRecords(RedisCollection):
    """Records that are Redis hashes, whatever their fields mean."""

    def _pairs(self, record: Record) -> list[Any]:
        """The record as field, value, field, value ..."""
        raise NotImplementedError

    def _record(self, found: Mapping[bytes, bytes]) -> Record:
        """The record that a hash's fields make."""
        raise NotImplementedError

    def get(self, key: Key) -> Record | None:
        """HGETALL; Redis knows no hash without fields."""
        found = self._run("HGETALL", f"{self._prefix}{key}")
        return self._record(found) if found else None

    def put(self, key: Key, record: Record) -> None:
        """DEL and HSET in one script: HSET alone would leave the fields that the new record lacks."""
        self._session.script(PUT, [f"{self._prefix}{key}"], self._pairs(record))

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """HGETALL, DEL and HSET in one script."""
        flat = self._session.script(GET_AND_SET, [f"{self._prefix}{key}"], self._pairs(record))
        return self._record(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """HGETALL of each in one script."""
        if not keys:
            return []
        replies = self._session.script(GET_MANY, [f"{self._prefix}{key}" for key in keys], ())
        return [self._record(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None for flat in replies]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """DEL and HSET of each in one script: the batch is atomic."""
        if not records:
            return
        pairs = [self._pairs(record) for record in records.values()]
        args = [len(each) for each in pairs] + [item for each in pairs for item in each]
        self._session.script(PUT_MANY, [f"{self._prefix}{key}" for key in records], args)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """EXISTS and HSET in one script."""
        return bool(self._session.script(PUT_IF_ABSENT, [f"{self._prefix}{key}"], self._pairs(record)) == 1)

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Field by field in one script."""
        wanted = self._pairs(expected)
        args = [len(wanted) // 2, *wanted, *self._pairs(record)]
        return bool(self._session.script(COMPARE_AND_SET, [f"{self._prefix}{key}"], args) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """DEL, HSET and EXPIRE in one script."""
        self._session.script(PUT_EXPIRING, [f"{self._prefix}{key}"], [seconds, *self._pairs(record)])


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
        """HGET."""
        value: bytes | None = self._run("HGET", f"{self._prefix}{key}", field)
        return value

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """HSET."""
        self._run("HSET", f"{self._prefix}{key}", field, value)

    def delete_field(self, key: Key, field: str) -> bool:
        """HDEL."""
        return bool(self._run("HDEL", f"{self._prefix}{key}", field) == 1)

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
        """HMGET."""
        integer, real = self._run("HMGET", f"{self._prefix}{key}", "integer", "real")
        return None if integer is None else Row(int(integer), float(real))

    def put(self, key: Key, record: Record) -> None:
        """HSET: a row always has both fields, so that nothing of an older one is left."""
        self._run("HSET", f"{self._prefix}{key}", *self._pairs(record))


class Queues(RedisCollection):
    """Lists. Redis removes one with its last item."""

    def get(self, key: Key) -> Record | None:
        """LRANGE of all."""
        items: list[bytes] = self._run("LRANGE", f"{self._prefix}{key}", 0, -1)
        return items or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and RPUSH in one script."""
        assert isinstance(record, list)
        self._session.script(PUT_LIST, [f"{self._prefix}{key}"], record)

    def push_back(self, key: Key, item: bytes) -> int:
        """RPUSH."""
        return int(self._run("RPUSH", f"{self._prefix}{key}", item))

    def push_front(self, key: Key, item: bytes) -> int:
        """LPUSH."""
        return int(self._run("LPUSH", f"{self._prefix}{key}", item))

    def pop_front(self, key: Key) -> bytes | None:
        """LPOP."""
        item: bytes | None = self._run("LPOP", f"{self._prefix}{key}")
        return item

    def pop_back(self, key: Key) -> bytes | None:
        """RPOP."""
        item: bytes | None = self._run("RPOP", f"{self._prefix}{key}")
        return item

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        """LRANGE, whose -1 is the last item: a range that is empty is not asked for."""
        items: list[bytes] = self._run("LRANGE", f"{self._prefix}{key}", start, stop - 1) if start < stop else []
        return items

    def list_length(self, key: Key) -> int:
        """LLEN."""
        return int(self._run("LLEN", f"{self._prefix}{key}"))


class Sets(RedisCollection):
    """Sets. Redis removes one with its last member."""

    def get(self, key: Key) -> Record | None:
        """SMEMBERS."""
        return {member.decode() for member in self._run("SMEMBERS", f"{self._prefix}{key}")} or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and SADD in one script."""
        assert isinstance(record, set)
        self._session.script(PUT_SET, [f"{self._prefix}{key}"], record)

    def add_member(self, key: Key, member: str) -> bool:
        """SADD."""
        return bool(self._run("SADD", f"{self._prefix}{key}", member) == 1)

    def remove_member(self, key: Key, member: str) -> bool:
        """SREM."""
        return bool(self._run("SREM", f"{self._prefix}{key}", member) == 1)

    def has_member(self, key: Key, member: str) -> bool:
        """SISMEMBER."""
        return bool(self._run("SISMEMBER", f"{self._prefix}{key}", member) == 1)

    def member_count(self, key: Key) -> int:
        """SCARD."""
        return int(self._run("SCARD", f"{self._prefix}{key}"))


class Rankings(RedisCollection):
    """Sorted sets, which Redis orders by score and then by the bytes of the member. It removes one with its last member."""

    def get(self, key: Key) -> Record | None:
        """ZRANGE of all."""
        return dict(_scored(self._run("ZRANGE", f"{self._prefix}{key}", 0, -1, "WITHSCORES"))) or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and ZADD in one script."""
        assert isinstance(record, dict)
        pairs = [item for member, score in record.items() for item in (score, member)]
        self._session.script(PUT_RANKING, [f"{self._prefix}{key}"], pairs)

    def set_score(self, key: Key, member: str, score: float) -> bool:
        """ZADD, which answers how many are new."""
        return bool(self._run("ZADD", f"{self._prefix}{key}", score, member) == 1)

    def add_score(self, key: Key, member: str, by: float) -> float:
        """ZINCRBY."""
        return float(self._run("ZINCRBY", f"{self._prefix}{key}", by, member))

    def remove_score(self, key: Key, member: str) -> bool:
        """ZREM."""
        return bool(self._run("ZREM", f"{self._prefix}{key}", member) == 1)

    def score_of(self, key: Key, member: str) -> float | None:
        """ZSCORE."""
        score = self._run("ZSCORE", f"{self._prefix}{key}", member)
        return None if score is None else float(score)

    def rank_of(self, key: Key, member: str) -> int | None:
        """ZREVRANK."""
        rank: int | None = self._run("ZREVRANK", f"{self._prefix}{key}", member)
        return rank

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        """ZREVRANGE."""
        return _scored(self._run("ZREVRANGE", f"{self._prefix}{key}", 0, count - 1, "WITHSCORES")) if count > 0 else []

    def ranking_size(self, key: Key) -> int:
        """ZCARD."""
        return int(self._run("ZCARD", f"{self._prefix}{key}"))


def _scored(flat: Sequence[bytes]) -> list[tuple[str, float]]:
    """Pairs, out of member, score, member, score ..."""
    return [(member.decode(), float(score)) for member, score in zip(flat[::2], flat[1::2], strict=True)]


def connect(address: Address, options: Mapping[str, str]) -> RedisSession:
    """Open one authenticated session.

    Raises:
        Refused: wrong credentials, or no such database.
        Unknown: nobody answers, or the server still loads its data.
    """
    if options:
        raise Refused(f"the Redis adapter knows no options; found {', '.join(options)}")
    database = address.database or "0"
    if not database.isdigit():
        raise Refused(f"a Redis database is a number; found {database}")
    try:
        client = redis.Redis(
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
    except (RedisError, OSError) as reason:
        raise _sorted(reason) from reason
    session = RedisSession(client, service(address))
    try:
        session.run("PING")
    except (Refused, Unknown):
        session.close()
        raise
    return session
