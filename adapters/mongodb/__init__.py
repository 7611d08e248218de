"""MongoDB, through PyMongo.

A record is one document under `_id`, its key. Values are in `v`, counters in `n`, rows in `integer` and `real`, lists in `q`,
sets in `m`; the fields of hashes and documents are under `d`, so that no field name can meet `_id`. What is set or compared
inside a document is said in update paths and aggregation expressions: the server does the work, in one request.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pymongo import MongoClient

from storeproof.adapters.mongodb.link import OPTIONS, Link, Stored, concerns_of, sorting
from storeproof.adapters.mongodb.parts import Hashes, Parts
from storeproof.adapters.mongodb.records import Counters, Records, Rows, Values
from storeproof.adapters.mongodb.replica_set import ReplicaSet
from storeproof.adapters.mongodb.requests import Requests
from storeproof.adapters.mongodb.rules import Rules
from storeproof.adapters.mongodb.structures import Queues, Sets
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version, WrongReply
from storeproof.spec.interleaving import Isolation

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_DATABASE: Final = "storeproof"

_OPTIONS: Final = {**OPTIONS, "replica_set": ("of_one",)}

_ALREADY_INITIALIZED: Final = 23

_KIN: Final = {"psmdbVersion": "Percona Server for MongoDB", "ferretdb": "FerretDB", "ferretdbVersion": "FerretDB"}
"""What buildInfo of other servers with this protocol has and MongoDB's has not: their own version, since `version` is that of the
MongoDB which they are compatible with."""


class Documents(Parts, Requests, Rules):
    """Documents."""


_KEPT: Final[Mapping[str, type[Records]]] = {
    "value": Values,
    "counter": Counters,
    "hash": Hashes,
    "row": Rows,
    "document": Documents,
    "list": Queues,
    "set": Sets,
}
"""By the kind of a model's records."""


class MongoSession:
    """One client with a pool of one connection; PyMongo watches the server over a second one."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def version(self) -> Version:
        found = self._link.command("buildInfo")
        if "version" not in found:
            raise WrongReply("buildInfo answered no version")
        for field, name in _KIN.items():
            if field in found:
                return Version(name, _own_version(found[field]))
        return Version("MongoDB", str(found["version"]))

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """`replSet` by hello, the storage engine and its cache by serverStatus, all others by getParameter.

        What a relative of MongoDB does not tell is `(not reported)`.
        """
        return {name: self._live(name) for name in names}

    def _live(self, name: str) -> str:
        try:
            if name == "replSet":
                return str(self._link.command("hello").get("setName", ""))
            if name == "storageEngine":
                return str(self._link.command("serverStatus")["storageEngine"]["name"])
            if name == "wiredTigerCacheSizeGB":
                return f"{self._link.command('serverStatus')['wiredTiger']['cache']['maximum bytes configured'] / 2**30:g}"
            return str(self._link.command("getParameter", 1, **{name: 1})[name])
        except (KeyError, TypeError, Refused, Unsupported):
            return "(not reported)"

    def probe(self) -> None:
        """A request that needs a login, where the server asks for one (unlike buildInfo), and no other right."""
        with sorting():
            self._link.database.command("listCollections", 1, filter={"name": ""}, nameOnly=True, authorizedCollections=True)

    def awaits_others(self) -> bool:
        """Whether it is to be a member of a replica set that was not formed yet: until then it answers, and has no data."""
        hello = self._link.command("hello")
        return bool(hello.get("isreplicaset")) and "setName" not in hello

    def initiate(self) -> None:
        """replSetInitiate, unless it was done before; a server that was not initiated keeps no data.
        Raises `Unknown`: it is not the primary yet."""
        if self.awaits_others():
            named = self._link.command("getCmdLineOpts")["parsed"]
            port, name = named.get("net", {}).get("port", 27017), named["replication"]["replSet"]
            members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
            try:
                self._link.command("replSetInitiate", {"_id": name.partition("/")[0], "members": members})
            except Refused as reason:
                # A server that was started again says that it has no set until it has read which one it is of.
                if getattr(reason.__cause__, "code", None) != _ALREADY_INITIALIZED:
                    raise
        elif self._link.command("hello").get("isWritablePrimary"):
            return
        raise Unknown("the replica set has no primary yet")

    def collection(self, layout: Layout) -> Records:
        kept = _KEPT.get(layout.model.record.kind)
        if kept is None:
            raise Unsupported(f"a {layout.model.record.kind} is stored as one document per member, so it cannot be replaced atomically")
        return kept(self._link, layout)

    def begin(self, isolation: Isolation) -> None:
        """A transaction on a snapshot, which is all that MongoDB has: two that read both of two records can each write one."""
        if isolation == "serializable":
            raise Unsupported("MongoDB's transactions use snapshot isolation; they are not serializable")
        if not self._link.replicated():
            raise Unsupported("MongoDB has transactions only on replica sets and sharded clusters, and this is a standalone server")
        self._link.begin()

    def commit(self) -> None:
        """commitTransaction. PyMongo sends it again if the reply is lost, which does no harm: the server knows the transaction."""
        self._link.commit()

    def rollback(self) -> None:
        self._link.rollback()

    def position(self) -> tuple[Any, Any] | None:
        """As `Causal` has it; None without the option `causal`."""
        return self._link.position()

    def follow(self, position: tuple[Any, Any] | None) -> None:
        """As `Causal` has it; nothing without the option `causal`."""
        self._link.follow(position)

    def compact(self) -> str:
        self._link.command("fsync")
        return "fsync"

    def close(self) -> None:
        self._link.close()


def _own_version(told: object) -> str:
    """A relative's version, which FerretDB 2 has in a document of its own."""
    return str(told.get("version", "(not told)") if isinstance(told, dict) else told).removeprefix("v")


def connect(address: Address, options: Mapping[str, str]) -> MongoSession:
    """Open one session.

    `options`: those of the concerns; `replica_set`, "of_one" for a server that is the only one of a replica set, which it is told if it was
    started for the run.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: no server answers.
    """
    unknown = [name for name, value in options.items() if value not in _OPTIONS.get(name, ())]
    if unknown:
        raise Refused(f"the options of the MongoDB adapter are {_OPTIONS}; found {dict(options)}")
    try:
        # PyMongo would wait its whole timeout where nothing listens yet; a store that is starting is polled often.
        socket.create_connection((address.host, address.port), timeout=_TIMEOUT).close()
    except OSError as reason:
        raise Unknown(f"no server listens on {address}: {reason}") from reason
    open_client: Callable[[], MongoClient[Stored]] = partial(
        MongoClient,
        address.host,
        address.port,
        username=address.user,
        password=address.password,
        tls=address.tls,
        directConnection=True,
        retryWrites=False,
        retryReads=False,
        maxPoolSize=1,
        serverMonitoringMode="poll",
        serverSelectionTimeoutMS=_TIMEOUT * 1000,
        connectTimeoutMS=_TIMEOUT * 1000,
        socketTimeoutMS=_TIMEOUT * 1000,
    )
    session = MongoSession(Link(open_client, address.database or _DATABASE, concerns_of(options)))
    try:
        if options.get("replica_set") == "of_one" and address.ours:
            session.initiate()
        if not (address.ours and session.awaits_others()):
            session.probe()
    except (Refused, Unknown, Unsupported, WrongReply):
        session.close()
        raise
    return session


def cluster(options: Mapping[str, str]) -> ReplicaSet:
    return ReplicaSet(options)
