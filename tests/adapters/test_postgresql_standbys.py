"""What the servers must say for a primary with standbys to be whole, and who is promoted. No server is needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from storeproof.adapters.postgresql import standbys
from storeproof.adapters.postgresql.standbys import Standbys
from storeproof.contract import Address, NodeAddresses, Unknown

NODES: NodeAddresses = {f"n{number}": Address(f"198.18.0.{number}", 5432, "me", "word$") for number in (1, 2, 3)}
MEMBER = "4711"
"""The system identifier of all that were copied from one another."""


@dataclass
class Server:
    """What one says of itself."""

    follows: str | None = None
    """A host; None: it is a primary."""
    timeline: int = 2
    system: str = MEMBER
    received: int = 100
    told: list[str] = field(default_factory=list)
    """The statements that change something."""


class Servers:
    """n1 is the primary, and all is well until a test changes what one of them says."""

    def __init__(self) -> None:
        self.by_name = {"n1": Server(), "n2": Server("198.18.0.1"), "n3": Server("198.18.0.1")}
        self.silent: set[str] = set()
        self.followers = [("n2", "streaming", "t"), ("n3", "streaming", "t")]

    def ask(self, address: Address, statement: str, seconds: float) -> list[tuple[str | None, ...]]:
        """As `asking.ask`."""
        name = next(each for each, at in NODES.items() if at.host == address.host)
        if name in self.silent:
            raise Unknown("no answer in time")
        server = self.by_name[name]
        if "pg_stat_replication" in statement:
            return list(self.followers)
        if "system_identifier" in statement:
            standby = server.follows is not None
            segment = None if standby else f"{server.timeline:08X}0000000000000001"
            told = f"host={server.follows}" if server.follows else ""
            return [("t" if standby else "f", server.system, told, segment, str(server.received), "1" if server.follows else "0")]
        server.told.append(statement)
        if "pg_promote" in statement:
            server.follows, server.timeline = None, 3
            return [("t",)]
        if "''" in statement:
            server.follows = ""
        return []


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    made = Servers()
    monkeypatch.setattr(standbys, "ask", made.ask)
    monkeypatch.setattr(standbys, "_STOP_SECONDS", 0.2)
    return made


def test_it_is_whole_if_all_follow_and_have_caught_up(servers: Servers) -> None:
    """And not if one of them does not."""
    Standbys().whole(NODES)
    servers.followers[1] = ("n3", "streaming", "f")
    with pytest.raises(Unknown, match="n3 has not caught up with n1"):
        Standbys().whole(NODES)
    for other in (("n3", "startup", "t"), ("walreceiver", "streaming", "t")):
        servers.followers[1] = other
        with pytest.raises(Unknown, match="n3 does not follow n1"):
            Standbys().whole(NODES)


def test_the_primary_is_the_one_that_was_promoted_last(servers: Servers) -> None:
    """One that was replaced goes on taking writes."""
    assert Standbys().primary(NODES) == "n1"
    servers.by_name["n2"] = Server(timeline=3)
    assert Standbys().primary(NODES) == "n2"
    servers.silent = {"n1", "n2"}
    with pytest.raises(Unknown, match="no node takes writes"):
        Standbys().primary(NODES)


def test_the_standby_with_the_longest_log_is_promoted(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before all have stopped receiving; then the others follow it."""
    monkeypatch.setattr(standbys, "_STOP_SECONDS", 5.0)
    servers.by_name["n3"].received = 101
    servers.silent = {"n1"}
    assert Standbys().promote(NODES) == "n3"
    stopped, reloaded, promoted = servers.by_name["n3"].told
    assert (stopped, reloaded) == ("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
    assert "pg_promote" in promoted
    *_, follows, reloaded = servers.by_name["n2"].told
    assert "host=198.18.0.3" in follows
    assert "application_name=n2" in follows
    assert Standbys().primary(NODES) == "n3"


def test_none_is_promoted_if_another_may_have_more(servers: Servers) -> None:
    """A write is acknowledged by any one of the standbys: the one that does not answer may be the only one that has it."""
    servers.silent = {"n1", "n3"}
    with pytest.raises(Unknown, match="no longer receive: n2; another may have acknowledged writes"):
        Standbys().promote(NODES)
    assert not any("pg_promote" in statement for statement in servers.by_name["n2"].told)


def test_what_does_not_follow_is_copied(servers: Servers) -> None:
    """A primary that was replaced, a new server, and one that follows another; the command is written as in a store's file."""
    assert Standbys().rebuilt(NODES) == {}
    servers.by_name["n2"].system = "1"
    assert list(Standbys().rebuilt(NODES)) == ["n2"]
    servers.by_name["n2"] = Server(timeline=3)
    copied = Standbys().rebuilt(NODES)
    assert list(copied) == ["n1", "n3"]
    ((program, *arguments),) = copied["n3"]
    assert (program, arguments[0]) == ("pg_basebackup", "--pgdata=${data}")
    assert "host=198.18.0.2" in arguments[-1]
    assert "password=word$$" in arguments[-1]
