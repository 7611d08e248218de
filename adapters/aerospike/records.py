"""What Aerospike does with records and their parts, and how its errors are sorted.

A record keeps values in the bin `v`, counters in `n`, rows in `integer` and `real`, and the fields of hashes and documents in
the map `d`, since the name of a bin has 15 bytes at most. What is read or changed inside a map is one `operate`: the server
does it, on the record locked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import aerospike
from aerospike import exception as failures
from aerospike_helpers import cdt_ctx
from aerospike_helpers.batch.records import BatchRecords, Write
from aerospike_helpers.operations import list_operations, map_operations, operations

from storeproof.contract import MISSING, ExactExpiry, Json, Key, Layout, Missing, Path, Record, Refused, Row, Unknown, Unsupported

T = TypeVar("T")

_FOUND: Final = 0
_NOT_FOUND: Final = 2
"""Result codes of single records in a batch (AEROSPIKE_OK, AEROSPIKE_ERR_RECORD_NOT_FOUND)."""

_NEVER: Final = 0xFFFFFFFF
"""The time to live of a record that does not end."""

_REFUSALS: Final = (
    failures.AdminError,
    failures.AlwaysForbidden,
    failures.BinIncompatibleType,
    failures.BinNameError,
    failures.DeviceOverload,
    failures.ForbiddenError,
    failures.InvalidField,
    failures.InvalidRequest,
    failures.NamespaceNotFound,
    failures.OpNotApplicable,
    failures.ParamError,
    failures.RecordBusy,
    failures.RecordExistsError,
    failures.RecordGenerationError,
    failures.RecordKeyMismatch,
    failures.RecordNotFound,
    failures.RecordTooBig,
    failures.ServerFull,
)
"""The server's answers that nothing was changed, and requests that never left."""


def failure_of(reason: Exception) -> Exception:
    """A refusal where it is known to be one and the client has no doubt of its own; anything else leaves the question open."""
    text = f"{type(reason).__name__}: {str(reason)[:300]}"
    if isinstance(reason, failures.UnsupportedFeature):
        return Unsupported(text)
    if isinstance(reason, (UnicodeEncodeError, OverflowError, TypeError, ValueError)):
        return Refused(text)
    return Refused(text) if isinstance(reason, _REFUSALS) and not getattr(reason, "in_doubt", False) else Unknown(text)


def run(operation: Callable[..., T], *args: Any, **options: Any) -> T:
    """One call of the client, its errors sorted."""
    try:
        return operation(*args, **options)
    except (failures.AerospikeError, UnicodeEncodeError, OverflowError, TypeError, ValueError) as reason:
        raise failure_of(reason) from reason


class Records(ExactExpiry):
    """Whole records; a subclass says how a record is written."""

    def __init__(self, client: Any, namespace: str, layout: Layout) -> None:
        self._client = client
        self._namespace = namespace
        self._layout = layout

    def encode(self, record: Record) -> dict[str, Any]:
        """The bins of a record."""
        raise NotImplementedError

    def decode(self, bins: Mapping[str, Any]) -> Record:
        """The record of its bins."""
        raise NotImplementedError

    def name(self, key: Key) -> tuple[str, str, Key]:
        """The record's key, as the client wants it."""
        return (self._namespace, self._layout.name, key)

    def prepare(self) -> None:
        """A set comes to be by its first record."""

    def clear(self) -> None:
        """Truncate the set."""
        run(self._client.truncate, self._namespace, self._layout.name, 0)

    def describe(self) -> Mapping[str, str]:
        """No indexes are made."""
        return {"indexes": "0"}

    def get(self, key: Key) -> Record | None:
        """One get."""
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
        """The record's metadata alone."""
        return self._metadata(key) is not None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """A batch read."""
        if not keys:
            return []
        found = []
        for each in run(self._client.batch_read, [self.name(key) for key in keys]).batch_records:
            if each.result not in (_FOUND, _NOT_FOUND):
                raise Unknown(f"a record of the batch has the result code {each.result}")
            found.append(self.decode(each.record[2]) if each.result == _FOUND else None)
        return found

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """A batch write."""
        if not records:
            return
        policy = {"exists": aerospike.POLICY_EXISTS_CREATE_OR_REPLACE, "key": aerospike.POLICY_KEY_SEND}
        lasting = {"ttl": aerospike.TTL_NEVER_EXPIRE}
        writes = [
            Write(self.name(key), [operations.write(name, value) for name, value in self.encode(record).items()], lasting, policy)
            for key, record in records.items()
        ]
        done = run(self._client.batch_write, BatchRecords(writes))
        failed = {each.result for each in done.batch_records} - {_FOUND}
        if failed:
            raise Unknown(f"records of the batch have the result codes {sorted(failed)}")

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """A put that only creates."""
        try:
            self._put(key, record, aerospike.POLICY_EXISTS_CREATE)
        except Refused as reason:
            if isinstance(reason.__cause__, failures.RecordExistsError):
                return False
            raise
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A put on the generation of what was read: the server does it only if the record has not changed since; else it is read again."""
        while True:
            found = self._get(key)
            if found is None or not same(self.decode(found[2]), expected):
                return False
            try:
                self._put(key, record, aerospike.POLICY_EXISTS_REPLACE, generation=found[1]["gen"])
            except Refused as reason:
                if isinstance(reason.__cause__, (failures.RecordGenerationError, failures.RecordNotFound)):
                    continue
                raise
            return True

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """A put with a time to live."""
        self._put(key, record, aerospike.POLICY_EXISTS_CREATE_OR_REPLACE, ttl=seconds)

    def expire(self, key: Key, seconds: int) -> bool:
        """A touch."""
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
        """A touch with no end."""
        return self.expire(key, aerospike.TTL_NEVER_EXPIRE)

    def operate(self, key: Key, steps: list[Any], exists: int = aerospike.POLICY_EXISTS_IGNORE) -> list[Any]:
        """The answers of some steps on one record, in order. Expiry stays as it is. `failures` are left to the caller."""
        policy = {"exists": exists, "key": aerospike.POLICY_KEY_SEND}
        answers = self._client.operate_ordered(self.name(key), steps, {"ttl": aerospike.TTL_DONT_UPDATE}, policy)[2]
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

    def _put(self, key: Key, record: Record, exists: int, *, generation: int | None = None, ttl: int = aerospike.TTL_NEVER_EXPIRE) -> None:
        policy: dict[str, Any] = {"exists": exists, "key": aerospike.POLICY_KEY_SEND}
        meta: dict[str, Any] = {"ttl": ttl}
        if generation is not None:
            policy["gen"], meta["gen"] = aerospike.POLICY_GEN_EQ, generation
        run(self._client.put, self.name(key), self.encode(record), meta, policy)


class Values(Records):
    """Opaque values."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"v": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return bytes(bins["v"])

    def append(self, key: Key, value: bytes) -> None:
        """An append, which creates the record where there is none."""
        run(self.operate, key, [operations.append("v", value)])


