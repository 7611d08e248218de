"""A client with what all of its collections share: what a variant's options ask of writes and reads, the transaction that is open, and the
sorting of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal, DecimalException
from typing import Any, Final

from bson.codec_options import CodecOptions, TypeCodec, TypeDecoder, TypeRegistry
from bson.decimal128 import Decimal128
from bson.errors import BSONError, InvalidBSON
from bson.int64 import Int64
from pymongo import MongoClient, WriteConcern, errors, timeout
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.read_concern import ReadConcern

from storeproof.contract import Refused, Unknown, Unsupported, WrongReply

Stored = dict[str, Any]
"""A document as PyMongo has it."""

_LEFT_OPEN: Final = frozenset({50, 64, 91, 189, 262, 10107, 11600, 11601, 11602, 13435, 13436})
"""Codes of replies after which a write may still happen or be undone: time limits, shutdown, interruption, a lost primary."""

_NOT_BEGUN: Final = frozenset({2, 9, 51091})
"""Codes of a write that was not understood: bad value, failed to parse, bad regular expression."""

_NOT_OFFERED: Final = frozenset({59, 115, 168, 238, 303, 304, 40324})
"""Codes of what a server has not: no such command, not supported, no such operator, not implemented, no such stage; 303 and 304 are
Amazon DocumentDB's, for features and for stages."""

_NO_SUCH_TRANSACTION: Final = 251

_GOODBYE: Final = 0.5
"""Seconds for ending the sessions of a connection."""

_FAILURES: Final = (errors.PyMongoError, BSONError, OverflowError, UnicodeEncodeError, RecursionError, DecimalException, KeyError)
"""What PyMongo raises; `KeyError` where a reply is without a field that every reply of its kind has."""


class _PlainInt(TypeDecoder):
    """PyMongo reads 64-bit integers as a subclass of int; the contract wants int."""

    bson_type = Int64

    def transform_bson(self, value: Any) -> int:
        return int(value)


class _Exact(TypeCodec):
    """Exact decimals are Decimal128, of 34 digits; PyMongo refuses to send more."""

    python_type = Decimal
    bson_type = Decimal128

    def transform_python(self, value: Any) -> Decimal128:
        return Decimal128(value)

    def transform_bson(self, value: Any) -> Decimal:
        exact: Decimal = value.to_decimal()
        return exact


_CODEC: Final[CodecOptions[Stored]] = CodecOptions(type_registry=TypeRegistry([_PlainInt(), _Exact()]))


@contextmanager
def sorting(many: bool = False) -> Iterator[None]:
    """Turn the client's errors into the contract's. `many`: the request writes to all records that match.
    Raises `Refused` or `Unknown` or `Unsupported` or `WrongReply`: as what happened inside is sorted."""
    try:
        yield
    except _FAILURES as reason:
        raise (_failure_of_many if many else _failure_of)(reason) from reason


def _failure_of(reason: Exception) -> Exception:
    """A lost connection, a failed write concern and an interruption leave the question open; every other error reply is a refusal."""
    text = f"{type(reason).__name__}: {str(reason)[:300]}"
    if isinstance(reason, KeyError):
        return WrongReply(f"a reply without the field {reason}")
    if isinstance(reason, (InvalidBSON, errors.ProtocolError)):
        return WrongReply(text)
    if isinstance(reason, errors.ConfigurationError) and "wire version" in str(reason):
        return Unsupported(f"client and server have no protocol in common: {text}")
    if isinstance(reason, errors.OperationFailure) and reason.code in _NOT_OFFERED:
        return Unsupported(f"the server says: {text}")
    if isinstance(reason, (errors.ConnectionFailure, errors.WriteConcernError)):
        return Unknown(text)
    if isinstance(reason, errors.BulkWriteError):
        done = reason.details or {}
        began = done.get("nInserted", 0) or done.get("nUpserted", 0) or done.get("nMatched", 0) or done.get("writeConcernErrors")
        return Unknown(text) if began else Refused(text)
    if isinstance(reason, errors.OperationFailure) and reason.code in _LEFT_OPEN:
        return Unknown(text)
    return Refused(text)


def _failure_of_many(reason: Exception) -> Exception:
    """A write to many that broke off may have been done to some of them, and the reply does not say to how many."""
    failure = _failure_of(reason)
    if isinstance(failure, (Unsupported, WrongReply)):
        return failure
    begun = isinstance(reason, errors.WriteError) and reason.code not in _NOT_BEGUN
    return Unknown(str(failure)) if begun else failure


