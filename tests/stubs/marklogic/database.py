"""Documents in memory with their versions, and transactions that lock."""

from __future__ import annotations

import copy
import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.stubs.marklogic import RestError
from tests.stubs.marklogic.paths import holder, select

_WAIT_SECONDS = 5.0
"""How long a lock is waited for at most."""


@dataclass(frozen=True)
class Stored:
    """One version of one document."""

    content: bytes
    type: str
    version: int
    collections: tuple[str, ...] = ()
    parsed: Any = None
    """Of a JSON document."""


@dataclass
class Transaction:
    """What was written in it, and which documents it has locked."""

    name: str
    changes: dict[str, Stored | None] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    """Locked for reads: others may read them too, and not write them."""
    written: set[str] = field(default_factory=set)
    waits: set[str] = field(default_factory=set)
    """The transactions whose locks it waits for."""


class Database:
    """One content database, with the properties that the REST and the management API show."""

    def __init__(self) -> None:
        self._documents: dict[str, Stored] = {}
        self._changed = threading.Condition(threading.RLock())
        self._versions = itertools.count(16_000_000_000_000_000)
        self._transactions: dict[str, Transaction] = {}
        self._ids = itertools.count(7_000_000_000_000_000_000)
        self._building: dict[str, int] = {}
        self.policy = "merge-metadata"
        self.properties: dict[str, Any] = {"database-name": "Documents", "journaling": "fast", "range-path-index": []}
        self.index_looks = 0
        """How often the status is asked for until a new index can be used; 0: at once."""

    def set_properties(self, changed: Mapping[str, Any]) -> None:
        """Replace properties as a whole; queries cannot use a new index yet."""
        with self._changed:
            there = {each["path-expression"] for each in self.properties["range-path-index"]}
            self.properties |= changed
            if self.index_looks:
                fresh = {each["path-expression"] for each in self.properties["range-path-index"]} - there
                self._building |= dict.fromkeys(fresh, self.index_looks)

    def status(self) -> dict[str, Any]:
        """What the management API says of the database; each look brings the indexes nearer to their end."""
        with self._changed:
            count = len(self._building)
            self._building = {path: looks - 1 for path, looks in self._building.items() if looks > 1}
            properties = {"state": {"units": "enum", "value": "available"}, "reindex-count": {"units": "quantity", "value": count}}
            return {"database-status": {"name": "Documents", "status-properties": properties}}

    def usable_indexes(self) -> list[Mapping[str, Any]]:
        """The range indexes that queries may use: those that are not still being built."""
        return [each for each in self.properties["range-path-index"] if each["path-expression"] not in self._building]

    def view(self, txid: str | None) -> dict[str, Stored]:
        """All documents, as one state."""
        with self._changed:
            seen: dict[str, Stored | None] = dict(self._documents)
            if txid is not None:
                seen |= self._open(txid).changes
            return {uri: stored for uri, stored in seen.items() if stored is not None}

    def read(self, uri: str, txid: str | None) -> Stored | None:
        """The document; in a transaction others may only read it from then on."""
        with self._changed:
            if txid is not None:
                self._lock(uri, txid, shared=True)
            return self._seen(uri, txid)

    def write(
        self, uri: str, content: bytes, type_: str, *, collections: Sequence[str] | None, match: str | None, txid: str | None
    ) -> bool:
        """Whether the document is new."""
        parsed = _parsed(content) if type_ == "application/json" else None
        with self._writing(uri, txid) as old:
            self._check(uri, old, match)
            kept = collections if collections is not None else old.collections if old else ()
            self._change(uri, txid, Stored(content, type_, next(self._versions), tuple(kept), parsed))
            return old is None

    def delete(self, uri: str, *, must_exist: bool, match: str | None, txid: str | None) -> None:
        """Remove a document."""
        with self._writing(uri, txid) as old:
            if old is None and must_exist:
                raise RestError(404, "XDMP-DOCNOTFOUND", f"No document found at {uri}")
            if old is not None:
                self._check(uri, old, match)
                self._change(uri, txid, None)

    def delete_collection(self, name: str) -> None:
        """Remove all documents of a collection."""
        with self._changed:
            for uri in [uri for uri, stored in self._documents.items() if name in stored.collections]:
                del self._documents[uri]

    def patch(self, uri: str, operations: Sequence[Mapping[str, Any]], *, match: str | None, txid: str | None) -> None:
        """Change parts of a document."""
        with self._writing(uri, txid) as old:
            if old is None:
                raise RestError(404, "RESTAPI-NODOCUMENT", f"Resource or document does not exist:  category: content message: {uri}")
            self._check(uri, old, match)
            parsed = copy.deepcopy(old.parsed)
            for operation in operations:
                ((kind, details),) = operation.items()
                _apply(parsed, kind, details)
            content = json.dumps(parsed).encode()
            self._change(uri, txid, Stored(content, old.type, next(self._versions), old.collections, parsed))

    def begin(self, name: str) -> str:
        """Open a transaction; its id."""
        with self._changed:
            txid = str(next(self._ids))
            self._transactions[txid] = Transaction(name or f"client-txn {txid}")
            return txid

    def transaction_status(self, txid: str) -> dict[str, Any]:
        """What a transaction says of itself."""
        with self._changed:
            found = self._open(txid)
            host = {"host-id": "1", "host-name": "localhost"}
            return {
                "transaction-status": {"host": host, "transaction-id": txid, "transaction-name": found.name, "transaction-mode": "update"}
            }

    def end(self, txid: str, *, commit: bool) -> None:
        """Keep what was written in a transaction, or do not."""
        with self._changed:
            ended = self._open(txid)
            del self._transactions[txid]
            for uri, stored in ended.changes.items() if commit else ():
                if stored is None:
                    self._documents.pop(uri, None)
                else:
                    self._documents[uri] = stored
            self._changed.notify_all()

    @contextmanager
    def _writing(self, uri: str, txid: str | None) -> Iterator[Stored | None]:
        with self._changed:
            self._lock(uri, txid, shared=False)
            yield self._seen(uri, txid)

    def _lock(self, uri: str, txid: str | None, *, shared: bool) -> None:
        """Wait for a lock. A transaction that would wait for one that waits for it is rolled back, as the server does it."""
        own = self._open(txid) if txid is not None else None
        while waits := {name for name, other in self._transactions.items() if name != txid and self._holds(other, uri, shared=shared)}:
            if own is not None and txid is not None:
                own.waits = waits
            if (txid is not None and self._is_waited_for(txid, waits)) or not self._changed.wait(_WAIT_SECONDS):
                if txid is not None:
                    self.end(txid, commit=False)
                raise RestError(500, "XDMP-DEADLOCK", f"Deadlock detected locking {uri}")
        if own is not None:
            own.waits = set()
            (own.read if shared else own.written).add(uri)

    @staticmethod
    def _holds(transaction: Transaction, uri: str, *, shared: bool) -> bool:
        """Whether a transaction keeps others from reading, or from writing."""
        return uri in transaction.written or (not shared and uri in transaction.read)

    def _is_waited_for(self, txid: str, waits: set[str]) -> bool:
        """Whether one of these transactions waits, itself or by way of others, for this one."""
        seen: set[str] = set()
        while waits:
            if txid in waits:
                return True
            seen |= waits
            waits = {each for name in waits if name in self._transactions for each in self._transactions[name].waits} - seen
        return False

    def _seen(self, uri: str, txid: str | None) -> Stored | None:
        if txid is not None and uri in (changes := self._open(txid).changes):
            return changes[uri]
        return self._documents.get(uri)

    def _change(self, uri: str, txid: str | None, stored: Stored | None) -> None:
        if txid is not None:
            self._open(txid).changes[uri] = stored
        elif stored is None:
            self._documents.pop(uri, None)
        else:
            self._documents[uri] = stored

    def _open(self, txid: str) -> Transaction:
        if txid not in self._transactions:
            raise RestError(400, "XDMP-NOTXN", f"No transaction with identifier {txid}")
        return self._transactions[txid]

    def _check(self, uri: str, old: Stored | None, match: str | None) -> None:
        """A version that is given has to be the document's; whether one has to be given is the policy's."""
        if self.policy not in ("version-optional", "version-required"):
            return
        if match not in (None, "0"):
            if old is None or str(old.version) != match:
                raise RestError(412, "RESTAPI-CONTENTWRONGVERSION", f"Content version mismatch:  uri {uri} doesn't match if-match: {match}")
        elif old is not None and self.policy == "version-required":
            raise RestError(428, "RESTAPI-CONTENTNOVERSION", f"No content version supplied:  uri {uri}")


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError as reason:
        raise RestError(400, "XDMP-JSONDOC", f"Document is not JSON: {reason}") from None


