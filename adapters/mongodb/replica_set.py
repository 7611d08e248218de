"""Replica sets of MongoDB: one member is elected the primary, and the others copy its log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pymongo import MongoClient

from storeproof.adapters.mongodb.link import sorting
from storeproof.contract import Address, NodeAddresses, Refused, Unknown, answering

_ANSWER_SECONDS: Final = 0.5
"""For a node that may be gone."""
_INITIATE_SECONDS: Final = 10.0
"""The first member asks all others before it answers."""
_TIMEOUTS: Final = {
    "electionTimeoutMillis": "2000",
    "heartbeatIntervalMillis": "400",
    "heartbeatTimeoutSecs": "1",
    "catchUpTimeoutMillis": "2000",
}
"""Unless the variant says others. Writes are accepted again 2 s after the loss of the primary; with the default of 10
s for an election, after 10 s. Half a second would be shorter than the pauses of a busy machine."""
_STOOD: Final = "electionCandidateMetrics"
"""What the status of a member has of the last election that it stood for, while it is the primary or a candidate."""
_TAKE_PART: Final = ("PRIMARY", "SECONDARY")
_LENGTH: Final = 4
"""Bytes of the length of a document in BSON, by which each begins."""


class ReplicaSet:
    """A replica set. Members rejoin by themselves, also with an empty disk."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._timeouts = {name: int(options.get(name, value)) for name, value in _TIMEOUTS.items()}

    def form(self, nodes: NodeAddresses) -> None:
        """Initiate the set at the first node, unless its disk says that it was initiated before."""
        first = next(iter(nodes.values()))
        hello = _ask(first, "hello")
        if "setName" in hello:
            return
        if not hello.get("isreplicaset"):
            raise Refused("the members of a replica set need the setting `replSet`")
        name = str(_ask(first, "getCmdLineOpts")["parsed"]["replication"]["replSet"]).partition("/")[0]
        members = [{"_id": number, "host": str(address)} for number, address in enumerate(nodes.values())]
        _ask(first, "replSetInitiate", {"_id": name, "members": members, "settings": self._timeouts}, seconds=_INITIATE_SECONDS)

    def primary(self, nodes: NodeAddresses) -> str:
        """The one with the newest election, of those that take themselves for the primary: an old one may not know yet."""
        told = answering(nodes, lambda address: _ask(address, "hello"))
        elected = [(hello["electionId"], name) for name, hello in told.items() if hello.get("isWritablePrimary")]
        if not elected:
            raise Unknown("no member is the primary")
        return str(max(elected)[1])

    def missed(self, lost: Address, others: NodeAddresses) -> float | None:  # noqa: ARG002 - they elect none while they hear it
        """Since the last election began, by the clock of the member that stood for it; it tells it once it stands."""
        told = answering(others, lambda address: _ask(address, "replSetGetStatus")).values()
        began = [(each["date"] - stood["lastElectionDate"]).total_seconds() for each in told if (stood := each.get(_STOOD))]
        return min(began, default=None)

    def timeouts(self, nodes: NodeAddresses) -> Mapping[str, str]:
        """Of the configuration that the first member has."""
        settings = _ask(next(iter(nodes.values())), "replSetGetConfig")["config"]["settings"]
        return {name: str(settings[name]) for name in _TIMEOUTS}

    def whole(self, nodes: NodeAddresses) -> None:
        """All members are the primary or a secondary, and have applied the same writes."""
        primary = self.primary(nodes)
        members = {each["name"]: each for each in _ask(nodes[primary], "replSetGetStatus")["members"]}
        newest = _position(members[str(nodes[primary])])
        for name, address in nodes.items():
            member = members.get(str(address))
            if member is None or member["stateStr"] not in _TAKE_PART:
                raise Unknown(f"{name} is {member['stateStr'] if member else 'no member'}")
            if _position(member) < newest:
                raise Unknown(f"{name} has not caught up with {primary}")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: the others find it under its address, and it copies all data from one of them."""

    def set_aside(self, data: Path) -> Mapping[Path, int]:
        """What a member has rolled back: documents in BSON, one after another, in a folder for each collection."""
        return {path: _documents(path) for path in sorted(data.glob("rollback/*/removed.*.bson"))}


def _documents(path: Path) -> int:
    """How many a file has; each begins with its length."""
    content, at, found = path.read_bytes(), 0, 0
    while at + _LENGTH <= len(content):
        at += max(_LENGTH, int.from_bytes(content[at : at + _LENGTH], "little"))
        found += 1
    return found


def _position(member: Mapping[str, Any]) -> tuple[int, Any]:
    """How far a member is. The term comes first: a primary that was replaced may have later writes, which it has yet to roll back."""
    optime = member["optime"]
    return optime["t"], optime["ts"]


def _ask(address: Address, command: str, value: Any = 1, *, seconds: float = _ANSWER_SECONDS) -> Mapping[str, Any]:
    """Send one command to one member, over a client of its own."""
    with sorting():
        client: MongoClient[dict[str, Any]] = MongoClient(
            address.host,
            address.port,
            username=address.user,
            password=address.password,
            directConnection=True,
            retryReads=False,
            retryWrites=False,
            serverSelectionTimeoutMS=_ANSWER_SECONDS * 1000,
            connectTimeoutMS=_ANSWER_SECONDS * 1000,
            socketTimeoutMS=seconds * 1000,
        )
        with client:
            return client.admin.command(command, value)
