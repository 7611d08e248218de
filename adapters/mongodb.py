"""MongoDB, through PyMongo.

A record is one document under `_id`, its key. Values are in `v`, counters in `n`, rows in `integer` and `real`;
the fields of hashes and documents are under `d`, so that no field name can meet `_id`. What is set or compared inside
a document is said in update paths and aggregation expressions: the server does the work, in one request.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import pymongo
from bson.codec_options import CodecOptions, TypeDecoder, TypeRegistry
from bson.errors import BSONError
from bson.int64 import Int64
from pymongo import ASCENDING, DESCENDING, MongoClient, ReplaceOne, ReturnDocument, WriteConcern
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import BulkWriteError, ConnectionFailure, DuplicateKeyError, OperationFailure, PyMongoError, WriteConcernError

import storeproof.adapters.mongodb_query as asked
from storeproof.contract import MISSING, Address, Found, Json, Key, Layout, Missing, Path, Record, Refused, Row, Unknown, Version
from storeproof.spec import model as shapes
from storeproof.spec.query import Aggregation, Browse, Query, Where

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_GOODBYE: Final = 0.5
"""Seconds for ending the sessions of a connection."""

_DATABASE: Final = "storeproof"

_LEFT_OPEN: Final = frozenset({50, 64, 91, 189, 262, 10107, 11600, 11601, 11602, 13435, 13436})
"""Codes of replies after which a write may still happen or be undone: time limits, shutdown, interruption, a lost primary."""

_NOT_BEGUN: Final = frozenset({2, 9, 51091})
"""Codes of a write that was not understood: bad value, failed to parse, bad regular expression."""

_ONE_BATCH: Final = 2**31 - 1
"""As many results as a reply can hold, so that an answer takes one request."""

_NAMESPACE_EXISTS: Final = 48

_FAILURES: Final = (PyMongoError, BSONError, OverflowError, UnicodeEncodeError, RecursionError)

_KIN: Final = {"psmdbVersion": "Percona Server for MongoDB", "ferretdb": "FerretDB", "ferretdbVersion": "FerretDB"}
"""What buildInfo of other servers with this protocol has and MongoDB's has not."""

_Asked = TypeVar("_Asked", Query, Aggregation, Browse)


class _PlainInt(TypeDecoder):
    """PyMongo reads 64-bit integers as a subclass of int; the contract wants int."""

    bson_type = Int64

    def transform_bson(self, value: Any) -> int:
        return int(value)


_CODEC: Final[CodecOptions[dict[str, Any]]] = CodecOptions(type_registry=TypeRegistry([_PlainInt()]))


def _sorted(reason: Exception) -> Exception:
    """A lost connection, a failed write concern and an interruption leave the question open; every other error is a refusal."""
    text = f"{type(reason).__name__}: {str(reason)[:300]}"
    if isinstance(reason, (ConnectionFailure, WriteConcernError)):
        return Unknown(text)
    if isinstance(reason, BulkWriteError):
        done = reason.details or {}
        began = done.get("nUpserted", 0) or done.get("nMatched", 0) or done.get("writeConcernErrors")
        return Unknown(text) if began else Refused(text)
    if isinstance(reason, OperationFailure) and reason.code in _LEFT_OPEN:
        return Unknown(text)
    return Refused(text)


