"""Tarantool, through its Python connector.

A record is one tuple: the key, then its columns (value, counter, row), one nullable column per field (hash) or one map
(document). Bytes are `varbinary`. Reads and writes of whole tuples are the protocol's own requests. What the protocol has
no request for (many keys, a path in a map, compare and set) is a Lua function: it runs inside the store, in a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.adapters.tarantool import spaces
from storeproof.adapters.tarantool.link import Link, open_connection
from storeproof.adapters.tarantool.replica_set import ReplicaSet
from storeproof.adapters.tarantool.structures import Queues, Rankings, Sets
from storeproof.contract import Address, Collection, Layout, Refused, Unknown
from storeproof.spec import model as shapes


class TarantoolSession(Link):
    unsupported_because: Mapping[str, str] = {
        "Transactions": "a transaction ends with the request that started it (2.10 has streams, but its Python connector has not)"
    }

    def collection(self, layout: Layout) -> Collection:
        """A space; one with a tree is ordered."""
        record = layout.model.record
        if isinstance(record, (shapes.QueueRecord, shapes.MembersRecord, shapes.RankingRecord)):
            if isinstance(record, shapes.QueueRecord):
                return Queues(self, layout)
            return Sets(self, layout) if isinstance(record, shapes.MembersRecord) else Rankings(self, layout)
        kinds: tuple[type[spaces.Space], type[spaces.Space]]
        if isinstance(record, shapes.Value):
            kinds = spaces.Values, spaces.OrderedValues
        elif isinstance(record, shapes.CounterRecord):
            kinds = spaces.Counters, spaces.OrderedCounters
        elif isinstance(record, shapes.Hash):
            kinds = spaces.Hashes, spaces.OrderedHashes
        elif isinstance(record, shapes.RowRecord):
            kinds = spaces.Rows, spaces.OrderedRows
        else:
            kinds = spaces.Documents, spaces.OrderedDocuments
        return kinds[self.index == "tree"](self, layout)


_OPTIONS: Final = {"engine": ("memtx", "vinyl"), "index": ("tree", "hash"), "commits": ("asynchronous", "synchronous")}
_READY: Final = ("running", "orphan")
"""Statuses with which it answers requests: an orphan is an instance of a replica set that does not know whether it has all changes, and
takes no writes."""


def connect(address: Address, options: Mapping[str, str]) -> TarantoolSession:
    """Open one authenticated session.

    `options`: `engine` (memtx, vinyl) and `index` (tree, hash) of the spaces; `commits` (asynchronous, synchronous): whether a write waits
    for other instances.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: no server answers, or the instance still loads its data.
    """
    for name, value in options.items():
        if value not in _OPTIONS.get(name, ()):
            raise Refused(f"the options of the Tarantool adapter are {_OPTIONS}; found {name}: {value}")
    session = TarantoolSession(open_connection(address), options)
    try:
        status = session.install()
    except (Refused, Unknown):
        session.close()
        raise
    if status not in _READY:
        session.close()
        raise Unknown(f"the instance is {status}")
    return session


def cluster(options: Mapping[str, str]) -> ReplicaSet:  # noqa: ARG001 - they are the clients'
    return ReplicaSet()