def _apply(document: Any, kind: str, details: Mapping[str, Any]) -> None:
    """One operation of a patch on one place: what needs several is refused, which the server would do all at once."""
    allowed = {
        "insert": {"context", "position", "content", "cardinality"},
        "replace": {"select", "content", "cardinality"},
        "replace-insert": {"select", "context", "position", "content", "cardinality"},
        "delete": {"select", "cardinality"},
    }
    if set(details) - allowed.get(kind, set()):
        raise RestError(400, "RESTAPI-INVALIDREQ", f"the stub does not know the patch operation {kind} with {sorted(details)}")
    inserting = kind == "insert" or (kind == "replace-insert" and not select(document, details["select"]))
    places = select(document, details["context" if inserting else "select"])
    bounds = {"?": (0, 1), ".": (1, 1), "*": (0, 1 << 30), "+": (1, 1 << 30)}[details.get("cardinality", "*")]
    if not bounds[0] <= len(places) <= bounds[1]:
        raise RestError(400, "RESTAPI-INVALIDREQ", f"cardinality {details['cardinality']} does not match {len(places)} places of {kind}")
    for place in reversed(places):
        if inserting:
            _insert(place.value, details)
        elif kind == "delete":
            del holder(document, place)[place.way[-1]]
        else:
            content = details["content"]
            if kind == "replace-insert" and isinstance(content, dict) and list(content) == [place.way[-1]]:
                content = content[place.way[-1]]  # a property with its name takes the place of the one that has it
            holder(document, place)[place.way[-1]] = content


def _insert(inside: Any, details: Mapping[str, Any]) -> None:
    content = details["content"]
    if details["position"] != "last-child":
        raise RestError(400, "RESTAPI-INVALIDREQ", f"the stub does not know the position {details['position']}")
    if isinstance(inside, list):
        inside.append(content)
    elif isinstance(inside, dict) and isinstance(content, dict) and not inside.keys() & content.keys():
        inside.update(content)
    else:
        raise RestError(400, "RESTAPI-INVALIDREQ", f"cannot insert {content!r} as last child of a {type(inside).__name__}")
