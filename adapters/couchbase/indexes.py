"""The indexes of one collection in Couchbase: made by statements, built by the index service in the background.

A statement that the index service cannot carry out at once, such as right after its collection was made, is answered with the error 5000:
the server keeps it and repeats it, or wants it again. So it is not the answer that counts, but the state that `system:indexes` shows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from couchbase import exceptions as errors
from couchbase.cluster import Cluster
from couchbase.options import QueryOptions

from storeproof.adapters.couchbase.query import at, quoted
from storeproof.adapters.couchbase.records import failure_of, run
from storeproof.contract import Unknown

_SECONDS: Final = 60.0
"""How long indexes may take until queries can use them, or until they are gone."""

_PAUSE: Final = 0.1
"""Seconds between two looks."""

_TRANSIENT: Final = 5000
"""The query service's code for an error of the index service."""

_PRIMARY: Final = "#primary"
"""How the server calls a primary index that was given no name."""


class Indexes:
    """The indexes of one collection."""

    def __init__(self, cluster: Cluster, names: Mapping[str, str]) -> None:
        """`names`: of the bucket, the scope and the collection, by these words."""
        self._cluster = cluster
        self._names = dict(names)
        self._keyspace = ".".join(map(quoted, names.values()))

    def make(self, paths: Sequence[Sequence[str]]) -> None:
        """Make the primary index and one of each path, and wait until they are online. Raises `Unknown` if they are not in time."""
        wanted = {_PRIMARY: f"CREATE PRIMARY INDEX IF NOT EXISTS ON {self._keyspace}"}
        for number, path in enumerate(paths):
            wanted[f"i{number}"] = f"CREATE INDEX `i{number}` IF NOT EXISTS ON {self._keyspace}({at('', path)[1:]})"
        deadline, said = time.monotonic() + _SECONDS, ""
        while True:
            states = self._states()
            lacking = [name for name in wanted if states.get(name) != "online"]
            if not lacking:
                return
            if time.monotonic() > deadline:
                found = ", ".join(f"{name}: {states.get(name, 'absent')}" for name in lacking)
                raise Unknown(f"indexes are not online after {_SECONDS:g} s ({found}){said and f'; the server says: {said}'}")
            for name in lacking:
                if name not in states:
                    said = self._ask(wanted[name]) or said
            time.sleep(_PAUSE)

    def drop(self) -> None:
        """Drop them and wait until they are gone, before their collection is dropped: the index service keeps the memory of each till then,
        and of those of hundreds of collections too much. Raises `Unknown` if they are not gone in time."""
        deadline = time.monotonic() + _SECONDS
        while states := self._states():
            if time.monotonic() > deadline:
                raise Unknown(f"indexes are not dropped after {_SECONDS:g} s: {', '.join(states)}")
            for name in states:
                self._ask(f"DROP INDEX {quoted(name)} ON {self._keyspace}")
            time.sleep(_PAUSE)

    def secondary(self) -> int:
        """How many secondary indexes queries can use."""
        return sum(state == "online" for name, state in self._states().items() if name != _PRIMARY)

    def _states(self) -> dict[str, str]:
        """The state of each index, by its name."""
        text = (
            "SELECT i.name AS name, i.state AS state FROM system:indexes AS i "
            "WHERE i.bucket_id = $bucket AND i.scope_id = $scope AND i.keyspace_id = $collection"
        )
        options = QueryOptions(named_parameters=dict(self._names), read_only=True)
        rows: list[Any] = run(lambda: list(self._cluster.query(text, options).rows()))
        return {row["name"]: row["state"] for row in rows}

    def _ask(self, statement: str) -> str:
        """Carry a statement out; returns what the server says if it could not yet, or need not."""
        try:
            self._cluster.query(statement).execute()
        except (errors.KeyspaceNotFoundException, errors.QueryIndexAlreadyExistsException, errors.QueryIndexNotFoundException) as reason:
            return type(reason).__name__
        except errors.CouchbaseException as reason:
            context = reason.error_context
            if getattr(context, "first_error_code", None) != _TRANSIENT:
                raise failure_of(reason) from reason
            return str(getattr(context, "first_error_message", None) or _TRANSIENT)[:200]
        return ""
