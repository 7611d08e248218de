"""What Aerospike does by key with any record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import aerospike
from aerospike import exception as failures
from aerospike_helpers import expressions as exp
from aerospike_helpers.batch.records import BatchRecords, Write
from aerospike_helpers.operations import expression_operations, operations

from storeproof.adapters.aerospike.sorting import failure_of, run
from storeproof.adapters.aerospike.truncation import truncate
from storeproof.contract import Attempts, ExactExpiry, Key, Layout, Record, Refused, Unknown

_FOUND: Final = 0
_NOT_FOUND: Final = 2
"""Result codes of single records in a batch (AEROSPIKE_OK, AEROSPIKE_ERR_RECORD_NOT_FOUND)."""

_NEVER: Final = 0xFFFFFFFF
"""The time to live of a record that does not end."""

_UPDATED: Final = exp.LastUpdateTime()
"""When a record was last updated, in nanoseconds."""


class Records(ExactExpiry):
    """Whole records; a subclass says how a record is written."""

    def __init__(self, client: Any, namespace: str, layout: Layout) -> None:
        self._client = client
        self._namespace = namespace
        self._layout = layout

    def encode(self, record: Record) -> dict[str, Any]:
        raise NotImplementedError

    def decode(self, bins: Mapping[str, Any]) -> Record:
        raise NotImplementedError

    def name(self, key: Key) -> tuple[str, str, Key]:
        """The record's key, as the client wants it."""
        return (self._namespace, self._layout.name, key)

    def prepare(self) -> None:
        """A set comes to be by its first record."""

    def clear(self) -> None:
        """Truncate the set, until it is empty."""
        truncate(self._client, self._namespace, self._layout.name)

    def describe(self) -> Mapping[str, str]:
        return {"indexes": "0"}

    def get(self, key: Key) -> Record | None:
        found = self._get(key)
        return None if found is None else self.decode(found[2])

    def put(self, key: Key, record: Record) -> None:
        """A put in place of all bins, which also ends any expiry."""
        self._put(key, record, aerospike.POLICY_EXISTS_CREATE_OR_REPLACE)

    def delete(self, key: Key) -> bool:
        """A remove. Without the Enterprise Edition's durable deletes a cold start may bring the record back."""
        try:
            self._client.remove(self.name(key))
        except failures.RecordNotFound:
            return False
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason
        return True

    def exists(self, key: Key) -> bool:
        return self._metadata(key) is not None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        if not keys:
            return []
        found = []
        for each in run(self._client.batch_read, [self.name(key) for key in keys]).batch_records:
            if each.result not in (_FOUND, _NOT_FOUND):
                raise Unknown(f"a record of the batch has the result code {each.result}")
            found.append(self.decode(each.record[2]) if each.result == _FOUND else None)
        return found

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        policy = {
            "exists": aerospike.POLICY_EXISTS_CREATE_OR_REPLACE,
            "key": aerospike.POLICY_KEY_SEND,
            "ttl": aerospike.TTL_NEVER_EXPIRE,
        }
        writes = [
            Write(self.name(key), [operations.write(name, value) for name, value in self.encode(record).items()], policy=policy)
            for key, record in records.items()
        ]
        done = run(self._client.batch_write, BatchRecords(writes))
        failed = {each.result for each in done.batch_records} - {_FOUND}
        if failed:
            raise Unknown(f"records of the batch have the result codes {sorted(failed)}")

    def put_if_absent(self, key: Key, record: Record) -> bool:
        try:
            self._put(key, record, aerospike.POLICY_EXISTS_CREATE)
        except Refused as reason:
            if isinstance(reason.__cause__, failures.RecordExistsError):
                return False
            raise
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A put on the condition that the record is what was read; else it is read again.

        The generation alone would not do: it begins at 1 again when a record is deleted and created. So the server also compares the time
        of the last update, in milliseconds, and the value itself where its language of expressions can: maps it cannot.

        Raises:
            Refused: the server filters a record out that it returns unchanged, so that to try again would never end.
        """
        filtered: tuple[int, int] | None = None
        tries = Attempts(f"compare-and-set of {key!r}")
        steps = [operations.read(name) for name in self.encode(expected)]
        steps.append(expression_operations.expression_read("lut", _UPDATED.compile()))
        while True:
            tries.count()
            try:
                _, meta, found = self._client.operate_ordered(self.name(key), steps)
            except failures.RecordNotFound:
                return False
            except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
                raise failure_of(reason) from reason
            bins = dict(found)
            updated = bins.pop("lut")
            if not same(self.decode(bins), expected):
                return False
            seen = (meta["gen"], updated)
            if seen == filtered:
                raise Refused("the server says that the record differs from what it returns")
            unchanged = exp.And(exp.Eq(_UPDATED, updated), *self.compared(expected))
            try:
                self._put(key, record, aerospike.POLICY_EXISTS_REPLACE, generation=meta["gen"], only_if=unchanged)
            except Refused as reason:
                if isinstance(reason.__cause__, (failures.FilteredOut, failures.RecordGenerationError, failures.RecordNotFound)):
                    filtered = seen if isinstance(reason.__cause__, failures.FilteredOut) else None
                    continue
                raise
            return True

    def compared(self, record: Record) -> Sequence[Any]:  # noqa: ARG002 - the same for all maps
        """Expressions that hold while a record has this value; none where the server's language cannot compare it."""
        return ()

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self._put(key, record, aerospike.POLICY_EXISTS_CREATE_OR_REPLACE, ttl=seconds)

    def expire(self, key: Key, seconds: int) -> bool:
        try:
            self._client.touch(self.name(key), seconds)
        except failures.RecordNotFound:
            return False
        except (failures.AerospikeError, UnicodeEncodeError, OverflowError) as reason:
            raise failure_of(reason) from reason
        return True

    def expires_in(self, key: Key) -> float | None:
        """The record's metadata, in whole seconds."""
        found = self._metadata(key)
        return None if found is None or found["ttl"] in (_NEVER, aerospike.TTL_NEVER_EXPIRE) else float(found["ttl"])

    def persist(self, key: Key) -> bool:
        return self.expire(key, aerospike.TTL_NEVER_EXPIRE)

    def operate(self, key: Key, steps: list[Any], exists: int = aerospike.POLICY_EXISTS_IGNORE) -> list[Any]:
        """The answers of some steps on one record, in order. Expiry stays as it is. `failures` are left to the caller."""
        policy = {"exists": exists, "key": aerospike.POLICY_KEY_SEND, "ttl": aerospike.TTL_DONT_UPDATE}
        answers = self._client.operate_ordered(self.name(key), steps, policy=policy)[2]
        return [value for _bin, value in answers]

    def _get(self, key: Key) -> Any:
        try:
            return self._client.get(self.name(key))
        except failures.RecordNotFound:
            return None
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason

    def _metadata(self, key: Key) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] | None = self._client.exists(self.name(key))[1]
        except failures.RecordNotFound:
            return None
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason
        return found

    def _put(
        self,
        key: Key,
        record: Record,
        exists: int,
        *,
        generation: int | None = None,
        only_if: Any = None,
        ttl: int = aerospike.TTL_NEVER_EXPIRE,
    ) -> None:
        """`only_if`: an expression that must hold of the record that is there."""
        policy: dict[str, Any] = {"exists": exists, "key": aerospike.POLICY_KEY_SEND, "ttl": ttl}
        meta: dict[str, Any] = {}
        if generation is not None:
            policy["gen"], meta["meta"] = aerospike.POLICY_GEN_EQ, {"gen": generation}
        if only_if is not None:
            policy["expressions"] = only_if.compile()
        run(self._client.put, self.name(key), self.encode(record), policy=policy, **meta)


def same(found: Any, expected: Any) -> bool:
    """As `==`, but 1 and true are two values, and so are 1 and 1.0."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is type(expected) and bool(found == expected)
