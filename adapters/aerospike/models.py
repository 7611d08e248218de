"""What is kept in Aerospike of each model, and what it does to parts of a record.

Values are in the bin `v`, counters in `n`, rows in `integer` and `real`, and the fields of hashes and documents in the map `d`, since the
name of a bin has 15 bytes at most. What is read or changed inside a map is one `operate`: the server does it, on the record locked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import aerospike
from aerospike import exception as failures
from aerospike_helpers import cdt_ctx
from aerospike_helpers import expressions as exp
from aerospike_helpers.operations import list_operations, map_operations, operations

from storeproof.adapters.aerospike.records import Records
from storeproof.adapters.aerospike.sorting import failure_of, run
from storeproof.contract import MISSING, Json, Key, Missing, Path, Record, Refused, Row


class Values(Records):
    def encode(self, record: Record) -> dict[str, Any]:
        return {"v": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return bytes(bins["v"])

    def compared(self, record: Record) -> Sequence[Any]:
        return (exp.Eq(exp.BlobBin("v"), record),)

    def append(self, key: Key, value: bytes) -> None:
        """An append, which creates the record where there is none."""
        run(self.operate, key, [operations.append("v", value)])


class Counters(Records):
    def encode(self, record: Record) -> dict[str, Any]:
        return {"n": record}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        number: int = bins["n"]
        return number

    def compared(self, record: Record) -> Sequence[Any]:
        return (exp.Eq(exp.IntBin("n"), record),)

    def increment(self, key: Key, by: int) -> int:
        return int(run(self.operate, key, [operations.increment("n", by), operations.read("n")])[-1])


class Rows(Records):
    def encode(self, record: Record) -> dict[str, Any]:
        assert isinstance(record, Row)
        return {"integer": record.integer, "real": record.real}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return Row(bins["integer"], bins["real"])

    def compared(self, record: Record) -> Sequence[Any]:
        assert isinstance(record, Row)
        return exp.Eq(exp.IntBin("integer"), record.integer), exp.Eq(exp.FloatBin("real"), record.real)


class Hashes(Records):
    """Hashes. One whose last field was removed stays, empty."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"d": checked(record)}

    def decode(self, bins: Mapping[str, Any]) -> Record:
        return {field: bytes(value) for field, value in bins["d"].items()}

    def get_field(self, key: Key, field: str) -> bytes | None:
        return self.get_fields(key, [field])[0]

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """A map put, which creates the record where there is none."""
        run(self.operate, key, [map_operations.map_put("d", checked_name(field), value)])

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        if not fields:
            return []
        steps = [map_operations.map_get_by_key("d", checked_name(field), aerospike.MAP_RETURN_VALUE) for field in fields]
        try:
            found = self.operate(key, steps)
        except failures.RecordNotFound:
            return [None] * len(fields)
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason
        return [None if value is None else bytes(value) for value in found]

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        """A map put of all, which creates the record where there is none."""
        if values:
            run(self.operate, key, [map_operations.map_put_items("d", checked(values))])

    def delete_field(self, key: Key, field: str) -> bool:
        step = map_operations.map_remove_by_key("d", checked_name(field), aerospike.MAP_RETURN_COUNT)
        try:
            return bool(self.operate(key, [step], aerospike.POLICY_EXISTS_UPDATE)[-1] == 1)
        except failures.RecordNotFound:
            return False
        except (failures.AerospikeError, UnicodeEncodeError, ValueError) as reason:
            raise failure_of(reason) from reason


class Documents(Records):
    unsupported_because: Mapping[str, str] = {
        "SeveralPaths": "a request with several operations fails as a whole if one of them reads inside of what is not there",
    }

    def encode(self, record: Record) -> dict[str, Any]:
        return {"d": checked(record)}

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
            return self._changed(key, list_operations.list_set("d", last, checked(value), ctx=above))
        return self._changed(key, map_operations.map_put("d", last, checked(value), ctx=above))

    def unset_path(self, key: Key, path: Path) -> bool:
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


def context(path: Path) -> list[Any] | None:
    """The way to what holds the path's last part; None for the bin itself: the server does not take a way of no steps."""
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    if any(isinstance(part, int) and part < 0 for part in path):
        raise Refused("a list has no position below 0")
    for part in path:
        if isinstance(part, str):
            checked_name(part)
    steps = [cdt_ctx.cdt_ctx_list_index(part) if isinstance(part, int) else cdt_ctx.cdt_ctx_map_key(part) for part in path[:-1]]
    return steps or None


def checked(value: Any) -> Any:
    """The value, if no key of a map in it would come back as another. Raises `Refused`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            checked_name(name)
            checked(inner)
    elif isinstance(value, list):
        for each in value:
            checked(each)
    return value


def checked_name(name: str) -> str:
    """A key of a map, which the client reads up to the first NUL only. Raises `Refused`."""
    if "\0" in name:
        raise Refused("the client ends the key of a map at a NUL")
    return name
