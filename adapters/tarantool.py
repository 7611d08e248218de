"""Tarantool, through its Python connector.

A record is one tuple: the key, then its columns (value, counter, row), one nullable column per field (hash) or one map
(document). Bytes are `varbinary`. Reads and writes of whole tuples are the protocol's own requests. What the protocol has
no request for (many keys, a path in a map, compare and set) is a Lua function: it runs inside the store, in a transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import tarantool
from tarantool.const import ITERATOR_GE, ITERATOR_LE
from tarantool.error import DatabaseError, Error, NetworkError, SslError

from storeproof.adapters.tarantool_feed import FEED_FUNCTIONS, Followed
from storeproof.adapters.tarantool_index import Indexed
from storeproof.adapters.tarantool_index_lua import INDEX_FUNCTIONS
from storeproof.adapters.tarantool_lua import FUNCTIONS
from storeproof.adapters.tarantool_notation import UNPACKABLE, notation, packed, place
from storeproof.adapters.tarantool_server import Server
from storeproof.adapters.tarantool_structures import Queues, Rankings, Sets
from storeproof.adapters.tarantool_structures_lua import STRUCTURE_FUNCTIONS
from storeproof.contract import (
    MISSING,
    Address,
    Collection,
    Cursor,
    Json,
    Key,
    Layout,
    Missing,
    Path,
    Record,
    Refused,
    Row,
    Unknown,
    Unsupported,
)
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

# From src/box/errcode.h.
_TUPLE_FOUND: Final = 3
_OF_THE_KEY: Final = re.compile("unique index .primary. in space")
"""The record is there; in any other index it is a value that another record has."""
_NO_SUCH_PROC: Final = 33
_NO_SUCH_SPACE: Final = 36
_LEFT_OPEN: Final = frozenset({78, 116})
"""ER_TIMEOUT; ER_LOADING, which only says that the instance is not ready yet."""

_FAILURES: Final = (Error, *UNPACKABLE)


def _sorted(reason: Exception) -> Exception:
    """Errors of the network leave the question open; replies with an error, and what could not be sent, are refusals.

    The connector makes an error of the network of whatever stops it while it connects, also of a wrong password.
    """
    if isinstance(reason, NetworkError) and isinstance(reason.__cause__, DatabaseError) and not isinstance(reason.__cause__, NetworkError):
        reason = reason.__cause__
    if isinstance(reason, (NetworkError, SslError)):
        return Unknown(f"{type(reason).__name__}: {reason}")
    if isinstance(reason, DatabaseError) and _LEFT_OPEN.intersection(reason.args[:1]):
        return Unknown(str(reason))
    return Refused(str(reason))


class _Connection(tarantool.Connection):  # type: ignore[misc]  # the connector has no types
    """A connection that is lost when it is lost. The connector itself would look for that before each request, warn, wait and connect."""

    def _opt_reconnect(self) -> None:
        if self._socket is None:
            self.connect()


_NO_END: Final = "Tarantool's records have no time to live; those of the module expirationd are deleted by a fiber of the application"
_NO_ORDER: Final = "a hash index has no order"
_NOT_IN_MAPS: Final = "Tarantool's SQL does not look into maps, and beyond a select there are only Lua programs of the application's"
_LACKING: Final = {
    "Expiry": _NO_END,
    "ExpiryControl": _NO_END,
    "FieldCounter": "the fields of a hash are columns of bytes, and Tarantool adds to numbers",
    "Ordered": _NO_ORDER,
    "Prefix": _NO_ORDER,
    "Walk": "a hash index has no place to go on from",
    "Aggregate": _NOT_IN_MAPS,
    "Facets": _NOT_IN_MAPS,
    "Bulk": _NOT_IN_MAPS,
    "Lookup": _NOT_IN_MAPS,
    "Validation": "a space's format has the types of columns, and of no path in a map",
}
"""Ordered, Prefix and Walk are there where the primary index is a tree."""


class TarantoolSession(Server):
    """One connection."""

    lacks: Mapping[str, str] = {
        "Transactions": "a transaction ends with the request that began it (2.10 has streams, which its Python connector has not)"
    }

    def __init__(self, connection: tarantool.Connection, options: Mapping[str, str]) -> None:
        self.connection = connection
        self.engine = options.get("engine", "memtx")
        self.index = options.get("index", "tree")

    def run(self, request: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Send one of the connection's requests and answer the data of the reply."""
        try:
            return request(*args, **options).data
        except _FAILURES as reason:
            raise self.judged(reason) from reason

    def call(self, function: str, *args: Any) -> Any:
        """Call one of our Lua functions; a server that was started anew is given them again. All that it returns, as a list."""
        try:
            return self.connection.call(f"storeproof.{function}", args).data
        except DatabaseError as reason:
            if reason.args[:1] != (_NO_SUCH_PROC,):
                raise self.judged(reason) from reason
        except _FAILURES as reason:
            raise self.judged(reason) from reason
        self.install()
        return self.run(self.connection.call, f"storeproof.{function}", args)

    def install(self) -> str:
        """Give the server our functions; answers its status."""
        return str(
            self.run(self.connection.eval, FUNCTIONS + INDEX_FUNCTIONS + STRUCTURE_FUNCTIONS + FEED_FUNCTIONS + "return box.info.status")[0]
        )

    def evaluate(self, text: str, *args: Any) -> Any:
        """Run Lua; all that it returns, as a list."""
        return self.run(self.connection.eval, text, *args)

    def collection(self, layout: Layout) -> Collection:
        """A space; one with a tree is ordered."""
        record = layout.model.record
        if isinstance(record, (shapes.Queue, shapes.Members, shapes.Ranking)):
            if isinstance(record, shapes.Queue):
                return Queues(self, layout)
            return Sets(self, layout) if isinstance(record, shapes.Members) else Rankings(self, layout)
        kinds: tuple[type[Space], type[Space]]
        if isinstance(record, shapes.Value):
            kinds = Values, OrderedValues
        elif isinstance(record, shapes.Counter):
            kinds = Counters, OrderedCounters
        elif isinstance(record, shapes.Hash):
            kinds = Hashes, OrderedHashes
        elif isinstance(record, shapes.Row):
            kinds = Rows, OrderedRows
        else:
            kinds = Documents, OrderedDocuments
        return kinds[self.index == "tree"](self, layout)

    def close(self) -> None:
        """End the connection."""
        with suppress(Exception):
            self.connection.close()

    def judged(self, reason: Exception) -> Exception:
        """The error of the contract that this one is."""
        judged = _sorted(reason)
        if isinstance(judged, Unknown):
            self.close()  # a late reply would be taken for that of the next request: the connector does not compare numbers
        return judged