class MongoSession:
    """One client with a pool of one connection; PyMongo watches the server over a second one."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: str, options: Mapping[str, str]) -> None:
        self._client = client
        self._database: Database[dict[str, Any]] = client.get_database(database, codec_options=_CODEC)
        # Without `j` the server's own default holds, which is what the variant `default` is about.
        self._concern = WriteConcern(w=1, j=True) if options.get("journal") == "true" else WriteConcern()

    def version(self) -> Version:
        """By buildInfo."""
        found = self._command("buildInfo")
        return Version(next((name for field, name in _KIN.items() if field in found), "MongoDB"), str(found["version"]))

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """`storageEngine` by serverStatus, all others by getParameter."""
        live = {}
        for name in names:
            if name == "storageEngine":
                live[name] = str(self._command("serverStatus")["storageEngine"]["name"])
            else:
                live[name] = str(self._command("getParameter", 1, **{name: 1})[name])
        return live

    def probe(self) -> None:
        """A request that whoever is logged in may make, and nobody else where a login is asked for (unlike buildInfo)."""
        try:
            self._database.command("listCollections", 1, filter={"name": ""}, nameOnly=True, authorizedCollections=True)
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def collection(self, layout: Layout) -> Records:
        """A MongoDB collection."""
        record = layout.model.record
        if isinstance(record, shapes.Value):
            return Values(self._database, self._concern, layout)
        if isinstance(record, shapes.Counter):
            return Counters(self._database, self._concern, layout)
        if isinstance(record, shapes.Hash):
            return Hashes(self._database, self._concern, layout)
        if isinstance(record, shapes.Row):
            return Rows(self._database, self._concern, layout)
        return Documents(self._database, self._concern, layout)

    def close(self) -> None:
        """End the connections. PyMongo first tells the server which sessions end, and would look for a server that is gone."""
        with suppress(Exception), pymongo.timeout(_GOODBYE):
            self._client.close()

    def _command(self, name: str, value: int = 1, **arguments: Any) -> dict[str, Any]:
        try:
            return self._client.admin.command(name, value, **arguments)
        except _FAILURES as reason:
            raise _sorted(reason) from reason


class Records:
    """Whole records; a subclass says how a record is written."""

    root = ""
    """What precedes the path of an indexed field."""

    def __init__(self, database: Database[dict[str, Any]], concern: WriteConcern, layout: Layout) -> None:
        self._database = database
        self._layout = layout
        self._concern = concern
        self._collection: MongoCollection[dict[str, Any]] = database.get_collection(layout.name, write_concern=concern)

    def encode(self, record: Record) -> dict[str, Any]:
        """The document of a record, without its `_id`."""
        raise NotImplementedError

    def decode(self, found: Mapping[str, Any]) -> Record:
        """The record of a document."""
        raise NotImplementedError

    def equal(self, record: Record) -> dict[str, Any]:
        """The filter for documents that hold exactly this record."""
        return self.encode(record)

    def prepare(self) -> None:
        """Create the collection and its indexes."""
        try:
            self._create()
            for path in self._layout.indexed:
                self._collection.create_index([(self.root + ".".join(path), ASCENDING)])
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def _create(self) -> None:
        try:
            self._database.create_collection(self._layout.name, check_exists=False, write_concern=self._concern)
        except OperationFailure as reason:
            if reason.code != _NAMESPACE_EXISTS:
                raise

    def clear(self) -> None:
        """Drop the collection."""
        try:
            self._collection.drop()
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def describe(self) -> Mapping[str, str]:
        """The indexes beside that of `_id`; and the write concern that goes with every write, since the server keeps none."""
        try:
            indexes = len(self._collection.index_information()) - 1
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return {"indexes": str(indexes), "journal": "true" if self._collection.write_concern.document.get("j") else "false"}

    def get(self, key: Key) -> Record | None:
        """By `_id`."""
        try:
            found = self._collection.find_one({"_id": key})
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return None if found is None else self.decode(found)

    def put(self, key: Key, record: Record) -> None:
        """Replace the document, or insert it."""
        try:
            self._collection.replace_one({"_id": key}, self.encode(record), upsert=True)
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def delete(self, key: Key) -> bool:
        """By `_id`."""
        try:
            return self._collection.delete_one({"_id": key}).deleted_count == 1
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def exists(self, key: Key) -> bool:
        """By `_id`, and nothing but the `_id` is sent."""
        try:
            return self._collection.find_one({"_id": key}, {"_id": 1}) is not None
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def count(self) -> int:
        """count_documents, which counts; the estimate may be wrong after a crash."""
        try:
            return self._collection.count_documents({})
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """`$in`; the batch size keeps it to one request."""
        if not keys:
            return []
        wanted = list(dict.fromkeys(keys))
        try:
            found = {each["_id"]: self.decode(each) for each in self._collection.find({"_id": {"$in": wanted}}, batch_size=len(wanted) + 1)}
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return [found.get(key) for key in keys]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """One unordered bulk write."""
        if not records:
            return
        try:
            writes = [ReplaceOne({"_id": key}, self.encode(record), upsert=True) for key, record in records.items()]
            self._collection.bulk_write(writes, ordered=False)
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """An insert; the index on `_id` decides."""
        try:
            self._collection.insert_one({"_id": key, **self.encode(record)})
        except DuplicateKeyError:
            return False
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A replace whose filter has the expected record in it."""
        try:
            return self._collection.replace_one({"_id": key, **self.equal(expected)}, self.encode(record)).matched_count == 1
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """In the order of `_id`: without a collation text is compared as UTF-8 bytes, which is by code point."""
        if count == 0:
            return []  # to MongoDB, a limit of 0 is no limit
        bounds = {} if start is None else {"_id": {"$lte" if backwards else "$gte": start}}
        order = [("_id", DESCENDING if backwards else ASCENDING)]
        try:
            found = self._collection.find(bounds, sort=order, limit=count, batch_size=count + 1)
            return [(each["_id"], self.decode(each)) for each in found]
        except _FAILURES as reason:
            raise _sorted(reason) from reason


