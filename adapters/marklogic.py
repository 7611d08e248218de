"""MarkLogic, through its official Python client, over the REST API.

A record is one JSON document, `{COLLECTION: {"key": KEY, "record": RECORD}}`, in a collection of that name: the name as root
property keeps the paths of its range indexes apart from all others of the database. Bytes are in base64, since JSON has none.
Where a write depends on what is there, the server decides: by a document's version where its REST instance keeps them
(`update-policy`), otherwise by the locks of a multi-statement transaction.

Range indexes belong to the database and are made through the management API, which has a port of its own.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from marklogic.documents import DefaultMetadata, Document
from marklogic.transactions import Transaction

from storeproof.adapters.marklogic_link import Server, answered, sorting
from storeproof.adapters.marklogic_query import RangeIndex, Translation, search
from storeproof.adapters.marklogic_record import Form, equal, extracted
from storeproof.contract import (
    MISSING,
    Address,
    Found,
    Json,
    Key,
    Layout,
    Missing,
    Path,
    Record,
    Refused,
    Unknown,
    Unsupported,
    Version,
)
from storeproof.spec import model as shapes
from storeproof.spec.query import Browse, Query, Where

_TRANSACTION_SECONDS: Final = 20
"""After so long the server ends a transaction that nobody ended."""

_ALL: Final = 2**31 - 1
"""The page that has everything."""

_OK: Final = 200
_ABSENT: Final = 404
_CHANGED: Final = 412

_OPTIONS: Final = {"range-indexes": ("asked", "model"), "update-policy": ("merge-metadata", "version-optional")}
"""Beside `management`, a port."""

_JSON: Final = {"Accept": "application/json"}


class MarkLogicSession:
    """One user of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def version(self) -> Version:
        """The product is what the server puts into every header; the number is asked of it."""
        return Version(*self._server.version())

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """Properties of the database."""
        found = self._server.properties() if names else {}
        return {name: str(found[name]) for name in names if name in found}

    def collection(self, layout: Layout) -> Records:
        """A collection of documents."""
        record = layout.model.record
        if isinstance(record, shapes.Document):
            return Documents(self._server, layout)
        if isinstance(record, (shapes.Value, shapes.Hash, shapes.Row)):
            return Records(self._server, layout)
        raise Unsupported(f"the REST API has no operations for {layout.model.model}")

    def close(self) -> None:
        """End the connections."""
        self._server.close()


