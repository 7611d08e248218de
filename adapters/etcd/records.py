"""The records of one collection: keys with a common prefix, each with a value of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.adapters.etcd.feed import Followed
from storeproof.adapters.etcd.link import Absent, Link, decoded, encoded, number
from storeproof.contract import Cursor, ExactExpiry, Key, Layout, Record, Unsupported, WrongReply

_NO_LEASE: Final = "0"
_ABSENT: Final = {"target": "CREATE", "create_revision": "0"}
"""The comparison that holds of a key that is not there."""


class Values(Followed, ExactExpiry):
    """Opaque values. Keys are UTF-8, whose order of bytes is that of code points.

    A record that expires has a lease of its own. Where a later write gives it another one, or none, the old lease stays without keys until
    it ends.
    """

    unsupported_because: Mapping[str, str] = {
        "Append": "etcd writes whole values: no request appends to one",
    }

    def __init__(self, link: Link, layout: Layout, options: Mapping[str, str], *, serializable: bool) -> None:
        """`options`: the variant's. `serializable`: the member answers reads from its own state, without asking the others."""
        super().__init__(link, f"{layout.name}:".encode())
        self._options = options
        self._reads = {"serializable": True} if serializable else {}

    def prepare(self) -> None:
        """A key comes to be by its first write."""

    def clear(self) -> None:
        self.leave_feed()
        self._ask("kv/deleterange", **self._range(b""))

    def describe(self) -> Mapping[str, str]:
        """What goes with each request; etcd has no indexes."""
        return {"indexes": "0", **self._options}

    def get(self, key: Key) -> Record | None:
        found = self._found(self._ask("kv/range", key=self._key(key), **self._reads))
        return decoded(found[0], "value") if found else None

    def put(self, key: Key, record: Record) -> None:
        self._ask("kv/put", **self._pair(key, record))

    def delete(self, key: Key) -> bool:
        return number(self._ask("kv/deleterange", key=self._key(key)), "deleted") == 1

    def exists(self, key: Key) -> bool:
        return number(self._ask("kv/range", key=self._key(key), count_only=True, **self._reads), "count") == 1

    def count(self) -> int:
        return number(self._ask("kv/range", **self._range(b""), count_only=True, **self._reads), "count")

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """A transaction of ranges, at most `max-txn-ops` (128)."""
        return self.run_whole(keys, {}) if keys else []

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        """A transaction of ranges, then puts, at most `max-txn-ops` (128)."""
        steps: list[Mapping[str, Any]] = [{"request_range": {"key": self._key(key), **self._reads}} for key in reads]
        steps += [{"request_put": self._pair(key, record)} for key, record in writes.items()]
        replies = self._ask("kv/txn", success=steps).get("responses")
        if not isinstance(replies, list) or len(replies) != len(steps):
            raise WrongReply(f"a transaction of {len(steps)} requests answered {str(replies)[:100]}")
        found = [self._found(each.get("response_range", {})) for each in replies[: len(reads)]]
        return [decoded(each[0], "value") if each else None for each in found]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """A transaction of puts, at most `max-txn-ops` (128)."""
        if records:
            self._ask("kv/txn", success=[{"request_put": self._pair(key, record)} for key, record in records.items()])

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """A transaction of puts, if none of the keys is there; at most `max-txn-ops` (128)."""
        pairs = [self._pair(key, record) for key, record in records.items()]
        new = [{"key": pair["key"], **_ABSENT} for pair in pairs]
        return not pairs or self._ask("kv/txn", compare=new, success=[{"request_put": pair} for pair in pairs]).get("succeeded") is True

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """A transaction: put, if the key was never created."""
        return self._put_if([_ABSENT], key, record)

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A transaction: put, if the key exists and has this value."""
        assert isinstance(expected, bytes)
        there = {"target": "CREATE", "result": "GREATER", "create_revision": "0"}
        return self._put_if([there, {"target": "VALUE", "value": encoded(expected)}], key, record)

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """Put, which answers the previous value."""
        told = self._ask("kv/put", **self._pair(key, record), prev_kv=True)
        return decoded(told["prev_kv"], "value") if "prev_kv" in told else None

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """Grant a lease, and put with it."""
        self._ask("kv/put", **self._pair(key, record), lease=self._lease(seconds))

    def expire(self, key: Key, seconds: int) -> bool:
        """Grant a lease, and put with it, which leaves the value."""
        return self._put_lease(key, self._lease(seconds))

    def expires_in(self, key: Key) -> float | None:
        """The lease of the key, and its remaining time in whole seconds."""
        found = self._found(self._ask("kv/range", key=self._key(key), keys_only=True, **self._reads))
        if not found or number(found[0], "lease") == 0:
            return None
        left = number(self._ask("lease/timetolive", ID=found[0]["lease"]), "TTL")
        return None if left < 0 else float(left)

    def persist(self, key: Key) -> bool:
        """Put without a lease, which leaves the value."""
        return self._put_lease(key, _NO_LEASE)

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """Range in the order of the keys. Backwards the server sorts all of the range before it takes the first ones."""
        if count == 0:
            return []
        where = self._range(b"")
        if start is not None and backwards:
            where["range_end"] = encoded(self._bytes(start) + b"\0")
        elif start is not None:
            where["key"] = self._key(start)
        if backwards:
            where |= {"sort_order": "DESCEND", "sort_target": "KEY"}
        return self._pairs(where, count)

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """Range from the prefix to the first key that has it no longer."""
        return self._pairs(self._range(prefix.encode()), count) if count else []

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        where = self._range(b"")
        if cursor is not None:
            where["key"] = encoded(self._bytes(str(cursor)) + b"\0")
        told = self._ask("kv/range", **where, limit=max(1, count), keys_only=True, **self._reads)
        keys = [self._name(each) for each in self._found(told)]
        return (keys[-1] if keys and told.get("more") else None), keys

    def _pairs(self, where: Mapping[str, Any], count: int) -> Sequence[tuple[Key, Record]]:
        told = self._ask("kv/range", **where, limit=count, **self._reads)
        return [(self._name(each), decoded(each, "value")) for each in self._found(told)]

    def _put_if(self, conditions: Sequence[Mapping[str, str]], key: Key, record: Record) -> bool:
        name = self._key(key)
        compare = [{"key": name, **each} for each in conditions]
        return self._ask("kv/txn", compare=compare, success=[{"request_put": self._pair(key, record)}]).get("succeeded") is True

    def _put_lease(self, key: Key, lease: str) -> bool:
        try:
            self._ask("kv/put", key=self._key(key), ignore_value=True, lease=lease)
        except Absent:
            return False
        return True

    def _lease(self, seconds: int) -> str:
        """A new lease. Raises `Unsupported` if the server makes it longer: it grants no less than one and a half election timeouts."""
        told = self._ask("lease/grant", TTL=str(seconds))
        if (granted := number(told, "TTL")) > seconds:
            self._ask("lease/revoke", ID=told["ID"])
            raise Unsupported(f"the shortest lease of this server has {granted} s: one and a half times `election-timeout`, rounded up")
        return str(told["ID"])

    def _pair(self, key: Key, record: Record) -> dict[str, str]:
        assert isinstance(record, bytes)
        return {"key": self._key(key), "value": encoded(record)}