class Link:
    """One client, one database."""

    def __init__(self, open_client: Callable[[], MongoClient[Stored]], database: str, concerns: Concerns) -> None:
        client = open_client()
        self._open_client = open_client
        self._others: list[Link] = []
        self.database: Database[Stored] = client.get_database(database, codec_options=_CODEC)
        self.concerns = concerns
        self._transaction: ClientSession | None = None
        """The session of the transaction that is open."""
        self._causal = client.start_session(causal_consistency=True) if concerns.causal else None
        self._client = client

    @property
    def session(self) -> ClientSession | None:
        """What goes with every request."""
        return self._transaction or self._causal

    def position(self) -> tuple[Any, Any] | None:
        """The times of the cluster and of its last operation that a causally consistent session has seen."""
        return None if self._causal is None else (self._causal.cluster_time, self._causal.operation_time)

    def follow(self, position: tuple[Any, Any] | None) -> None:
        if self._causal is not None and position is not None and None not in position:
            self._causal.advance_cluster_time(position[0])
            self._causal.advance_operation_time(position[1])

    def collection(self, name: str) -> Collection[Stored]:
        return self.database.get_collection(name, write_concern=self.concerns.write, read_concern=self.concerns.read)

    def command(self, name: str, value: Any = 1, **arguments: Any) -> Stored:
        """A command to the database `admin`."""
        with sorting():
            return self._client.admin.command(name, value, **arguments)

    def begin(self) -> None:
        if self._transaction is not None:
            raise Refused("a transaction is open already")
        with sorting():
            self._transaction = self._client.start_session()
            self._transaction.start_transaction(ReadConcern("snapshot"), self.concerns.write)

    def commit(self) -> None:
        """End the transaction. Whether it was committed or not, the session is done.

        PyMongo sends it again if the reply is lost, and only the last error is seen: that of a node that knows no such transaction, or one
        of the client itself, which then says that it knows no server with sessions.
        """
        session, self._transaction = self._transaction, None
        if session is None:
            raise Refused("no transaction is open")
        with session:
            try:
                session.commit_transaction()
            except _FAILURES as reason:
                failure = _failure_of(reason)
                answered = isinstance(reason, errors.OperationFailure) and reason.code != _NO_SUCH_TRANSACTION
                if isinstance(failure, Refused) and not answered:
                    raise Unknown(str(failure)) from reason
                raise failure from reason

    def rollback(self) -> None:
        """Undo the transaction; PyMongo passes over the error of one that the server has undone."""
        session, self._transaction = self._transaction, None
        if session is not None:
            with sorting(), session:
                session.abort_transaction()

    def replicated(self) -> bool:
        """Whether the server is one of a replica set, or stands before a sharded cluster."""
        hello = self.command("hello")
        return "setName" in hello or hello.get("msg") == "isdbgrid"

    def another(self) -> Link:
        """A further client, which ends with this one at the latest."""
        self._others.append(Link(self._open_client, self.database.name, self.concerns))
        return self._others[-1]

    def close(self) -> None:
        """End the connections. PyMongo first tells the server which sessions end, and would look for a server that is gone: all of them
        together have one deadline, since of nested ones the first counts."""
        with suppress(Exception), timeout(_GOODBYE):
            for other in self._others:
                other.close()
            self._client.close()


_MEMBERS: Final[Mapping[str, int | str]] = {"1": 1, "majority": "majority"}

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "journal": ("true", "false"),
    "w": tuple(_MEMBERS),
    "reads": ("local", "majority", "linearizable"),
    "causal": ("true", "false"),
}
"""`journal`, "true" for a write concern with `j: true`; `w`, how many members of a replica set must have a write; `reads`, the read
concern; `causal`, "true" for causally consistent sessions."""


@dataclass(frozen=True)
class Concerns:
    """They go with every request, since the server keeps none. What the options do not say is the server's own default."""

    write: WriteConcern = field(default_factory=WriteConcern)
    read: ReadConcern = field(default_factory=ReadConcern)
    causal: bool = False
    """Whether each request says what the client has seen before."""

    def live(self) -> dict[str, str]:
        written = self.write.document
        return {
            "journal": "true" if written.get("j") else "false",
            "w": str(written.get("w", "(the default)")),
            "reads": self.read.level or "(the default)",
            "causal": "true" if self.causal else "false",
        }


def concerns_of(options: Mapping[str, str]) -> Concerns:
    members = _MEMBERS.get(options.get("w", ""))
    read = ReadConcern(options.get("reads"))
    causal = options.get("causal") == "true"
    if options.get("journal") == "true":
        return Concerns(WriteConcern(w=members or 1, j=True), read, causal)
    return Concerns(WriteConcern(w=members) if members is not None else WriteConcern(), read, causal)