class Values(Records):
    """Opaque values."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"v": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        value: bytes = found["v"]
        return value


class Counters(Records):
    """Numbers."""

    def encode(self, record: Record) -> dict[str, Any]:
        return {"n": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        number: int = found["n"]
        return number

    def increment(self, key: Key, by: int) -> int:
        """`$inc`; a sum beyond 64 bits is refused."""
        try:
            found: Any = self._collection.find_one_and_update(
                {"_id": key}, {"$inc": {"n": by}}, upsert=True, return_document=ReturnDocument.AFTER
            )
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        number: int = found["n"]
        return number


class Rows(Records):
    """Rows."""

    def encode(self, record: Record) -> dict[str, Any]:
        assert isinstance(record, Row)
        return {"integer": record.integer, "real": record.real}

    def decode(self, found: Mapping[str, Any]) -> Record:
        return Row(found["integer"], found["real"])


class Fielded(Records):
    """Records whose fields are under `d`."""

    root = "d."

    def encode(self, record: Record) -> dict[str, Any]:
        return {"d": record}

    def decode(self, found: Mapping[str, Any]) -> Record:
        fields: dict[str, Json] = found["d"]
        return fields

    def equal(self, record: Record) -> dict[str, Any]:
        """Field by field: to MongoDB two objects with the same fields in another order are not equal."""
        assert isinstance(record, dict)
        return {"$expr": asked.equals("$d", record)}


class Hashes(Fielded):
    """Hashes. One whose last field was removed stays, empty."""

    def get_field(self, key: Key, field: str) -> bytes | None:
        """A projection."""
        try:
            found = self._collection.find_one({"_id": key}, {"_id": 0, "v": asked.at((field,))})
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return None if found is None else found.get("v")

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """`$set`, which creates the record where there is none."""
        try:
            self._collection.update_one({"_id": key}, {"$set": {_dotted((field,)): value}}, upsert=True)
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def delete_field(self, key: Key, field: str) -> bool:
        """`$unset`."""
        try:
            return self._collection.update_one({"_id": key}, {"$unset": {_dotted((field,)): ""}}).modified_count == 1
        except _FAILURES as reason:
            raise _sorted(reason) from reason


class Documents(Fielded):
    """Documents."""

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """A projection."""
        try:
            found = self._collection.find_one({"_id": key}, {"_id": 0, "v": asked.at(path)})
        except _FAILURES as reason:
            raise _sorted(reason) from reason
        return MISSING if found is None else found.get("v", MISSING)

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """`$set`; the filter asks for the parent, since `$set` alone would create it."""
        target = _dotted(path)
        if self._update(key, asked.settable(path), {"$set": {target: value}}):
            return True
        if self.exists(key):
            raise Refused(f"there is no object or list position to set at {target}")
        return False

    def unset_path(self, key: Key, path: Path) -> bool:
        """`$unset`; it would put a null in the place of a list's item, so the filter asks for an object where it matters."""
        target = _dotted(path)
        if isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        guard = asked.settable(path) if not asked.is_plain(path) else {}
        return self._update(key, guard, {"$unset": {target: ""}}) or (bool(guard) and self.exists(key))

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """An aggregation."""
        return [asked.found(query, each) for each in self._answers(asked.finding, query)]

    def count_where(self, where: Where) -> int:
        """count_documents."""
        try:
            return self._collection.count_documents(asked.matching(where.filter))
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def aggregate(self, aggregation: Aggregation) -> Sequence[dict[str, Json]]:
        """`$group`."""
        return [asked.row_of(aggregation, each) for each in self._answers(asked.aggregating, aggregation)]

    def browse(self, browse: Browse) -> Found:
        """`$facet`, whose answer is one document of at most 16 MB."""
        return asked.browsed(browse, self._answers(asked.browsing, browse)[0])

    def update_where(self, where: Where, path: Path, value: Json) -> int:
        """update_many. What has no place to set the value in is left as it is, and not counted."""
        change = {"$set": {_dotted(path): value}}
        try:
            both = {"$and": [asked.matching(where.filter), asked.settable(path)]}
            return self._collection.update_many(both, change).matched_count
        except _FAILURES as reason:
            raise _sorted_of_many(reason) from reason

    def delete_where(self, where: Where) -> int:
        """delete_many."""
        try:
            return self._collection.delete_many(asked.matching(where.filter)).deleted_count
        except _FAILURES as reason:
            raise _sorted_of_many(reason) from reason

    def _answers(self, pipeline: Callable[[_Asked], list[dict[str, Any]]], request: _Asked) -> list[dict[str, Any]]:
        try:
            return list(self._collection.aggregate(pipeline(request), batchSize=_ONE_BATCH))
        except _FAILURES as reason:
            raise _sorted(reason) from reason

    def _update(self, key: Key, guard: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
        try:
            return self._collection.update_one({"_id": key, **guard}, change).matched_count == 1
        except _FAILURES as reason:
            raise _sorted(reason) from reason


def _dotted(path: Path) -> str:
    """MongoDB's notation for a place in a document, which has no escapes."""
    for part in path:
        if isinstance(part, str) and (not part or part.startswith("$") or "." in part or "\0" in part):
            raise Refused(f"MongoDB has no notation for an update through the field name {part!r}")
        if isinstance(part, int) and part < 0:
            raise Refused(f"there is no list position {part}")
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    return "d." + ".".join(map(str, path))


def _sorted_of_many(reason: Exception) -> Exception:
    """A write to many that broke off may have been done to some of them, and the reply does not say to how many."""
    sorted_ = _sorted(reason)
    begun = isinstance(reason, pymongo.errors.WriteError) and reason.code not in _NOT_BEGUN
    return Unknown(str(sorted_)) if begun else sorted_


def connect(address: Address, options: Mapping[str, str]) -> MongoSession:
    """Open one session.

    `options`: `journal`, "true" for a write concern with `j: true`, "false" for the server's default.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: nobody answers.
    """
    if set(options) - {"journal"} or options.get("journal") not in (None, "true", "false"):
        raise Refused(f'the MongoDB adapter knows the option `journal`, "true" or "false"; found {dict(options)}')
    try:
        # PyMongo would wait its whole timeout for somebody to listen; a store that is being started is asked often.
        socket.create_connection((address.host, address.port), timeout=_TIMEOUT).close()
    except OSError as reason:
        raise Unknown(f"nobody listens on {address}: {reason}") from reason
    client: MongoClient[dict[str, Any]] = MongoClient(
        address.host,
        address.port,
        username=address.user,
        password=address.password,
        tls=address.tls,
        directConnection=True,
        retryWrites=False,
        retryReads=False,
        maxPoolSize=1,
        serverMonitoringMode="poll",
        serverSelectionTimeoutMS=_TIMEOUT * 1000,
        connectTimeoutMS=_TIMEOUT * 1000,
        socketTimeoutMS=_TIMEOUT * 1000,
    )
    session = MongoSession(client, address.database or _DATABASE, options)
    try:
        session.probe()
    except (Refused, Unknown):
        session.close()
        raise
    return session