class Counters(Records):
    """Numbers."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"n": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        number: int = bins["n"]
        return number

    def increment(self, key: Key, by: int) -> int:
        """An increment and a read in one request."""
        return int(run(self.operate, key, [operations.increment("n", by), operations.read("n")])[-1])


class Rows(Records):
    """Rows."""

    def encode(self, record: Record) -> dict[str, Any]:
        assert isinstance(record, Row)
        return {"integer": record.integer, "real": record.real}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return Row(bins["integer"], bins["real"])


class Hashes(Records):
    """Hashes. One whose last field was removed stays, empty."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"d": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return {field: bytes(value) for field, value in bins["d"].items()}

    def get_field(self, key: Key, field: str) -> bytes | None:
        """A map's value by key."""
        try:
            found = self.operate(key, [map_operations.map_get_by_key("d", field, aerospike.MAP_RETURN_VALUE)])[-1]
        except failures.RecordNotFound:
            return None
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason
        return None if found is None else bytes(found)

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """A map put, which creates the record where there is none."""
        run(self.operate, key, [map_operations.map_put("d", field, value)])

    def delete_field(self, key: Key, field: str) -> bool:
        """A map remove."""
        step = map_operations.map_remove_by_key("d", field, aerospike.MAP_RETURN_COUNT)
        try:
            return bool(self.operate(key, [step], aerospike.POLICY_EXISTS_UPDATE)[-1] == 1)
        except failures.RecordNotFound:
            return False
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason


class Documents(Records):
    """Documents."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"d": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        fields: dict[str, Json] = bins["d"]
        return fields

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """A map's value by key, and whether it is there, since null is a value too; or a list's item."""
        above, last = context(path), path[-1]
        if isinstance(last, int):
            steps = [list_operations.list_get("d", last, above)]
        else:
            steps = [
                map_operations.map_get_by_key("d", last, returned, ctx=above)
                for returned in (aerospike.MAP_RETURN_EXISTS, aerospike.MAP_RETURN_VALUE)
            ]
        try:
            answers = self.operate(key, steps)
        except (failures.RecordNotFound, failures.OpNotApplicable, failures.BinIncompatibleType):
            return MISSING  # no record, nothing above, or a name on a list
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason
        found: Json = answers[-1]
        return found if answers[0] or isinstance(last, int) else MISSING

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """A map put, or a list set; neither creates what is above."""
        above, last = context(path), path[-1]
        if isinstance(last, int):
            return self._changed(key, list_operations.list_set("d", last, value, ctx=above))
        return self._changed(key, map_operations.map_put("d", last, value, ctx=above))

    def unset_path(self, key: Key, path: Path) -> bool:
        """A map remove."""
        if isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        return self._changed(key, map_operations.map_remove_by_key("d", path[-1], aerospike.MAP_RETURN_NONE, ctx=context(path)))

    def _changed(self, key: Key, step: Any) -> bool:
        try:
            self.operate(key, [step], aerospike.POLICY_EXISTS_UPDATE)
        except failures.RecordNotFound:
            return False
        except (failures.AerospikeError, UnicodeEncodeError, OverflowError, ValueError) as reason:
            raise failure_of(reason) from reason
        return True


def context(path: Path) -> list[Any]:
    """The way to what holds the path's last part."""
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    if any(isinstance(part, int) and part < 0 for part in path):
        raise Refused("a list has no position below 0")
    return [cdt_ctx.cdt_ctx_list_index(part) if isinstance(part, int) else cdt_ctx.cdt_ctx_map_key(part) for part in path[:-1]]


def same(found: Any, expected: Any) -> bool:
    """As `==`, but 1 and true are two values, and so are 1 and 1.0."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is type(expected) and bool(found == expected)
