"""Redis, and what speaks its protocol (Valkey), through redis-py.

A record is one Redis key, `<collection>:<key>`: a string for values and counters, a hash for hashes and rows.
What Redis has no single command for (replace a whole hash, compare and set) is one Lua script: it runs inside the
store, atomically, and is one request. Redis counts no namespace, orders no keys and has no secondary indexes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, DataError, NoScriptError, RedisError, ResponseError
from redis.retry import Retry

from storeproof.contract import Address, Key, Layout, Record, Refused, Row, Unknown, Unsupported, Version
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_SCAN_BATCH: Final = 1000
"""Keys that `clear` asks for at a time."""


class _Script:
    """A Lua script, called by its digest once the server knows it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


# Lua's `unpack` fails beyond some thousand items, and it would fail after the DEL: hence slices of 1000.
_WRITE: Final = """
local function write(key, pairs, first, last)
  for i = first, last, 1000 do
    redis.call('HSET', key, unpack(pairs, i, math.min(i + 999, last)))
  end
end
"""

# Without this check, to put a hash without fields would be to delete it.
_NO_EMPTY: Final = "if #ARGV == 0 then return redis.error_reply('ERR a hash has at least one field') end\n"

# ARGV: field, value, ...
_PUT = _Script(_NO_EMPTY + _WRITE + "redis.call('DEL', KEYS[1])\nwrite(KEYS[1], ARGV, 1, #ARGV)\nreturn 1")
_PUT_IF_ABSENT = _Script(
    _NO_EMPTY + _WRITE + "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end\nwrite(KEYS[1], ARGV, 1, #ARGV)\nreturn 1"
)

# ARGV: seconds, field, value, ...
_PUT_EXPIRING = _Script(
    "if #ARGV == 1 then return redis.error_reply('ERR a hash has at least one field') end\n"
    + _WRITE
    + "redis.call('DEL', KEYS[1])\nwrite(KEYS[1], ARGV, 2, #ARGV)\nredis.call('EXPIRE', KEYS[1], ARGV[1])\nreturn 1"
)

# ARGV: how many pairs are expected, the expected field, value, ..., then the new field, value, ...
_COMPARE_AND_SET = _Script(
    _WRITE
    + """
local expected = tonumber(ARGV[1])
if expected == 0 or redis.call('HLEN', KEYS[1]) ~= expected then return 0 end
local last = 1 + 2 * expected
for i = 2, last, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
if #ARGV == last then return redis.error_reply('ERR a hash has at least one field') end
redis.call('DEL', KEYS[1])
write(KEYS[1], ARGV, last + 1, #ARGV)
return 1"""
)
_COMPARE_AND_SET_STRING = _Script(
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\nredis.call('SET', KEYS[1], ARGV[2])\nreturn 1"
)

# ARGV: for each key how many items are its, then all fields and values in the order of the keys.
_PUT_MANY = _Script(
    _WRITE
    + """
for i = 1, #KEYS do
  if ARGV[i] == '0' then return redis.error_reply('ERR a hash has at least one field') end
end
local first = #KEYS + 1
for i = 1, #KEYS do
  local size = tonumber(ARGV[i])
  redis.call('DEL', KEYS[i])
  write(KEYS[i], ARGV, first, first + size - 1)
  first = first + size
end
return 1"""
)
_GET_MANY = _Script("local found = {}\nfor i = 1, #KEYS do found[i] = redis.call('HGETALL', KEYS[i]) end\nreturn found")


def _sorted(reason: Exception) -> Exception:
    """Error replies and requests that never left are refusals; anything else leaves the question open.

    `AuthenticationError` comes first: redis-py makes it a kind of lost connection.
    """
    if isinstance(reason, (AuthenticationError, ResponseError, DataError, UnicodeEncodeError)):
        return Refused(str(reason))
    return Unknown(f"{type(reason).__name__}: {reason}")


class RedisSession:
    """One connection."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._execute: Callable[..., Any] = client.execute_command

    def run(self, *command: Any) -> Any:
        """Send one command and read its reply."""
        try:
            return self._execute(*command)
        except (RedisError, UnicodeEncodeError, OSError) as reason:
            raise _sorted(reason) from reason

    def script(self, script: _Script, keys: Sequence[str], args: Iterable[Any]) -> Any:
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
        if "valkey_version" in found:
            return Version("Valkey", str(found["valkey_version"]))
        return Version("Redis", str(found["redis_version"]))

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """By CONFIG GET; a setting that the server does not have is left out."""
        live: dict[str, str] = {}
        for name in names:
            live.update((key, value) for key, value in self.run("CONFIG GET", name).items() if key == name)
        return live

    def collection(self, layout: Layout) -> RedisCollection:
        """Strings for values and counters, hashes for hashes and rows."""
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


class Values(RedisCollection):
    """Strings."""

    def get(self, key: Key) -> Record | None:
        """GET."""
        value: bytes | None = self._run("GET", f"{self._prefix}{key}")
        return value

    def put(self, key: Key, record: Record) -> None:
        """SET."""
        self._run("SET", f"{self._prefix}{key}", record)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """MGET."""
        values: list[Record | None] = self._run("MGET", *[f"{self._prefix}{key}" for key in keys]) if keys else []
        return values

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """MSET."""
        if records:
            self._run("MSET", *[item for key, record in records.items() for item in (f"{self._prefix}{key}", record)])

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """SET NX."""
        return self._run("SET", f"{self._prefix}{key}", record, "NX") is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A script; SET IFEQ is younger than most servers."""
        return bool(self._session.script(_COMPARE_AND_SET_STRING, [f"{self._prefix}{key}"], (expected, record)) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """SET EX."""
        self._run("SET", f"{self._prefix}{key}", record, "EX", seconds)


class Counters(Values):
    """Strings that Redis counts in: decimal, 64 bits, signed."""

    def get(self, key: Key) -> Record | None:
        """GET."""
        value = self._run("GET", f"{self._prefix}{key}")
        return None if value is None else int(value)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """MGET."""
        values = self._run("MGET", *[f"{self._prefix}{key}" for key in keys]) if keys else []
        return [None if value is None else int(value) for value in values]

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
        self._session.script(_PUT, [f"{self._prefix}{key}"], self._pairs(record))

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """HGETALL of each in one script."""
        if not keys:
            return []
        replies = self._session.script(_GET_MANY, [f"{self._prefix}{key}" for key in keys], ())
        return [self._record(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None for flat in replies]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """DEL and HSET of each in one script: the batch is atomic."""
        if not records:
            return
        pairs = [self._pairs(record) for record in records.values()]
        args = [len(each) for each in pairs] + [item for each in pairs for item in each]
        self._session.script(_PUT_MANY, [f"{self._prefix}{key}" for key in records], args)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """EXISTS and HSET in one script."""
        return bool(self._session.script(_PUT_IF_ABSENT, [f"{self._prefix}{key}"], self._pairs(record)) == 1)

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Field by field in one script."""
        wanted = self._pairs(expected)
        args = [len(wanted) // 2, *wanted, *self._pairs(record)]
        return bool(self._session.script(_COMPARE_AND_SET, [f"{self._prefix}{key}"], args) == 1)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """DEL, HSET and EXPIRE in one script."""
        self._session.script(_PUT_EXPIRING, [f"{self._prefix}{key}"], [seconds, *self._pairs(record)])


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
            protocol=2,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            single_connection_client=True,
        )
    except (RedisError, OSError) as reason:
        raise _sorted(reason) from reason
    session = RedisSession(client)
    try:
        session.run("PING")
    except (Refused, Unknown):
        session.close()
        raise
    return session