class Space:
    """Whole records; a subclass says how a record is written."""

    columns: Sequence[Sequence[str]] = ()
    """Names and types of the columns behind the key."""

    lacks: Mapping[str, str] = _LACKING

    def __init__(self, session: TarantoolSession, layout: Layout) -> None:
        self._session = session
        self._call = session.call
        self._connection = session.connection
        self._layout = layout
        self._name = layout.name
        self._number: int | None = None

    def encode(self, record: Any) -> Sequence[Any]:
        """The columns of a record."""
        raise NotImplementedError

    def decode(self, found: Sequence[Any]) -> Record:
        """The record of a whole tuple."""
        raise NotImplementedError

    def indexed(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        """The part of an index on a path."""
        position = next(place for place, column in enumerate(self.columns) if column[0] == path[0])
        return {"field": position + 2, "type": self.columns[position][1]}

    def ask(self, request: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Send one of the connection's requests about this space, by its number: the connector's own schema is never read again.

        A space that was made anew has another number. A request with the old one changed nothing, and is sent again.
        """
        if self._number is None:
            self._number = self._call("number", self._name)[0]
        try:
            return request(self._number, *args, **options).data
        except DatabaseError as reason:
            if reason.args[:1] == (_TUPLE_FOUND,) and _OF_THE_KEY.search(str(reason)):
                return None
            if reason.args[:1] != (_NO_SUCH_SPACE,):
                raise self._session.judged(reason) from reason
        except _FAILURES as reason:
            raise self._session.judged(reason) from reason
        self._number = self._call("number", self._name)[0]
        return self._session.run(request, self._number, *args, **options)

    def prepare(self) -> None:
        """Create the space and its indexes."""
        key = ["key", "string" if self._layout.model.key == "text" else "integer"]
        nullable = [{"name": name, "type": kind, "is_nullable": kind == "varbinary"} for name, kind in self.columns]
        indexes = [self.indexed(path) for path in self._layout.indexed]
        self._call("prepare", self._name, self._session.engine, self._session.index, [key, *nullable], indexes)

    def clear(self) -> None:
        """Drop the space."""
        self._call("clear", self._name)

    def describe(self) -> Mapping[str, str]:
        """Engine, type of the primary index and number of the others, asked of the space."""
        found: dict[str, str] = self._call("describe", self._name)[0]
        return found

    def get(self, key: Key) -> Record | None:
        """SELECT."""
        found = self.ask(self._connection.select, [key], limit=1)
        return self.decode(found[0]) if found else None

    def put(self, key: Key, record: Record) -> None:
        """REPLACE."""
        self.ask(self._connection.replace, [key, *self.encode(record)])

    def delete(self, key: Key) -> bool:
        """A function, which does not send the record back."""
        return bool(self._call("delete", self._name, key)[0])

    def exists(self, key: Key) -> bool:
        """A function, which does not send the record."""
        return bool(self._call("exists", self._name, key)[0])

    def count(self) -> int:
        """space:count(), exact in Vinyl too."""
        return int(self._call("count", self._name)[0])

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """space:get of each."""
        if not keys:
            return []
        found = self._call("get_many", self._name, list(keys))[0]
        return [None if each is None else self.decode(each) for each in found]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """space:replace of each, in one transaction."""
        if records:
            self._call("put_many", self._name, packed([[key, *self.encode(record)] for key, record in records.items()]))

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """INSERT."""
        return self.ask(self._connection.insert, [key, *self.encode(record)]) is not None

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """Column by column, in one transaction."""
        wanted = list(self.encode(expected))
        return bool(self._call("compare_and_set", self._name, key, wanted, packed([[key, *self.encode(record)]]))[0])

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """space:get and space:replace, in one transaction."""
        found = self._call("get_and_set", self._name, key, packed([[key, *self.encode(record)]]))
        return self.decode(found[0]) if found and found[0] is not None else None


class Values(Followed, Space):
    """Opaque values."""

    columns = (("value", "varbinary"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        value: bytes = found[1]
        return value

    def append(self, key: Key, value: bytes) -> None:
        """space:get and space:replace, in one transaction; the protocol's splice knows text only."""
        self._call("append", self._name, key, value)


class Counters(Followed, Space):
    """Numbers: from -2**63 to 2**64 - 1."""

    columns = (("number", "integer"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        number: int = found[1]
        return number

    def increment(self, key: Key, by: int) -> int:
        """Update or insert, in one transaction; UPSERT does not answer the sum."""
        return int(self._call("increment", self._name, key, by)[0])

    def transfer(self, source: Key, target: Key, amount: int) -> bool:
        """A function of our own, in a transaction."""
        if amount < 0:
            raise Refused(f"an amount is not negative; found {amount}")
        return bool(self._call("transfer", self._name, source, target, amount)[0])


class Rows(Followed, Space):
    """Rows."""

    columns = (("integer", "integer"), ("real", "double"))

    def encode(self, record: Any) -> Sequence[Any]:
        return (record.integer, record.real)

    def decode(self, found: Sequence[Any]) -> Record:
        return Row(found[1], found[2])


class Hashes(Followed, Space):
    """Hashes, a column for each field; a field that is not there is null. One without fields stays, empty."""

    def __init__(self, session: TarantoolSession, layout: Layout) -> None:
        super().__init__(session, layout)
        assert isinstance(layout.model.record, shapes.Hash)
        self._fields = layout.model.record.fields
        self._place = {field: place for place, field in enumerate(self._fields, start=2)}
        self.columns = [(field, "varbinary") for field in self._fields]

    def encode(self, record: Any) -> Sequence[Any]:
        values = list(map(record.get, self._fields))
        if len(values) - values.count(None) != len(record):
            raise Refused(f"the space has the columns {', '.join(self._fields)}; the record has others")
        return values

    def decode(self, found: Sequence[Any]) -> Record:
        return {field: value for field, value in zip(self._fields, found[1:], strict=True) if value is not None}

    def get_field(self, key: Key, field: str) -> bytes | None:
        """The column alone."""
        place = self._place.get(field)
        found = self._call("get_column", self._name, key, place) if place else None
        return found[0][0] if found else None

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """UPSERT."""
        place = self._known(field)
        fresh = [key] + [value if name == field else None for name in self._fields]
        self.ask(self._connection.upsert, fresh, [("=", place - 1, value)])

    def delete_field(self, key: Key, field: str) -> bool:
        """A null in its column."""
        place = self._place.get(field)
        return bool(place and self._call("delete_column", self._name, key, place)[0])

    def _known(self, field: str) -> int:
        if field not in self._place:
            raise Refused(f"the space has the columns {', '.join(self._fields)}; found {field!r}")
        return self._place[field]


class Documents(Indexed, Followed, Space):
    """Documents, each a map."""

    columns = (("doc", "map"),)

    def encode(self, record: Any) -> Sequence[Any]:
        return (record,)

    def decode(self, found: Sequence[Any]) -> Record:
        fields: dict[str, Json] = found[1]
        return fields

    def indexed(self, path: tuple[str, ...]) -> Mapping[str, Any]:
        """A scalar of any type; objects and lists are refused there."""
        return {"field": 2, "type": "scalar", "path": notation(path)}

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """The value alone."""
        found = self._call("get_path", self._name, key, *place(path))
        return found[0] if found else MISSING

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, which refuses a path whose parent is not there."""
        if not path:
            raise Refused("the path is empty: the whole record is replaced by put")
        return bool(self._call("set_path", self._name, key, f"doc{notation(path)}", value)[0])

    def unset_path(self, key: Key, path: Path) -> bool:
        """space:update."""
        if not path or isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        return bool(self._call("unset_path", self._name, key, *place(path))[0])

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """space:update, in one transaction with the question whether there is something to add to."""
        if not path:
            raise Refused("the path is empty: a record is no number")
        found = self._call("increment_path", self._name, key, *place(path), by)
        return found[0] if found else None

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update with an insertion behind the last."""
        return bool(self._call("push_item", self._name, key, f"doc{notation(path)}", value)[0])

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update with an insertion, which is refused beyond the end."""
        if not path or not isinstance(path[-1], int) or path[-1] < 0:
            raise Refused(f"an item is put at a position; found {path}")
        return bool(self._call("insert_item", self._name, key, f"doc{notation(path[:-1])}", path[-1] + 1, value)[0])

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, item by item in one transaction."""
        return bool(self._call("pull_item", self._name, key, f"doc{notation(path)}", value)[0])

    def add_to_set(self, key: Key, path: Path, value: Json) -> bool:
        """space:update, unless the item is there."""
        return bool(self._call("add_to_set", self._name, key, f"doc{notation(path)}", value)[0])

    def item_count(self, key: Key, path: Path) -> int | Missing:
        """The length alone."""
        found = self._call("item_count", self._name, key, f"doc{notation(path)}")
        return int(found[0]) if found else MISSING


class Scanned(Space):
    """A space whose primary index is a tree: text is compared as UTF-8 bytes, which is by code point."""

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """SELECT with an iterator."""
        bounds = [] if start is None else [start]
        found = self.ask(self._connection.select, bounds, limit=count, iterator=ITERATOR_LE if backwards else ITERATOR_GE)
        return [(each[0], self.decode(each)) for each in found]

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """From the prefix on, up to the first key without it."""
        if self._layout.model.key != "text":
            raise Unsupported("numbers have no prefix")
        return [(each[0], self.decode(each)) for each in self._call("scan_prefix", self._name, prefix, count)[0]]

    def walk(self, cursor: Cursor | None, count: int) -> tuple[Cursor | None, Sequence[Key]]:
        """From the last key on, which need not be there any more."""
        found = self._call("walk", self._name, cursor, count)[0]
        return found[-1] if len(found) == count else None, found


class OrderedValues(Scanned, Values):
    """Values in a tree."""


class OrderedCounters(Scanned, Counters):
    """Numbers in a tree."""


class OrderedRows(Scanned, Rows):
    """Rows in a tree."""


class OrderedHashes(Scanned, Hashes):
    """Hashes in a tree."""


class OrderedDocuments(Scanned, Documents):
    """Documents in a tree."""


_OPTIONS: Final = {"engine": ("memtx", "vinyl"), "index": ("tree", "hash")}


def connect(address: Address, options: Mapping[str, str]) -> TarantoolSession:
    """Open one authenticated session.

    `options`: `engine` (memtx, vinyl) and `index` (tree, hash) of the spaces.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: nobody answers, or the instance still loads its data.
    """
    for name, value in options.items():
        if value not in _OPTIONS.get(name, ()):
            raise Refused(f"the Tarantool adapter knows the options {_OPTIONS}; found {name}: {value}")
    try:
        connection = _Connection(
            address.host,
            address.port,
            user=address.user,
            password=address.password,
            socket_timeout=_TIMEOUT,
            connection_timeout=_TIMEOUT,
            reconnect_max_attempts=0,
            reconnect_delay=0,
            transport="ssl" if address.tls else "",
        )
    except _FAILURES as reason:
        raise _sorted(reason) from reason
    session = TarantoolSession(connection, options)
    try:
        status = session.install()
    except (Refused, Unknown):
        session.close()
        raise
    if status != "running":
        session.close()
        raise Unknown(f"the instance is {status}")
    return session
