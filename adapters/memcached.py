"""Memcached, through pymemcache: values, and counters in decimal.

A record is one item, `<collection>:<key>`. Keys are UTF-8; those with white space or NUL, and those over 250 bytes with the
prefix, are refused by the client, since the protocol cannot carry them. A `set` that the server refuses (too large, no
memory) drops the item that was there: so the server keeps old data from being taken for new.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep, time
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from pymemcache import exceptions as errors
from pymemcache.client.base import Client

from storeproof.contract import (
    Address,
    Attempts,
    Collection,
    ExactExpiry,
    Key,
    Layout,
    Record,
    Refused,
    Unknown,
    Unsupported,
    Version,
    WrongReply,
)
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_LONGEST_RELATIVE: Final = 60 * 60 * 24 * 30
"""Seconds; a longer time to live is read as a moment since 1970 (doc/protocol.txt, "Expiration times")."""

_SETTINGS: Final[Mapping[str, Callable[[Mapping[bytes, Any]], int]]] = {
    "memory-limit": lambda live: int(live[b"maxbytes"]) // 2**20,
    "max-item-size": lambda live: int(live[b"item_size_max"]),
}
"""The command line's options, and how `stats settings` shows them."""

_OWN: Final = (b"libevent", b"lru_crawler_running", b"slab_global_page_pool")
"""What `stats` of Memcached's own server has (since 1.5), and proxies and other servers with its protocol have not."""

_FAILURES: Final = (errors.MemcacheError, OSError, ValueError, IndexError, KeyError)
"""What the client raises; the last three where it cannot read a reply, was answered another key, or cannot write one."""


def _failure_of(reason: Exception) -> Exception:
    """A lost connection (which pymemcache makes a kind of server error) leaves the question open; an error reply is a refusal."""
    text = f"{type(reason).__name__}: {reason}"[:300]
    if isinstance(reason, errors.MemcacheUnknownCommandError):
        return Unsupported(f"the server says ERROR to {reason}")
    if isinstance(reason, KeyError):
        return WrongReply(f"a reply with the value of another key: {reason}")
    if isinstance(reason, errors.MemcacheUnknownError) or (
        isinstance(reason, (ValueError, IndexError)) and not isinstance(reason, UnicodeEncodeError)
    ):
        return WrongReply(f"a reply that cannot be read: {text}")
    if isinstance(reason, (errors.MemcacheClientError, UnicodeEncodeError)):
        return Refused(text)
    if isinstance(reason, errors.MemcacheServerError) and not isinstance(reason, errors.MemcacheUnexpectedCloseError):
        return Refused(text)
    return Unknown(text)


