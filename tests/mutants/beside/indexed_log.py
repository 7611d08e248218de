"""A store of documents with an index on their names: the entry of a document is beside it in a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgpack

from tests.mutants.beside.logs import LOGS, Together
from tests.mutants.log_stores.log import Entry
from tests.mutants.log_stores.served import FUNCTIONS as PLAIN
from tests.mutants.log_stores.served import run

if TYPE_CHECKING:
    from storeproof.contract import Collection, Layout
    from storeproof.spec.query import Query, Where


def _names_of(name: str) -> str:
    return f"names of {name}"


def _old_entry(log: Together, name: str, key: str) -> Entry:
    """What removes the entry that a record has."""
    found = get(log, name, key)
    return [] if found is None else [(_names_of(name), f"{found['name']}\0{key}", None)]


def get(log: Together, name: str, key: str) -> Any:
    found = log.get(name, key)
    return None if found is None else msgpack.unpackb(found)


def put(log: Together, name: str, key: str, record: Mapping[str, Any]) -> None:
    new = (_names_of(name), f"{record['name']}\0{key}", b"")
    log.store([(name, key, msgpack.packb(record))], [*_old_entry(log, name, key), new])


def delete(log: Together, name: str, key: str) -> bool:
    old = _old_entry(log, name, key)
    if old:
        log.store([(name, key, None)], old)
    return bool(old)


def find(log: Together, name: str, value: str) -> Sequence[str]:
    """The keys of the records with this name, by the index alone."""
    entries = (entry.partition("\0") for each, entry in log.beside.names() if each == _names_of(name))
    return [key for named, _, key in entries if named == value]


_OWN: Final = {each.__name__: each for each in (get, put, delete, find)}
FUNCTIONS: Final = {name: each for name, each in {**PLAIN, **_OWN}.items() if name != "put_many"}


def connect(address: Any, options: Mapping[str, str]) -> Any:
    from dataclasses import replace

    from storeproof.embedded.forwarding import ForwardingSession
    from storeproof.embedded.link import HostLink

    class Searched:
        """It finds documents by their name."""

        _host: HostLink
        _name: str

        def find(self, query: Query) -> Sequence[tuple[str, dict[str, Any]]]:
            return [(key, {}) for key in self._keys(query)]

        def count_where(self, where: Where) -> int:
            return len(self._keys(where))

        def _keys(self, where: Where) -> Sequence[str]:
            condition: Any = where.filter
            found: Sequence[str] = self._host.call("find", self._name, condition.value)
            return found

    class Session(ForwardingSession):
        """Its collections have one index."""

        def __init__(self) -> None:
            super().__init__(HostLink(address), FUNCTIONS, ("document",))
            self._kind = type("Documents", (Searched, self._kind), {})

        def collection(self, layout: Layout) -> Collection:
            return super().collection(replace(layout, indexes=0))

    return Session()


if __name__ == "__main__":
    run(LOGS, **FUNCTIONS)
