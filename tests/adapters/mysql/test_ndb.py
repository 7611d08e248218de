"""NDB Cluster without its programs: where clients are sent, what a whole cluster is, and how it is asked to end."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from storeproof.adapters.mysql import cluster
from storeproof.adapters.mysql.clusters import ndb
from storeproof.adapters.mysql.clusters.ndb import Ndb
from storeproof.contract import Address, NodeAddresses, Unknown
from storeproof.contract.clusters import EndsAsWhole

PORTS = {"n1": {"mysqld": 3306, "ndbmtd": 2202}, "n2": {"mysqld": 3306, "ndbmtd": 2202}, "n3": {"mysqld": 3306, "ndb_mgmd": 1186}}
NODES: NodeAddresses = {name: Address(f"198.18.0.{name[1]}", 3306, ports=ports) for name, ports in PORTS.items()}


@dataclass
class Server:
    """What one says of the cluster; `takes_writes`: whether its write is answered."""

    ready: int = 2
    epoch: int = 200
    handled: int = 100
    takes_writes: bool = True


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Server]:
    """All is well until a test changes what one of them says."""
    made = {name: Server() for name in NODES}

    def ask(address: Address, *statements: str) -> Sequence[tuple[Any, ...]]:
        server = next(made[name] for name, each in NODES.items() if each == address)
        if any(each.startswith("REPLACE") for each in statements) and not server.takes_writes:
            raise Unknown("no answer in time")
        if statements[-1] == "SHOW ENGINE NDB STATUS":
            binlog = f"latest_epoch={server.epoch}, latest_trans_epoch=7, latest_handled_binlog_epoch={server.handled}, x"
            return [("ndbclus", "NdbTransaction", "created=2, free=1, sizeof=392"), ("ndbclus", "binlog", binlog)]
        return [("Ndb_number_of_ready_data_nodes", str(server.ready))]

    monkeypatch.setattr(ndb, "ask", ask)
    return made


def test_clients_are_sent_to_the_first_server_that_takes_a_write(servers: dict[str, Server]) -> None:
    """One whose data node waits for the other does not, though it answers."""
    assert Ndb().primary(NODES) == "n1"
    servers["n1"].takes_writes = False
    assert Ndb().primary(NODES) == "n2"
    servers["n2"].takes_writes = servers["n3"].takes_writes = False
    with pytest.raises(Unknown, match="no server takes writes"):
        Ndb().primary(NODES)


@pytest.mark.parametrize(
    ("name", "says", "missing"),
    [
        ("ready", 1, "n3 reaches 1 of 2 data nodes"),
        ("takes_writes", False, "no answer"),
        ("handled", 0, "n3 has followed the cluster's epochs to 0"),
        ("handled", 201, "to 201, of 200"),
    ],
)
def test_it_is_whole_if_every_server_reaches_all_data_nodes_and_follows(
    servers: dict[str, Server], name: str, says: object, missing: str
) -> None:
    """An epoch beyond the latest is one of a cluster that was before."""
    Ndb().whole(NODES)
    setattr(servers["n3"], name, says)
    with pytest.raises(Unknown, match=missing):
        Ndb().whole(NODES)


class Management(socketserver.StreamRequestHandler):
    """Answers one request, as the test says."""

    def handle(self) -> None:
        server: Any = self.server
        while line := self.rfile.readline().decode().strip():
            server.asked.append(line)
        self.wfile.write(server.reply)


@contextmanager
def managed(reply: bytes) -> Iterator[tuple[NodeAddresses, list[str]]]:
    """A management server on n3; what it was asked."""
    with socketserver.TCPServer(("127.0.0.1", 0), Management) as server:
        server.reply, server.asked = reply, []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield NODES | {"n3": Address("127.0.0.1", 3306, ports={"ndb_mgmd": server.server_address[1]})}, server.asked  # type: ignore[attr-defined]
        finally:
            server.shutdown()


def test_it_ends_as_a_whole_by_the_management_server() -> None:
    """Without aborting transactions, and without the management server itself."""
    made = cluster({"engine": "ndbcluster"})
    assert isinstance(made, EndsAsWhole)
    with managed(b"stop reply\nresult: Ok\nstopped: 2\ndisconnect: 0\n\n") as (nodes, asked):
        made.end(nodes)
    assert asked == ["stop all", "abort: 0", "stop: db"]


def test_a_management_server_that_has_not_refused_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers long after the data nodes have ended."""
    monkeypatch.setattr(ndb, "_REFUSED_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        Ndb().end({"n3": Address("127.0.0.1", 3306, ports={"ndb_mgmd": silent.getsockname()[1]})})
        taken, _ = silent.accept()
        with taken:
            assert taken.recv(1000) == b"stop all\nabort: 0\nstop: db\n\n"


@pytest.mark.parametrize(("reply", "says"), [(b"stop reply\nresult: Operation not allowed\n\n", "not allowed"), (b"", "says: nothing")])
def test_a_management_server_that_refuses_has_not_ended_it(reply: bytes, says: str) -> None:
    """Neither has one that closes the connection, or none that listens."""
    with managed(reply) as (nodes, _), pytest.raises(Unknown, match=says):
        Ndb().end(nodes)
    with pytest.raises(Unknown, match="does not answer"):
        Ndb().end(nodes)
