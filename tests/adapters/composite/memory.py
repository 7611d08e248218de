"""Two stores in this process, to be a front and a home, and a layer over both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from storeproof.adapters.composite import CompositeSession
from storeproof.adapters.composite.connection import Connection
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Key, Layout, Record, Refused, Unknown, Version
from storeproof.spec.interleaving import Isolation
from storeproof.spec.model import Index
from storeproof.spec.query import FieldPath, TypeName
from storeproof.spec.store import Caching


class Server:
    """The records of all collections; and what happens when they are asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: dict[str, dict[Key, Record]] = {}
        self.asked: list[str] = []
        """Each request: operation and key."""
        self.fails: Exception | None = None
        """What every request raises, without being carried out."""
        self.after_get: Callable[[], None] = lambda: None
        """Called after the next read, before its answer is there; once."""
        self.late: list[Callable[[], None]] | None = None
        """If not None: puts come here, to be carried out later, and their clients get no answer."""

    def request(self, operation: str, key: Key) -> None:
        """Note it."""
        if self.fails is not None:
            raise self.fails
        self.asked.append(f"{operation} {key}")

    def session(self) -> Session:
        """A session."""
        return Session(self)


class Session:
    """A session without transactions."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.closed = False

    def version(self) -> Version:
        return Version(self.server.name, "1")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return {name: f"{self.server.name} {name}" for name in names}

    def collection(self, layout: Layout) -> Records:
        return Records(self.server, layout.name)

    def close(self) -> None:
        self.closed = True


class TransactionalSession(Session):
    """One whose transactions are never isolated, and whose commit can fail."""

    commit_fails: Exception | None = None

    def begin(self, isolation: Isolation) -> None:
        self.server.asked.append("begin")

    def commit(self) -> None:
        self.server.asked.append("commit")
        if self.commit_fails is not None:
            raise self.commit_fails

    def rollback(self) -> None:
        self.server.asked.append("rollback")


class Records:
    """A collection with some of the optional operations."""

    unsupported_because: Mapping[str, str] = {"Ordered": "it keeps no order"}

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._name = name

    @property
    def _records(self) -> dict[Key, Any]:
        return self._server.records.setdefault(self._name, {})

    def prepare(self) -> None:
        self._server.records.setdefault(self._name, {})

    def clear(self) -> None:
        self._server.request("clear", "")
        self._server.records.pop(self._name, None)

    def describe(self) -> Mapping[str, str]:
        return {"indexes": "0", "engine": self._server.name}

    def get(self, key: Key) -> Record | None:
        self._server.request("get", key)
        found = self._records.get(key)
        after, self._server.after_get = self._server.after_get, lambda: None
        after()
        return found

    def put(self, key: Key, record: Record) -> None:
        self._server.request("put", key)
        if self._server.late is not None:
            self._server.late.append(lambda: self._records.update({key: record}))
            raise LOST
        self._records[key] = record

    def delete(self, key: Key) -> bool:
        self._server.request("delete", key)
        return self._records.pop(key, None) is not None

    def exists(self, key: Key) -> bool:
        self._server.request("exists", key)
        return key in self._records

    def put_many(self, records: Mapping[Key, Record]) -> None:
        self._server.request("put_many", ",".join(map(str, records)))
        self._records.update(records)

    def insert_many(self, records: Mapping[Key, Record]) -> bool:
        self._server.request("insert_many", ",".join(map(str, records)))
        new = self._records.keys().isdisjoint(records)
        self._records.update(records if new else {})
        return new

    def put_if_absent(self, key: Key, record: Record) -> bool:
        self._server.request("put_if_absent", key)
        return self._records.setdefault(key, record) is record

    def compare_and_set(self, key: Key, expected: Record, record: Record) -> bool:
        self._server.request("compare_and_set", key)
        if self._records.get(key) != expected:
            return False
        self._records[key] = record
        return True

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self._server.request(f"put_expiring {seconds}", key)
        self._records[key] = record

    def update_where(self, where: Any, path: Any, value: Any) -> int:
        self._server.request("update_where", "")
        for record in self._records.values():
            record[path[0]] = value
        return len(self._records)

    def delete_where(self, where: Any) -> int:
        self._server.request("delete_where", "")
        count = len(self._records)
        self._records.clear()
        return count


class IndexedRecords(Records):
    """With indexes and rules, which are only asked for."""

    def create_index(self, index: Index) -> None:
        self._server.request("create_index", index.name)

    def drop_index(self, name: str) -> bool:
        self._server.request("drop_index", name)
        return True

    def index_names(self) -> Sequence[str]:
        return ()

    def require(self, path: FieldPath, kind: TypeName) -> None:
        self._server.request("require", path[0])


class IndexedSession(Session):
    """Its collections have indexes."""

    def collection(self, layout: Layout) -> Records:
        return IndexedRecords(self.server, layout.name)


class Layer:
    """A front, a home, and sessions with both."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.front = Server("front")
        self.home = Server("home")
        self._locks = folder / "locks"
        self._locks.touch()
        self._caching = Caching.of({"policy": "cache-aside", **options})

    def session(self, home: Session | None = None, kind: type[CompositeSession] = CompositeSession) -> CompositeSession:
        """A session; `home`: another than a plain one."""
        return kind(
            Connection("front", self.front.session),
            Connection("home", lambda: home or self.home.session()),
            self._caching,
            Locks(str(self._locks)),
        )


LOST = Unknown("the connection was lost")
NO = Refused("no")