class MemcachedSession:
    unsupported_because: Mapping[str, str] = {
        "Transactions": "Memcached has no transactions: each command changes one item and takes effect at once",
        "Maintenance": "Memcached has no data files to compact",
    }

    def __init__(self, client: Client) -> None:
        self.client = client

    def run(self, request: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return request(*args, **options)
        except _FAILURES as reason:
            raise _failure_of(reason) from reason

    def version(self) -> Version:
        """By `version`, and by what `stats` has: other servers with this protocol answer a version too."""
        number = self.run(self.client.version).decode(errors="replace").strip()
        try:
            told = self.run(self.client.stats)
        except (Refused, Unsupported):
            told = {}
        product, _, rest = number.rpartition(" ")
        if product:  # as in "mcrouter 41.0"
            return Version(product, rest)
        if number.isalpha():  # as Hazelcast's, which is its name alone
            return Version(number, "(no version)")
        if not re.fullmatch(r"\d+(\.\d+)+([-_+].*)?", number) or any(name not in told for name in _OWN):
            return Version("a relative of Memcached", number or "(no version)")
        return Version("Memcached", number)

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        live = self.run(self.client.stats, "settings")
        return {name: str(_SETTINGS[name](live)) for name in names if name in _SETTINGS}

    def collection(self, layout: Layout) -> Collection:
        if layout.indexes:
            raise Unsupported("Memcached has no secondary indexes")
        if isinstance(layout.model.record, shapes.Value):
            return Values(self, layout)
        if isinstance(layout.model.record, shapes.CounterRecord):
            return Counters(self, layout)
        raise Unsupported(f"Memcached stores opaque values and counters, not {layout.model.model}")

    def close(self) -> None:
        with suppress(Exception):
            self.client.close()

    def keys(self, prefix: bytes) -> list[bytes]:
        """The keys with a prefix, by `lru_crawler metadump`, which is busy while another client uses it."""
        deadline = monotonic() + _TIMEOUT
        while True:
            found = self.run(self._dump, prefix)
            if found is not None:
                return found  # type: ignore[no-any-return]
            if monotonic() > deadline:
                raise Unknown("the LRU crawler is busy")
            sleep(0.02)

    def _dump(self, prefix: bytes) -> list[bytes] | None:
        self.client.version()  # connects where there is no connection
        link = self.client.sock
        assert link is not None
        found = []
        try:
            link.sendall(b"lru_crawler metadump all\r\n")
            with link.makefile("rb") as lines:
                for line in lines:
                    if line.startswith(b"key="):
                        key = unquote_to_bytes(line[4:].split(b" ", 1)[0])
                        if key.startswith(prefix):
                            found.append(key)
                    elif line.startswith(b"END"):
                        return found
                    elif line.startswith(b"BUSY"):
                        return None
                    elif line != b"OK\r\n":  # newer versions begin with it (1.6.45 does)
                        raise errors.MemcacheServerError(line.strip())
        except Exception:
            self.client.close()  # what is left of the reply must not be taken for the next one
            raise
        raise errors.MemcacheUnexpectedCloseError


class Items(ExactExpiry):
    """Whole items; a subclass says how a record is written."""

    unsupported_because: Mapping[str, str] = {
        "Count": "Memcached counts the items of the whole server, not those with a prefix",
        "Feed": "its `watch` sends log lines per thread and drops them when they are not read in time, so it is not a complete change feed",
        "Ordered": "Memcached keeps its items in a hash table without an order",
        "Prefix": "Memcached can only dump all keys, in no order",
        "Procedures": "Memcached has no scripts or procedures, and a command changes one item",
        "Swap": "Memcached has no command that stores a value and returns the previous one",
        "Walk": "Memcached dumps all keys at once, without a cursor to resume from",
    }

    def __init__(self, session: MemcachedSession, layout: Layout) -> None:
        self._session = session
        self._run = session.run
        self._client = session.client
        self._prefix = f"{layout.name}:"

    def encode(self, record: Any) -> bytes:
        raise NotImplementedError

    def decode(self, value: bytes) -> Record:
        raise NotImplementedError

    def prepare(self) -> None:
        """An item comes to be by its first write."""

    def clear(self) -> None:
        """Delete what the crawler finds under the prefix, until it finds nothing: it passes over items in use."""
        dumps = Attempts(f"the deletion of {self._prefix}*")
        while keys := self._session.keys(self._prefix.encode()):
            dumps.count()
            for key in keys:
                self._run(self._client.delete, key, noreply=True)
            self._run(self._client.version)  # the reply comes after all deletes

    def describe(self) -> Mapping[str, str]:
        """Nothing is set on connections or items, and Memcached has no indexes."""
        return {"indexes": "0"}

    def get(self, key: Key) -> Record | None:
        value = self._run(self._client.get, f"{self._prefix}{key}")
        return None if value is None else self.decode(value)

    def put(self, key: Key, record: Record) -> None:
        self._store(key, record, 0)

    def delete(self, key: Key) -> bool:
        return bool(self._run(self._client.delete, f"{self._prefix}{key}", noreply=False))

    def exists(self, key: Key) -> bool:
        """A meta get without flags, which sends no value (since 1.6); where there are no meta commands, a get."""
        try:
            return self._meta_get(key) is not None
        except Unsupported:
            return self._run(self._client.get, f"{self._prefix}{key}") is not None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        names = [f"{self._prefix}{key}" for key in keys]
        found = self._run(self._client.get_many, names) if names else {}
        return [self.decode(found[name]) if name in found else None for name in names]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """Many sets, sent together. Where one is refused, others are done: that is no refusal of the whole."""
        values = {f"{self._prefix}{key}": self.encode(record) for key, record in records.items()}
        try:
            failed = self._client.set_many(values, noreply=False) if values else []
        except errors.MemcacheIllegalInputError as reason:
            raise _failure_of(reason) from reason  # keys are checked before anything is sent
        except _FAILURES as reason:
            failure = _failure_of(reason)
            raise (failure if isinstance(failure, WrongReply) else Unknown(str(failure))) from reason
        if failed:
            raise Unknown(f"{len(failed)} of {len(values)} were not stored")

    def put_if_absent(self, key: Key, record: Record) -> bool:
        return bool(self._run(self._client.add, f"{self._prefix}{key}", self.encode(record), noreply=False))

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """gets and cas: the server replaces the item only if it was not touched in between, else we look again."""
        name, tries = f"{self._prefix}{key}", Attempts(f"cas of {key!r}")
        while True:
            tries.count()
            value, token = self._run(self._client.gets, name)
            if value is None or self.decode(value) != expected:
                return False
            if self._run(self._client.cas, name, self.encode(record), token, noreply=False):
                return True

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self._store(key, record, _end(seconds))

    def expire(self, key: Key, seconds: int) -> bool:
        return bool(self._run(self._client.touch, f"{self._prefix}{key}", _end(seconds), noreply=False))

    def expires_in(self, key: Key) -> float | None:
        """A meta get of the time to live alone, in whole seconds, -1 without an end (since 1.6)."""
        flags = self._meta_get(key, b" t")
        if flags is None or flags == [b"t-1"]:
            return None
        if len(flags) != 1 or not re.fullmatch(rb"t[0-9]+", flags[0]):
            raise WrongReply(f"a meta get for the time to live answered {flags!r}")
        return float(flags[0][1:])

    def persist(self, key: Key) -> bool:
        """touch with 0: no end."""
        return bool(self._run(self._client.touch, f"{self._prefix}{key}", 0, noreply=False))

    def _meta_get(self, key: Key, flags: bytes = b"") -> list[bytes] | None:
        """The flags that a meta get answers; None where there is no item."""
        name = self._run(self._client.check_key, f"{self._prefix}{key}", b"")
        reply = self._run(self._client.raw_command, b"mg " + name + flags)
        word, *found = reply.split() or [b""]
        if word not in (b"HD", b"EN"):
            raise WrongReply(f"a meta get answered {reply[:100]!r}")
        return found if word == b"HD" else None

    def _store(self, key: Key, record: Record, expire: int) -> None:
        if not self._run(self._client.set, f"{self._prefix}{key}", self.encode(record), expire, noreply=False):
            raise Refused("NOT_STORED")


class Values(Items):
    def encode(self, record: Any) -> bytes:
        value: bytes = record
        return value

    def decode(self, value: bytes) -> Record:
        return value

    def append(self, key: Key, value: bytes) -> None:
        """append, or add where there is nothing; a client that loses the race for the add finds something to append to."""
        name, tries = f"{self._prefix}{key}", Attempts(f"append to {key!r}")
        while not self._run(self._client.append, name, value, noreply=False):
            tries.count()
            if self._run(self._client.add, name, value, noreply=False):
                return


class Counters(Items):
    """Decimal numbers that Memcached counts in: 64 bits without a sign, and round again from zero."""

    def encode(self, record: Any) -> bytes:
        return b"%d" % record

    def decode(self, value: bytes) -> Record:
        return int(value)

    def increment(self, key: Key, by: int) -> int:
        """incr, or add where there is nothing; a client that loses the race for the add finds something to increment."""
        if by < 0:
            raise Unsupported("Memcached's decr stops at zero: a reply of 0 may hide a negative sum")
        name, tries = f"{self._prefix}{key}", Attempts(f"incr of {key!r}")
        while True:
            tries.count()
            number = self._run(self._client.incr, name, by, noreply=False)
            if number is not None:
                return int(number)
            if self._run(self._client.add, name, b"%d" % by, noreply=False):
                return by


def _end(seconds: int) -> int:
    """A time to live as the protocol writes it."""
    return seconds if seconds <= _LONGEST_RELATIVE else int(time()) + seconds


def connect(address: Address, options: Mapping[str, str]) -> MemcachedSession:
    """Open one session.

    Raises:
        Refused: there are credentials, which pymemcache cannot present.
        Unknown: no server answers.
    """
    if options:
        raise Refused(f"the Memcached adapter has no options; found {', '.join(options)}")
    if address.user or address.password:
        raise Refused("pymemcache cannot log in; give an endpoint without user and password")
    client = Client(
        (address.host, address.port),
        connect_timeout=_TIMEOUT,
        timeout=_TIMEOUT,
        no_delay=True,
        default_noreply=False,
        allow_unicode_keys=True,
        tls_context=ssl.create_default_context() if address.tls else None,
    )
    session = MemcachedSession(client)
    try:
        session.version()
    except Exception:
        session.close()
        raise
    return session