class Records:
    """Whole records."""

    def __init__(self, server: Server, layout: Layout) -> None:
        self._server = server
        self._layout = layout
        self._words = Translation(layout.name, layout.model)
        self._form = Form(layout)
        self._versioned = server.options.get("update-policy") == "version-optional"

    def prepare(self) -> None:
        """Make the range indexes: that of the key, and those that were asked for."""
        indexes = [self._words.key, *map(self._words.index, self._layout.indexed)]
        if not self._layout.indexes and self._server.options.get("range-indexes") == "model":
            indexes += self._words.every_index()
        try:
            there = self._server.indexes()
            missing = [index for index in indexes if index.path not in {each["path-expression"] for each in there}]
            if missing:
                self._server.set_indexes([*there, *(index.definition for index in missing)])
        except Unknown as reason:
            if len(indexes) > 1:
                raise Unsupported(f"range indexes are made through the management API, and that does not answer: {reason}") from None

    def clear(self) -> None:
        """Delete the collection's documents, and its indexes with them."""
        self._server.ask("DELETE", "/v1/search", params={**self._server.target, "collection": self._layout.name})
        with suppress(Unknown):  # without the management API there are no indexes of ours
            there = self._server.indexes()
            kept = [each for each in there if not each["path-expression"].startswith(f"/{self._layout.name}/")]
            if len(kept) < len(there):
                self._server.set_indexes(kept)

    def describe(self) -> Mapping[str, str]:
        """The range indexes on the records' fields; the policy of the REST instance."""
        try:
            inside = f"/{self._layout.name}/record/"
            count = sum(each["path-expression"].startswith(inside) for each in self._server.indexes())
        except Unknown:
            count = 0
        own = {name: self._server.options[name] for name in ("management", "range-indexes") if name in self._server.options}
        policy = {"update-policy": self._server.policy()} if "update-policy" in self._server.options else {}
        return {"indexes": str(count), **own, **policy}

    def get(self, key: Key) -> Record | None:
        """GET."""
        return self._read(key)[0]

    def put(self, key: Key, record: Record) -> None:
        """PUT."""
        self._write(key, record)

    def delete(self, key: Key) -> bool:
        """DELETE, which is told to say so where there is nothing."""
        return self._status("DELETE", key, params={"check": "exists"}) != _ABSENT

    def exists(self, key: Key) -> bool:
        """HEAD."""
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
        with self._transaction() as transaction:
            if self._status("HEAD", key, transaction=transaction) == _OK:
                return False
            self._write(key, record, transaction=transaction)
            return True

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        """A write on the condition of the version that was read; without versions, in a transaction, whose read locks."""
        wanted = self._form.encode(key, expected)
        while self._versioned:
            found, version = self._read(key)
            if found is None or not equal(self._form.encode(key, found), wanted):
                return False
            if version is None:
                raise Refused("the REST instance keeps no versions: somebody changed its update-policy")
            if self._write(key, record, version=version).status_code != _CHANGED:
                return True
        with self._transaction() as transaction:
            found, _ = self._read(key, transaction)
            if found is None or not equal(self._form.encode(key, found), wanted):
                return False
            self._write(key, record, transaction=transaction)
            return True

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        """By the range index of the keys."""
        bounds = None if start is None else self._words.compared(self._words.key, "lte" if backwards else "gte", start)
        return self._keyed(bounds, count, backwards=backwards)

    def scan_prefix(self, prefix: str, count: int) -> Sequence[tuple[Key, Record]]:
        """By the range index of the keys."""
        if self._layout.model.key != "text":
            raise Unsupported("numbers have no prefixes")
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
        return int(self._search(self._words.query(where.filter if where is not None else None), 0)["total"])

    def _search(
        self,
        query: Mapping[str, Any],
        limit: int,
        *,
        skip: int = 0,
        order: Sequence[Mapping[str, Any]] = (),
        extract: Mapping[str, Any] | None = None,
        facets: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        """One search."""
        params = {**self._server.target, "format": "json", "start": skip + 1, "pageLength": limit}
        body = search(query, limit > 0, order, extract, facets)
        found: dict[str, Any] = self._server.ask("POST", "/v1/search", params=params, json=body, headers=_JSON).json()
        return found

    def _read(self, key: Key, transaction: Transaction | None = None) -> tuple[Record | None, str | None]:
        """The record with the version of its document, if the server keeps versions."""
        reply = self._at("GET", key, also=(_ABSENT,), transaction=transaction, headers=_JSON)
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
        """A request for one document."""
        within = {"txid": transaction.id} if transaction is not None else {}
        every = {**self._server.target, "uri": self._form.uri(key), **within, **(params or {})}
        return self._server.ask(method, "/v1/documents", also=also, params=every, **details)

    def _status(self, method: str, key: Key, **details: Any) -> int:
        """The status of a request for one document, which may be absent."""
        status: int = self._at(method, key, also=(_ABSENT,), **details).status_code
        return status

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """Ends with a commit, or with a rollback if anything is raised inside."""
        with sorting():
            try:
                database = self._server.target.get("database")
                transaction = self._server.client.transactions.create(time_limit=_TRANSACTION_SECONDS, database=database)
            except (KeyError, TypeError) as reason:
                raise Refused(f"the transaction was not opened: {reason!r}") from reason
            with transaction:
                yield transaction


class Documents(Records):
    """Documents: parts of them by patches, and searches."""

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        """An extraction, in which the part stands where it was; of a list, only the items on the way are there."""
        query = {"queries": [{"document-query": {"uri": [self._form.uri(key)]}}]}
        found = self._search(query, 1, extract=self._words.extraction([_within(path)]))
        value: Any = extracted(found["results"][0]) if found["results"] else None
        for part in (self._layout.name, "record", *path):
            part = 0 if isinstance(part, int) else part
            there = part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int) and bool(value)
            if not there:
                return MISSING
            value = value[part]
        found_value: Json = value
        return found_value

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        """A patch that replaces the property, or inserts it where its object is; an item of a list is replaced."""
        place = self._words.place(_within(path))
        if isinstance(path[-1], int):
            return self._patch(key, {"replace": {"select": place, "cardinality": ".", "content": value}})
        above = self._words.place(path[:-1])
        content = {path[-1]: value}
        insert = {"select": place, "context": above, "position": "last-child", "cardinality": ".", "content": content}
        return self._patch(key, {"replace-insert": insert})

    def unset_path(self, key: Key, path: Path) -> bool:
        """A patch that deletes the property, if there is one."""
        if not path or isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        return self._patch(key, {"delete": {"select": self._words.place(_within(path)), "cardinality": "?"}})

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        """A search by structured query."""
        extract = None if query.fields == () else self._words.extraction(query.fields)
        if query.fields and any(isinstance(part, int) for path in query.fields for part in path):
            raise Unsupported("an extraction leaves out the other items of a list, and their positions with them")
        found = self._search(
            self._words.query(query.filter),
            _ALL if query.limit is None else query.limit,
            skip=query.skip,
            order=self._words.order(query.sort),
            extract=extract,
        )
        return [(self._form.key(each["uri"]), self._part(each) if extract else {}) for each in found["results"]]

    def count_where(self, where: Where) -> int:
        """The total of a search."""
        return self._total(where)

    def browse(self, browse: Browse) -> Found:
        """A search with constraints that count: total, page and facets in one answer."""
        constraints = [self._words.facet(name, facet) for name, facet in browse.facets.items()]
        found = self._search(self._words.query(browse.filter), browse.limit, order=self._words.order(browse.sort), facets=constraints)
        facets = {name: self._counted(found["facets"][name], self._words.index(facet.path)) for name, facet in browse.facets.items()}
        return Found(int(found["total"]), [self._form.key(each["uri"]) for each in found.get("results", [])], facets)

    def _counted(self, facet: Mapping[str, Any], index: RangeIndex) -> list[tuple[Json, int]]:
        as_it_was = str if index.type == "string" else float
        return [(as_it_was(each["value"]), int(each["count"])) for each in facet.get("facetValues", [])]

    def _part(self, result: Mapping[str, Any]) -> dict[str, Json]:
        part: dict[str, Json] = extracted(result).get(self._layout.name, {}).get("record", {})
        return part

    def _patch(self, key: Key, operation: Mapping[str, Any]) -> bool:
        headers = {"Content-Type": "application/json", "X-HTTP-Method-Override": "PATCH"}
        body = json.dumps({"patch": [operation]}, allow_nan=False)
        return self._status("POST", key, headers=headers, data=body) != _ABSENT


