"""What Couchbase does by key with any record, and how its errors are sorted.

A record is one document under its key, and the key is the document's id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol, TypeVar

from couchbase import exceptions as errors
from couchbase import subdocument
from couchbase.collection import Collection as Keyspace
from couchbase.durability import DurabilityLevel, ServerDurability

from storeproof.contract import MISSING, Attempts, ExactExpiry, Key, Layout, Record, Refused, Unknown, Unsupported

T = TypeVar("T")

LEVELS: Final = {
    "none": None,
    "majority": DurabilityLevel.MAJORITY,
    "majority_and_persist_active": DurabilityLevel.MAJORITY_AND_PERSIST_TO_ACTIVE,
    "persist_to_majority": DurabilityLevel.PERSIST_TO_MAJORITY,
}
"""The values of the option `durability`: when a write is acknowledged."""

_SPECS: Final = 16
"""Paths in one sub-document request, by the server's limit."""

_REFUSALS: Final = (
    errors.AuthenticationException,
    errors.DeltaInvalidException,
    errors.DocumentExistsException,
    errors.DocumentLockedException,
    errors.DocumentNotFoundException,
    errors.DurabilityImpossibleException,
    errors.DurabilityInvalidLevelException,
    errors.DurabilitySyncWriteInProgressException,
    errors.InvalidArgumentException,
    errors.NumberTooBigException,
    errors.ParsingFailedException,
    errors.PathExistsException,
    errors.PathInvalidException,
    errors.PathMismatchException,
    errors.PathNotFoundException,
    errors.PathTooBigException,
    errors.PathTooDeepException,
    errors.SubdocCantInsertValueException,
    errors.ValueFormatException,
    errors.ValueTooDeepException,
)
"""The server's answers that nothing was changed, and requests that never left. The client does send again by itself, which
cannot be switched off; but only what a server refused, or what never left, so that no write is sent twice."""

_TOO_LARGE: Final = 104
"""The client's number for a value above 20 MB, which has no exception of its own (`errc::key_value::value_too_large`)."""


_LONGEST: Final = 246
"""Bytes of a document's id in a collection: of the 250 that the server allows, up to 4 are for the collection."""


def failure_of(reason: Exception) -> Exception:
    """A refusal where it is known to be one; anything else leaves the question open."""
    text = f"{type(reason).__name__}: {str(reason)[:300]}"
    if isinstance(reason, (errors.FeatureUnavailableException, errors.UnsupportedOperation)):
        return Unsupported(text)
    if isinstance(reason, (*_REFUSALS, UnicodeEncodeError, RecursionError, ValueError, TypeError)):
        return Refused(text)
    return Refused(text) if getattr(reason, "error_code", None) == _TOO_LARGE else Unknown(text)


def run(operation: Callable[..., T], *args: Any, **options: Any) -> T:
    """One call of the client, its errors sorted."""
    try:
        return operation(*args, **options)
    except (errors.CouchbaseException, UnicodeEncodeError, RecursionError, ValueError, TypeError) as reason:
        raise failure_of(reason) from reason


class Place(Protocol):
    """Where the records of a collection are."""

    keyspace: Keyspace
    prefix: str
    """What precedes every key; empty where the keyspace is the collection's own."""

    def create(self) -> None:
        """Make it, and wait until it takes records; one that is there stays as it is."""

    def drop(self) -> None:
        """Remove it with its records, and nothing else."""


