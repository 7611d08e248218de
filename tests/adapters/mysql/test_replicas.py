"""A primary of MySQL with replicas, without a server: who is promoted, who is the primary, and which servers lose their copy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from storeproof.adapters.mysql.clusters import replica, replicas
from storeproof.adapters.mysql.clusters.replica import count
from storeproof.adapters.mysql.clusters.replicas import Replicas
from storeproof.contract import Address, NodeAddresses, Unknown

NODES: NodeAddresses = {f"n{number}": Address(f"198.18.0.{number}", 3306, "me", "word") for number in (1, 2, 3)}


@dataclass
class Server:
    """What one says of itself, in the order of the query, and what it was told."""

    writable: int = 0
    source: str = "198.18.0.1"
    receiver: str = "ON"
    applier: str = "ON"
    executed: str = "g:1-10"
    known: str = "g:1-10"
    told: list[str] = field(default_factory=list)


class Servers:
    """All is well until a test changes what one of them says; n1 is the primary. What a server has received it applies at once."""

    def __init__(self) -> None:
        self.by_name = {name: Server() for name in NODES}
        self.by_name["n1"] = Server(writable=1, source="", receiver="", applier="")
        self.silent: set[str] = set()

    def ask(self, address: Address, *statements: str, seconds: float = 0.5) -> Sequence[tuple[Any, ...]]:
        """As `asking.ask`."""
        name = next(each for each, at in NODES.items() if at == address)
        server = self.by_name[name]
        if name in self.silent:
            raise Unknown("no answer in time")
        if "replication_connection_configuration" in statements[0]:
            return [(server.writable, server.source, server.receiver, server.applier, server.executed, server.known)]
        if subset := re.match(r"SELECT GTID_SUBSET\('(.*)', @@gtid_executed\)", statements[0]):
            server.executed = server.known
            return [(int(count(subset[1]) <= count(server.executed)),)]
        server.told += statements
        for statement in statements:
            if source := re.match(r"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '(.*?)'", statement):
                server.source, server.receiver, server.applier = source[1], "ON", "ON"
            if "super_read_only = OFF" in statement:
                server.writable, server.source = 1, ""
        return []


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    for module in (replica, replicas):
        monkeypatch.setattr(module, "ask", made.ask)
        monkeypatch.setattr(module, "STEP_SECONDS", 0.2)
    return made


def test_the_replica_that_has_most_is_promoted(servers: Servers) -> None:
    """Received and not yet applied counts. All stop receiving first, and the others copy from it before it takes writes."""
    servers.by_name["n3"].known = "g:1-11"
    servers.silent = {"n1"}
    assert Replicas().promote(NODES) == "n3"
    for name in ("n2", "n3"):
        assert servers.by_name[name].told[0] == "STOP REPLICA IO_THREAD"
    assert servers.by_name["n2"].source == "198.18.0.3"
    servers.silent = set()
    assert Replicas().primary(NODES) == "n3"


def test_none_is_promoted_if_another_may_have_more(servers: Servers) -> None:
    """A write is acknowledged by any one of the replicas: the one that does not answer may be the only one that has it."""
    servers.silent = {"n1", "n3"}
    with pytest.raises(Unknown, match="replicas that answer: n2; another may have acknowledged writes"):
        Replicas().promote(NODES)
    assert servers.by_name["n2"].told == []


def test_the_primary_is_the_one_that_others_copy_from(servers: Servers) -> None:
    """One that was replaced goes on taking writes."""
    servers.by_name["n2"] = Server(writable=1, source="")
    servers.by_name["n3"].source = "198.18.0.2"
    assert Replicas().primary(NODES) == "n2"
    servers.silent = {"n1", "n2"}
    with pytest.raises(Unknown, match="no server takes writes"):
        Replicas().primary(NODES)


@pytest.mark.parametrize(
    ("name", "says", "missing"),
    [
        ("source", "198.18.0.2", "n3 does not copy from n1"),
        ("receiver", "CONNECTING", "n3 does not copy from n1"),
        ("applier", "OFF", "n3 does not copy from n1"),
        ("writable", 1, "n3 does not copy from n1"),
        ("executed", "g:1-9", "n3 has not caught up with n1"),
    ],
)
def test_it_is_whole_if_all_copy_and_have_caught_up(servers: Servers, name: str, says: object, missing: str) -> None:
    """And not if one of them does not."""
    Replicas().whole(NODES)
    setattr(servers.by_name["n3"], name, says)
    with pytest.raises(Unknown, match=missing):
        Replicas().whole(NODES)


def test_what_cannot_copy_begins_with_an_empty_directory(servers: Servers) -> None:
    """A primary that was replaced, and a server with writes that the primary has not; one that only stopped is told to go on."""
    assert Replicas().rebuilt(NODES) == {}
    assert not any(server.told for server in servers.by_name.values())
    servers.by_name["n3"].receiver = "OFF"
    assert Replicas().rebuilt(NODES) == {}
    assert "START REPLICA" in servers.by_name["n3"].told
    servers.by_name["n2"].executed, servers.by_name["n2"].source = "g:1-11", ""
    assert Replicas().rebuilt(NODES) == {"n2": []}
    servers.by_name["n2"] = Server(writable=1)
    assert Replicas().rebuilt(NODES) == {"n2": []}


def test_an_empty_server_copies_from_the_primary(servers: Servers) -> None:
    """The one that there is now."""
    servers.by_name["n2"] = Server(source="", receiver="", applier="", executed="", known="")
    Replicas().replace("n2", NODES)
    assert servers.by_name["n2"].source == "198.18.0.1"


def test_a_primary_that_was_started_again_takes_writes_again(servers: Servers) -> None:
    """If none was promoted meanwhile: it has most. Where its disk is empty another has more."""
    servers.by_name["n1"].writable = 0
    Replicas().rebuilt(NODES)
    assert Replicas().primary(NODES) == "n1"
    servers.by_name["n1"] = Server(source="", receiver="", applier="", executed="", known="")
    Replicas().rebuilt(NODES)
    assert Replicas().primary(NODES) == "n2"
