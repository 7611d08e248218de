"""Whole records of every model, and those models that are no more than that: values, counters and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pymongo import ASCENDING, DESCENDING, ReplaceOne, ReturnDocument
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure

from storeproof.adapters.mongodb.feed import Followed
from storeproof.adapters.mongodb.filter import equals, pattern
from storeproof.adapters.mongodb.link import Link, Stored, sorting
from storeproof.contract import Cursor, Key, Layout, Record, Refused, Row, Unsupported

_NAMESPACE_EXISTS: Final = 48
_DUPLICATE_KEY: Final = 11000

_ENDS: Final = "ends"
"""The field that a TTL index watches, beside the record."""
_SWEPT: Final = "a TTL index removes expired documents once a minute, and until then reads return them"
_LACKING: Final[Mapping[str, str]] = {
    "Expiry": _SWEPT,
    "ExpiryControl": _SWEPT,
    "Append": "MongoDB concatenates strings, not binary data",
    "FieldCounter": "$inc needs a number; a field of a hash is binary data, which cannot be converted to one",
    "StoredSearches": "MongoDB cannot store searches and match them against a document",
    "Procedures": "MongoDB has no stored procedures that write, and an update changes one document",
}


class Records(Followed):
    """Whole records; a subclass says how a record is written."""

    unsupported_because: Mapping[str, str] = _LACKING
    root = ""
    """What precedes the path of an indexed field."""

    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__()
        self._link = link
        self._layout = layout
        self._collection = link.collection(layout.name)

    def encode(self, record: Record) -> Stored:
        raise NotImplementedError

    def decode(self, found: Mapping[str, Any]) -> Record:
        raise NotImplementedError

    def equal(self, record: Record) -> Stored:
        """The filter for documents that hold exactly this record."""
        return self.encode(record)

    def prepare(self) -> None:
        with sorting():
            self._create()
            for path in self._layout.indexed:
                self._collection.create_index([(self.root + ".".join(path), ASCENDING)])

    def _create(self) -> None:
        try:
            self._link.database.create_collection(self._layout.name, check_exists=False, write_concern=self._link.concerns.write)
        except OperationFailure as reason:
            if reason.code != _NAMESPACE_EXISTS:
                raise

    def clear(self) -> None:
        self.leave_feed()
        with sorting():
            self._collection.drop()

    def describe(self) -> Mapping[str, str]:
        """The indexes beside that of `_id`, those for texts and places, which come with the model, and that of `put_swept`; and the write
        concern.

        The write concern goes with every write, since the server keeps none.
        """
        with sorting():
            found = self._collection.index_information()
        apart = {"textIndexVersion", "2dsphereIndexVersion", "expireAfterSeconds"}
        indexes = sum(name != "_id_" and not index.keys() & apart for name, index in found.items())
        members = len(self._link.command("hello").get("hosts", ()))
        return {"indexes": str(indexes), **self._link.concerns.live(), "replica_set": "of_one" if members == 1 else f"of {members}"}

    def get(self, key: Key) -> Record | None:
        with sorting():
            found = self._collection.find_one({"_id": key}, session=self._link.session)
        return None if found is None else self.decode(found)

    def put(self, key: Key, record: Record) -> None:
        with sorting():
            self._collection.replace_one({"_id": key}, self.encode(record), upsert=True, session=self._link.session)

    def delete(self, key: Key) -> bool:
        with sorting():
            return self._collection.delete_one({"_id": key}, session=self._link.session).deleted_count == 1

    def exists(self, key: Key) -> bool:
        """By `_id`, and nothing but the `_id` is sent."""
        with sorting():
            return self._collection.find_one({"_id": key}, {"_id": 1}, session=self._link.session) is not None

    def count(self) -> int:
        """count_documents, which counts; the estimate may be wrong after a crash."""
        with sorting():
            return self._collection.count_documents({}, session=self._link.session)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """`$in`; the batch size keeps it to one request."""
        if not keys:
            return []
        wanted = list(dict.fromkeys(keys))
        with sorting():
            answer = self._collection.find({"_id": {"$in": wanted}}, batch_size=len(wanted) + 1, session=self._link.session)
            found = {each["_id"]: self.decode(each) for each in answer}
        return [found.get(key) for key in keys]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        if not records:
            return
        with sorting():
            writes = [ReplaceOne({"_id": key}, self.encode(record), upsert=True) for key, record in records.items()]
            self._collection.bulk_write(writes, ordered=False, session=self._link.session)

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        """An unordered insert, as mongoimport sends it: the index on `_id` decides, as for `put_if_absent`."""
        if not records:
            return True
        new = [{"_id": key, **self.encode(record)} for key, record in records.items()]
        with sorting():
            try:
                self._collection.insert_many(new, ordered=False, session=self._link.session)
            except BulkWriteError as reason:
                failures = [(new[each["index"]]["_id"], each) for each in reason.details["writeErrors"]]
                there = all(each["code"] == _DUPLICATE_KEY and self._is_there(key, each) for key, each in failures)
                if reason.details["writeConcernErrors"] or not there:
                    raise
                return False
        return True

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """An insert; the index on `_id` decides, and only that: another unique index refuses."""
        with sorting():
            try:
                self._collection.insert_one({"_id": key, **self.encode(record)}, session=self._link.session)
            except DuplicateKeyError as reason:
                if not self._is_there(key, reason.details or {}):
                    raise
                return False
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A replace whose filter has the expected record in it."""
        with sorting():
            same = {"_id": key, **self.equal(expected)}
            return self._collection.replace_one(same, self.encode(record), session=self._link.session).matched_count == 1

    def put_swept(self, key: Key, record: Record, seconds: int) -> None:
        """With the time of its end, for a TTL index; a background task deletes what has ended, every 60 s as it is set by default.

        An index on a collection that has it changes nothing. It is sparse: records without an end are not in it.
        """
        ends = datetime.now(UTC) + timedelta(seconds=seconds)
        with sorting():
            self._collection.create_index([(_ENDS, ASCENDING)], expireAfterSeconds=0, sparse=True)
            self._collection.replace_one({"_id": key}, {**self.encode(record), _ENDS: ends}, upsert=True, session=self._link.session)

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """find_one_and_replace, which answers the document as it was before."""
        with sorting():
            found: Any = self._collection.find_one_and_replace(
                {"_id": key}, self.encode(record), upsert=True, return_document=ReturnDocument.BEFORE, session=self._link.session
            )
        return None if found is None else self.decode(found)

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """In the order of `_id`: without a collation text is compared as UTF-8 bytes, which is by code point."""
        bounds = {} if start is None else {"_id": {"$lte" if backwards else "$gte": start}}
        return [(each["_id"], self.decode(each)) for each in self._ordered(bounds, count, backwards)]

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """A regular expression that is anchored, which MongoDB turns into bounds on the index of `_id`."""
        if self._layout.model.key != "text":
            raise Unsupported("only text keys have prefixes")
        bounds = {"_id": {"$regex": pattern("prefix", prefix)[0]}} if prefix else {}
        return [(each["_id"], self.decode(each)) for each in self._ordered(bounds, count)]

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """From the last key on, in the order of `_id`. A cursor of the server's would time out, and ends with its session."""
        bounds = {} if cursor is None else {"_id": {"$gt": cursor}}
        keys = [each["_id"] for each in self._ordered(bounds, count, parts={"_id": 1})]
        return (keys[-1] if len(keys) == count else None), keys

    def _is_there(self, key: Key, failure: Mapping[str, Any]) -> bool:
        """Whether a duplicate key, which an insert failed of, is that of the record."""
        # Relatives send the code alone, which does not say which index it was: then the record itself does.
        pattern = failure.get("keyPattern")
        return self.exists(key) if pattern is None else bool(pattern == {"_id": 1})

    def _ordered(self, bounds: Stored, count: int, backwards: bool = False, parts: Stored | None = None) -> list[Stored]:
        if count == 0:
            return []  # to MongoDB, a limit of 0 is no limit
        order = [("_id", DESCENDING if backwards else ASCENDING)]
        with sorting():
            return list(self._collection.find(bounds, parts, sort=order, limit=count, batch_size=count + 1, session=self._link.session))

    def _update(self, condition: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
        """Change the one document of a filter; whether there is one."""
        with sorting():
            return self._collection.update_one(condition, change, session=self._link.session).matched_count == 1

    def _updated(self, condition: Mapping[str, Any], change: Any, answer: Any, upsert: bool = False, before: bool = False) -> Any:
        """Change the one document of a filter and answer an expression on it, in one request.

        None if there was no document to answer from; MISSING is not told apart from it.
        """
        which = ReturnDocument.BEFORE if before else ReturnDocument.AFTER
        with sorting():
            found: Any = self._collection.find_one_and_update(
                condition, change, {"_id": 0, "v": answer}, upsert=upsert, return_document=which, session=self._link.session
            )
        return None if found is None else found.get("v")

    def _part(self, key: Key, expression: Any) -> Stored | None:
        """An expression on the document, as `v`: a projection. None if there is no document."""
        with sorting():
            return self._collection.find_one({"_id": key}, {"_id": 0, "v": expression}, session=self._link.session)


class Values(Records):
    def encode(self, record: Record) -> Stored:
        return {"v": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        value: bytes = found["v"]
        return value


class Counters(Records):
    def encode(self, record: Record) -> Stored:
        return {"n": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        number: int = found["n"]
        return number

    def increment(self, key: Key, by: int) -> int:
        """`$inc`; a sum beyond 64 bits is refused."""
        number: int = self._updated({"_id": key}, {"$inc": {"n": by}}, "$n", upsert=True)
        return number


class Rows(Records):
    def encode(self, record: Record) -> Stored:
        assert isinstance(record, Row)
        return {"integer": record.integer, "real": record.real}

    def decode(self, found: Mapping[str, Any]) -> Record:
        return Row(found["integer"], found["real"])


class Fielded(Records):
    """Records whose fields are under `d`, so that no field name can meet `_id`."""

    root = "d."

    def encode(self, record: Record) -> Stored:
        return {"d": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        fields: dict[str, Any] = found["d"]
        return fields

    def equal(self, record: Record) -> Stored:
        """Field by field: to MongoDB two objects with the same fields in another order are not equal."""
        assert isinstance(record, dict)
        return {"$expr": equals("$d", record)}


def dotted(path: Sequence[str | int]) -> str:
    """MongoDB's notation for a place in a document, which has no escapes. Raises `Refused`: there is none for this place."""
    for part in path:
        if isinstance(part, str) and (not part or part.startswith("$") or "." in part or "\0" in part):
            raise Refused(f"MongoDB has no notation for an update through the field name {part!r}")
        if isinstance(part, int) and part < 0:
            raise Refused(f"there is no list position {part}")
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    return "d." + ".".join(map(str, path))
