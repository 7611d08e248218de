"""Group replication without a server: who is the primary, which server begins a group again, and what a whole group is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from storeproof.adapters.mysql.clusters import group_replication
from storeproof.adapters.mysql.clusters.group_replication import GroupReplication
from storeproof.adapters.mysql.clusters.replica import count
from storeproof.contract import Address, NodeAddresses, Unknown

NODES: NodeAddresses = {f"n{number}": Address(f"198.18.0.{number}", 3306, "me", "it's") for number in (1, 2, 3)}


@dataclass
class Server:
    """What one says of itself, in the order of the query, and what it was told."""

    member: str = "ONLINE"
    writable: int = 0
    size: int = 3
    reached: int = 3
    view: str = "100:3"
    executed: str = "g:1-10"
    known: str = "g:1-10"
    told: list[str] = field(default_factory=list)


class Servers:
    """All is well until a test changes what one of them says; n1 is the primary."""

    def __init__(self) -> None:
        self.by_name = {name: Server(writable=int(name == "n1")) for name in NODES}
        self.silent: set[str] = set()

    def ask(self, address: Address, *statements: str, seconds: float = 0.5) -> Sequence[tuple[Any, ...]]:
        """As `asking.ask`."""
        name = next(each for each, at in NODES.items() if at == address)
        server = self.by_name[name]
        if name in self.silent:
            raise Unknown("no answer in time")
        if "COUNT(*) FROM" in statements[0]:
            return [(int(server.reached == server.size),)]
        if "replication_group_members" in statements[0]:
            return [(server.member, server.writable, server.size, server.reached, server.view, server.executed, server.known)]
        server.told += statements
        server.member = "ONLINE"
        for each in self.by_name.values():
            each.size = 3
        return []

    def fresh(self) -> None:
        """None of them is in a group."""
        for server in self.by_name.values():
            server.member, server.writable, server.size, server.reached, server.view = "OFFLINE", 0, 1, 0, ""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    monkeypatch.setattr(group_replication, "ask", made.ask)
    return made


def begins(server: Server) -> bool:
    """Whether it was told to begin a group of its own when it was told to start."""
    told = [each for each in server.told if "bootstrap" in each or each.startswith("START")]
    return told[0].endswith("= ON")


def test_the_server_that_knows_most_begins_the_group_again(servers: Servers) -> None:
    """What it has received counts too. It may not begin another one later."""
    servers.fresh()
    servers.by_name["n2"].known = "g:1-10:1000001-1000002"
    servers.by_name["n3"].known = "g:1-11"
    GroupReplication().form(NODES)
    assert [bool(server.told) for server in servers.by_name.values()] == [False, True, False]
    assert begins(servers.by_name["n2"])
    assert servers.by_name["n2"].told[-1] == "SET GLOBAL group_replication_bootstrap_group = OFF"
    assert any("PASSWORD = 'it\\'s'" in each for each in servers.by_name["n2"].told)


def test_no_second_group_is_begun(servers: Servers) -> None:
    """Neither where one is in a group, nor where one that does not answer may be."""
    servers.fresh()
    servers.by_name["n3"].member = "RECOVERING"
    GroupReplication().form(NODES)
    servers.by_name["n3"].member = "OFFLINE"
    servers.silent = {"n3"}
    with pytest.raises(Unknown, match="no answer"):
        GroupReplication().form(NODES)
    assert not any(server.told for server in servers.by_name.values())


@pytest.mark.parametrize("state", ["OFFLINE", "ERROR"])
def test_a_server_in_no_group_joins_that_of_the_others(servers: Servers, state: str) -> None:
    """After a start, and when it was expelled."""
    servers.by_name["n2"].member = state
    with pytest.raises(Unknown, match="do not miss n2 yet"):
        GroupReplication().rebuilt(NODES)
    assert not servers.by_name["n2"].told
    for name in ("n1", "n3"):
        servers.by_name[name].size = 2
    assert GroupReplication().rebuilt(NODES) == {}
    assert [bool(server.told) for server in servers.by_name.values()] == [False, True, False]
    assert not begins(servers.by_name["n2"])
    servers.by_name["n1"].reached = 1  # it does not know yet that it was expelled
    with pytest.raises(Unknown, match="n1 reaches 1 of 3 members"):
        GroupReplication().rebuilt(NODES)


def test_the_primary_is_that_of_the_newest_view(servers: Servers) -> None:
    """One that is cut off calls itself primary; one that reaches no majority takes no writes."""
    assert GroupReplication().primary(NODES) == "n1"
    servers.by_name["n2"].writable, servers.by_name["n2"].view = 1, "100:10"
    assert GroupReplication().primary(NODES) == "n2"
    servers.silent = {"n2"}
    servers.by_name["n1"].reached = 1
    with pytest.raises(Unknown, match="no member takes writes"):
        GroupReplication().primary(NODES)


@pytest.mark.parametrize(
    ("name", "says", "missing"),
    [
        ("member", "RECOVERING", "n3 is RECOVERING"),
        ("size", 2, "n3 reaches 3 of 2 members"),
        ("reached", 2, "n3 reaches 2 of 3 members"),
        ("view", "100:4", "different views"),
        ("executed", "g:1-9", "not written the same"),
    ],
)
def test_it_is_whole_if_all_are_in_one_view_and_have_written_the_same(servers: Servers, name: str, says: object, missing: str) -> None:
    """And not if one of them is not, nor without a primary."""
    GroupReplication().whole(NODES)
    setattr(servers.by_name["n3"], name, says)
    with pytest.raises(Unknown, match=missing):
        GroupReplication().whole(NODES)
    setattr(servers.by_name["n3"], name, getattr(Server(), name))
    servers.by_name["n1"].writable = 0
    with pytest.raises(Unknown, match="no member takes writes"):
        GroupReplication().whole(NODES)


@pytest.mark.parametrize(("writes", "number"), [("", 0), ("u:7", 1), ("u:1-5:7,\nv:1-3", 9), ("u:1-301:1000001", 302), ("u:tag:1-4", 4)])
def test_writes_are_counted(writes: str, number: int) -> None:
    """A server writes a set over several lines; a tag may follow the name."""
    assert count(writes) == number


def test_a_member_that_cannot_reach_the_primary_misses_it(servers: Servers) -> None:
    """One that does not answer says nothing."""
    others = {each: address for each, address in NODES.items() if each != "n1"}
    assert GroupReplication().missed(NODES["n1"], others) is None
    servers.by_name["n3"].reached = 2
    assert GroupReplication().missed(NODES["n1"], others) == 0
    servers.silent = {"n3"}
    assert GroupReplication().missed(NODES["n1"], others) is None