class Records(ExactExpiry):
    """Whole records; a subclass says how a record is written."""

    transcoder: Any = None
    """None for the client's own, which is JSON."""

    def __init__(self, place: Place, layout: Layout, durability: str) -> None:
        self._place = place
        self._keyspace = place.keyspace
        self._prefix = place.prefix
        self._layout = layout
        self._durability = durability
        level = LEVELS[durability]
        self._safely: dict[str, Any] = {} if level is None else {"durability": ServerDurability(level)}
        self._coding: dict[str, Any] = {} if self.transcoder is None else {"transcoder": self.transcoder}

    def encode(self, record: Record) -> Any:
        raise NotImplementedError

    def decode(self, content: Any) -> Record:
        raise NotImplementedError

    def name(self, key: Key) -> str:
        name = f"{self._prefix}{key}"
        if len(name.encode(errors="replace")) > _LONGEST:
            raise Refused(f"the server does not allow an id of more than {_LONGEST} bytes")
        return name

    def prepare(self) -> None:
        self._place.create()

    def clear(self) -> None:
        self._place.drop()

    def describe(self) -> Mapping[str, str]:
        """The durability level goes with every write: the server keeps none. By key alone there are no indexes."""
        return {"indexes": "0", "durability": self._durability}

    def get(self, key: Key) -> Record | None:
        found = self._get(key)
        return None if found is None else self.decode(found.value)

    def put(self, key: Key, record: Record) -> None:
        """An upsert, which also ends any expiry."""
        run(self._keyspace.upsert, self.name(key), self.encode(record), **self._safely, **self._coding)

    def delete(self, key: Key) -> bool:
        try:
            self._keyspace.remove(self.name(key), **self._safely)
        except errors.DocumentNotFoundException:
            return False
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason
        return True

    def exists(self, key: Key) -> bool:
        return bool(run(self._keyspace.exists, self.name(key)).exists)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        try:
            self._keyspace.insert(self.name(key), self.encode(record), **self._safely, **self._coding)
        except errors.DocumentExistsException:
            return False
        except (errors.CouchbaseException, UnicodeEncodeError, ValueError, TypeError) as reason:
            raise failure_of(reason) from reason
        return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A replace with the CAS of what was read: the server does it only if the record has not changed since; else it is read again."""
        tries = Attempts(f"compare-and-set of {key!r}")
        while True:
            tries.count()
            found = self._get(key)
            if found is None or not _equal(self.decode(found.value), expected):
                return False
            try:
                self._keyspace.replace(self.name(key), self.encode(record), cas=found.cas, **self._safely, **self._coding)
            except (errors.CasMismatchException, errors.DocumentNotFoundException):
                continue
            except (errors.CouchbaseException, UnicodeEncodeError, ValueError, TypeError) as reason:
                raise failure_of(reason) from reason
            return True

    def get_and_set(self, key: Key, record: Record) -> Record | None:
        """A replace with the CAS that was read, or an insert where there was nothing; tried again if the record has changed."""
        tries = Attempts(f"get-and-set of {key!r}")
        while True:
            tries.count()
            found = self._get(key)
            if found is None:
                if self.put_if_absent(key, record):
                    return None
                continue
            try:
                self._keyspace.replace(self.name(key), self.encode(record), cas=found.cas, **self._safely, **self._coding)
            except (errors.CasMismatchException, errors.DocumentNotFoundException):
                continue
            except (errors.CouchbaseException, UnicodeEncodeError, ValueError, TypeError) as reason:
                raise failure_of(reason) from reason
            return self.decode(found.value)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        """An upsert with an expiry, in whole seconds from the server's own.

        It is not rounded up to a moment of this machine's clock: the server ends a record when the second in which it would end has
        passed (`exptime < now` in its source), so never before its time, and up to a second after it.
        """
        run(self._keyspace.upsert, self.name(key), self.encode(record), expiry=timedelta(seconds=seconds), **self._safely, **self._coding)

    def expire(self, key: Key, seconds: int) -> bool:
        """A touch, which the protocol sends without a durability level: where writes have one, it could not be kept."""
        if self._safely:
            raise Unsupported(f"a touch carries no durability level, so that it would not be acknowledged as `{self._durability}` says")
        try:
            self._keyspace.touch(self.name(key), timedelta(seconds=seconds))
        except errors.DocumentNotFoundException:
            return False
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason
        return True

    def expires_in(self, key: Key) -> float | None:
        """The server tells the moment, in whole seconds; what is left of it is by the clock of this machine."""
        try:
            moment = self._keyspace.lookup_in(self.name(key), [subdocument.get("$document.exptime", xattr=True)]).content_as[as_it_is](0)
        except errors.DocumentNotFoundException:
            return None
        except errors.PathNotFoundException as reason:
            raise Unsupported("the server does not report when a document expires") from reason
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason
        return max(0.0, moment - time.time()) if moment else None

    def persist(self, key: Key) -> bool:
        return self.expire(key, 0)

    def _get(self, key: Key) -> Any:
        try:
            return self._keyspace.get(self.name(key), **self._coding)
        except errors.DocumentNotFoundException:
            return None
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason

    def look(self, key: Key, *paths: str) -> list[Any]:
        """The values at sub-document paths, or MISSING, by one request."""
        if not paths:
            return []
        try:
            found = self._keyspace.lookup_in(self.name(key), [subdocument.get(path) for path in _as_many(paths)])
        except (errors.DocumentNotFoundException, errors.PathNotFoundException, errors.PathMismatchException):
            return [MISSING] * len(paths)  # with one path, what is wrong with it may be said of the request
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason
        return [_content(found, number) for number in range(len(paths))]

    def change(self, key: Key, *specs: Any, create: bool = False) -> Any:
        """Sub-document changes. `PathNotFoundException` and `DocumentNotFoundException` are left to the caller."""
        semantics = {"store_semantics": subdocument.StoreSemantics.UPSERT} if create else {}
        try:
            return self._keyspace.mutate_in(self.name(key), _as_many(specs), **semantics, **self._safely)
        except (errors.PathNotFoundException, errors.DocumentNotFoundException, errors.PathExistsException):
            raise
        except (errors.CouchbaseException, UnicodeEncodeError, ValueError, TypeError) as reason:
            raise failure_of(reason) from reason


def _as_many(specs: Sequence[T]) -> Sequence[T]:
    if len(specs) > _SPECS:
        raise Unsupported(f"a sub-document request has at most {_SPECS} paths; found {len(specs)}")
    return specs


def _content(found: Any, number: int) -> Any:
    try:
        return found.content_as[as_it_is](number)
    except (errors.PathNotFoundException, errors.PathMismatchException):
        return MISSING
    except errors.CouchbaseException as reason:
        raise failure_of(reason) from reason


def as_it_is(content: Any) -> Any:
    """In place of a type that the client would cast to."""
    return content


def _equal(found: Any, expected: Any) -> bool:
    """As `==`, but 1 and true are two values, and so are 1 and 1.0."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_equal(found[name], expected[name]) for name in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_equal, found, expected))
    return type(found) is type(expected) and bool(found == expected)
