"""Whole records in MarkLogic: read, written, scanned by the range index of their keys."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, Final, TypeVar

from marklogic.documents import DefaultMetadata, Document
from marklogic.transactions import Transaction

from storeproof.adapters.marklogic.indexes import Indexes, NoManagement
from storeproof.adapters.marklogic.link import JSON, Deadlock, NoIndex, Server, answered, sorting
from storeproof.adapters.marklogic.query import Translation, search
from storeproof.adapters.marklogic.record import Form, equal, extracted
from storeproof.adapters.marklogic.text import by_index_alone
from storeproof.contract import Attempts, Key, Layout, Record, Refused, Unknown, Unsupported
from storeproof.spec.query import Where

T = TypeVar("T")

_TRANSACTION_SECONDS: Final = 20
"""The server ends a transaction that was left open after this time."""

_ATTEMPTS: Final = 10
_PAUSE: Final = 0.005
"""How often a transaction that met a deadlock is tried, and the longest pause in seconds before the first repetition, doubled each time."""

_OK: Final = 200
_ABSENT: Final = 404
_CHANGED: Final = 412

INEXACT: Final = (
    "for phrases, word prefixes and words with non-ASCII punctuation the indexes return candidates only, so that the total is an estimate"
)


class Records:
    def __init__(self, server: Server, layout: Layout) -> None:
        self._server = server
        self._layout = layout
        self._words = Translation(layout.name, layout.model)
        self._form = Form(layout)
        self._versioned = server.options.get("update-policy") == "version-optional"

    @cached_property
    def _indexes(self) -> Indexes:
        """The index of the key, and the indexes that were asked for. Raises `Unsupported` where there can be none."""
        wanted = [self._words.key, *map(self._words.index, self._layout.indexed)]
        if not self._layout.indexes and self._server.options.get("range-indexes") == "model":
            wanted += self._words.every_index()
        return Indexes(self._server, self._layout.name, wanted)

    def prepare(self) -> None:
        """Set the journal as the variant has it, make the range indexes, and wait until they can be used."""
        indexes = self._indexes
        try:
            self._server.set_journaling()
            indexes.make()
        except NoManagement as reason:
            if len(indexes.wanted) > 1:
                raise Unsupported(f"range indexes are created through the management API, which does not answer: {reason}") from None

    def clear(self) -> None:
        """Delete the collection's documents, and its indexes with them."""
        self._server.ask("DELETE", "/v1/search", params={**self._server.target, "collection": self._layout.name})
        with suppress(Unknown):  # without the management API there are no indexes of ours
            Indexes(self._server, self._layout.name, ()).remove()

    def describe(self) -> Mapping[str, str]:
        """The range indexes on the records' fields; the options as the database and the REST instance have them."""
        options = self._server.options
        try:
            properties = self._server.properties()
        except Unknown:
            properties = {}
        inside = f"/{self._layout.name}/record/"
        count = sum(each["path-expression"].startswith(inside) for each in properties.get("range-path-index", []))
        found = {"indexes": str(count)}
        if "range-indexes" in options:
            found["range-indexes"] = options["range-indexes"]
        if "update-policy" in options:
            found["update-policy"] = self._server.policy()
        if "journaling" in options:
            found["journaling"] = str(properties.get("journaling", "(not reported)"))
        return found

    def get(self, key: Key) -> Record | None:
        return self._read(key)[0]

    def put(self, key: Key, record: Record) -> None:
        self._write(key, record)

    def delete(self, key: Key) -> bool:
        """DELETE, which is told to say so where there is nothing."""
        return self._status("DELETE", key, params={"check": "exists"}) != _ABSENT

    def exists(self, key: Key) -> bool:
        return self._status("HEAD", key) == _OK

    def count(self) -> int:
        """The total of a search: the documents of a collection are counted in the index."""
        return self._total(None)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """GET of many URIs, whose answer has many parts."""
        if not keys:
            return []
        with sorting():
            found = self._server.client.documents.read(
                [self._form.uri(key) for key in dict.fromkeys(keys)], params=dict(self._server.target)
            )
        if not isinstance(found, list):
            answered(found, (_ABSENT,))
            found = []
        records = {each.uri: self._form.decode(each.content) for each in found}
        return [records.get(self._form.uri(key)) for key in keys]

    def put_many(self, records: Mapping[Key, Record]) -> None:
        """POST of many parts; the collection is said once, for all that follow."""
        if not records:
            return
        parts: list[Any] = [DefaultMetadata(collections=[self._layout.name])]
        for key, record in records.items():
            parts.append(Document(self._form.uri(key), self._form.encode(key, record), content_type="application/json"))
        with sorting():
            reply = self._server.client.documents.write(parts, params=dict(self._server.target))
        answered(reply)

    def put_if_absent(self, key: Key, record: Record) -> bool:
        """In a transaction: the look locks the URI, whether there is a document or not."""

        def decide(transaction: Transaction) -> bool:
            if self._read(key, transaction)[0] is not None:  # not HEAD, whose errors have no words
                return False
            self._write(key, record, transaction=transaction)
            return True

        return self._decided(decide)

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A write on the condition of the version that was read; without versions, in a transaction, whose read locks."""
        wanted, tries = self._form.encode(key, expected), Attempts(f"compare-and-set of {key!r}")
        while self._versioned:
            tries.count()
            found, version = self._read(key)
            if found is None or not equal(self._form.encode(key, found), wanted):
                return False
            if version is None:
                raise Refused("the REST instance keeps no versions: its update-policy was changed")
            if self._write(key, record, version=version).status_code != _CHANGED:
                return True

        def decide(transaction: Transaction) -> bool:
            found, _ = self._read(key, transaction)
            if found is None or not equal(self._form.encode(key, found), wanted):
                return False
            self._write(key, record, transaction=transaction)
            return True

        return self._decided(decide)

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        bounds = None if start is None else self._words.compared(self._words.key, "lte" if backwards else "gte", start)
        return self._keyed(bounds, count, backwards=backwards)

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        if self._layout.model.key != "text":
            raise Unsupported("keys that are numbers have no prefixes")
        return self._keyed(self._words.begins(self._words.key, prefix), count, backwards=False)

    def _keyed(self, bounds: Mapping[str, Any] | None, count: int, *, backwards: bool) -> list[tuple[Key, Record]]:
        if count == 0:
            return []
        query = self._words.query(None)
        if bounds is not None:
            query["queries"].append(bounds)
        order = [{**self._words.key.reference, "direction": "descending" if backwards else "ascending"}]
        found = self._search(query, count, order=order, extract=self._words.extraction(None))
        documents = [extracted(each) for each in found["results"]]
        return [(document[self._layout.name]["key"], self._form.decode(document)) for document in documents]

    def _total(self, where: Where | None) -> int:
        wanted = where.filter if where is not None else None
        if not by_index_alone(wanted):
            raise Unsupported(INEXACT)
        return int(self._search(self._words.query(wanted), 0)["total"])

    def _search(
        self,
        query: Mapping[str, Any],
        limit: int,
        *,
        skip: int = 0,
        order: Sequence[Mapping[str, Any]] = (),
        extract: Mapping[str, Any] | None = None,
        facets: Sequence[Mapping[str, Any]] = (),
        filtered: bool = False,
    ) -> dict[str, Any]:
        body = search(query, limit > 0, order, extract, facets, filtered=filtered)
        return self._by_index(lambda: self._server.search(body, skip=skip, limit=limit))

    def _by_index(self, ask: Callable[[], T]) -> T:
        """The answer to a request that needs indexes. One that the server lacks is waited for if it is one of the collection's: the server
        builds it, or another run has written over the list.

        Raises:
            Unsupported: it is none of the collection's.
            Unknown: it cannot be used in time.
        """
        try:
            return ask()
        except NoIndex as reason:
            try:
                self._indexes.make()
            except NoManagement:
                raise reason from None
            return ask()

    def _read(self, key: Key, transaction: Transaction | None = None) -> tuple[Record | None, str | None]:
        """The record with the version of its document, if the server keeps versions."""
        reply = self._at("GET", key, also=(_ABSENT,), transaction=transaction, headers=JSON)
        if reply.status_code == _ABSENT:
            return None, None
        version = reply.headers.get("ETag")
        return self._form.decode(reply.json()), version.strip('"') if version else None

    def _write(self, key: Key, record: Record, *, version: str | None = None, transaction: Transaction | None = None) -> Any:
        headers = {"Content-Type": "application/json"} | ({"If-Match": version} if version else {})
        body = json.dumps(self._form.encode(key, record), allow_nan=False)
        params = {"collection": self._layout.name, "format": "json"}
        also = (_CHANGED,) if version else ()
        return self._at("PUT", key, also=also, transaction=transaction, params=params, headers=headers, data=body)

    def _at(
        self,
        method: str,
        key: Key,
        *,
        also: Container[int] = (),
        transaction: Transaction | None = None,
        params: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> Any:
        within = {"txid": transaction.id} if transaction is not None else {}
        every = {**self._server.target, "uri": self._form.uri(key), **within, **(params or {})}
        return self._server.ask(method, "/v1/documents", also=also, params=every, **details)

    def _status(self, method: str, key: Key, **details: Any) -> int:
        """The status of a request for one document, which may be absent."""
        status: int = self._at(method, key, also=(_ABSENT,), **details).status_code
        return status

    def _decided(self, decide: Callable[[Transaction], bool]) -> bool:
        """What is decided in a transaction. One that the server rolled back for a deadlock is tried again: nothing of it was committed.
        Raises `Refused`: it met a deadlock each time."""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0, _PAUSE * 2**attempt))  # so that the two do not meet again
            with suppress(Deadlock), self._transaction() as transaction:
                return decide(transaction)
        raise Refused(f"the server has rolled the transaction back {_ATTEMPTS} times, each time for a deadlock")

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """Ends with a commit, or with a rollback if anything is raised inside.

        Not the client's own end of a transaction: where the server has ended it already, that replaces the reason by an error of its own.
        """
        with sorting():
            try:
                database = self._server.target.get("database")
                transaction = self._server.client.transactions.create(time_limit=_TRANSACTION_SECONDS, database=database)
            except (KeyError, TypeError) as reason:
                raise Refused(f"the transaction was not opened: {reason!r}") from reason
        try:
            yield transaction
        except BaseException:
            with suppress(Exception):  # the server rolls back what was left open
                transaction.rollback()
            raise
        with sorting():
            reply = transaction.commit()
        answered(reply)