def _within(path: Path) -> Path:
    """The path, if it leads anywhere inside a record."""
    if not path:
        raise Refused("the path is empty: the whole record is replaced by put")
    if any(isinstance(part, int) and part < 0 for part in path):
        raise Refused("there is no negative position in a list")
    return path


def connect(address: Address, options: Mapping[str, str]) -> MarkLogicSession:
    """Open one session.

    `options`: `management`, the port of the management API or "same"; `range-indexes`, "asked" for those of the layout, or "model"
    for one on every field of the model where the layout asks for none; `update-policy`, "merge-metadata" or "version-optional".

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: nobody answers.
    """
    for name, value in options.items():
        if name == "management":
            if value != "same" and not value.isdecimal():
                raise Refused(f'the option `management` is a port or "same"; found {value!r}')
        elif value not in _OPTIONS.get(name, ()):
            allowed = "; ".join(f"`{known}`: {' or '.join(values)}" for known, values in _OPTIONS.items())
            raise Refused(f"the MarkLogic adapter knows the options `management` and {allowed}; found {name}: {value}")
    server = Server(address, options)
    try:
        server.policy()  # whoever is logged in may ask for it, and nobody else
    except (Refused, Unknown, Unsupported):
        server.close()
        raise
    return MarkLogicSession(server)
