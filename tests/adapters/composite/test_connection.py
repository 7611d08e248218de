"""A session with the front that gave no answer is not used again: the next request opens another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.adapters.composite import CompositeSession
from storeproof.adapters.composite.connection import Connection
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Layout, Refused, Unknown, call
from storeproof.spec.store import Caching
from tests.adapters.composite.memory import LOST, NO, Layer, Server, Session
from tests.shipped import SHIPPED

VALUES = Layout("sp_values", SHIPPED.models["single_key"])


class Connections:
    """Sessions with one server, each of which was opened by a call."""

    def __init__(self) -> None:
        self.server = Server("front")
        self.made: list[Session] = []
        self.refuses: Exception | None = None

    def __call__(self) -> Session:
        if self.refuses is not None:
            raise self.refuses
        self.made.append(self.server.session())
        return self.made[-1]


def test_a_reader_goes_round_a_front_without_an_answer_and_back_to_it(tmp_path: Path) -> None:
    """With cache-aside the client hears nothing of it, so that the layer must connect again by itself."""
    layer, connections = Layer(tmp_path), Connections()
    front = Connection("front", connections)
    session = CompositeSession(
        front, Connection("home", layer.home.session), Caching.of({"policy": "cache-aside"}), Locks(str(tmp_path / "locks"))
    )
    both = session.collection(VALUES)
    both.prepare()
    layer.home.records["sp_values"] = {"k": b"v"}
    connections.server.fails = LOST
    assert call(both, VALUES, "get", "k") == b"v"
    connections.server.fails = None
    assert [call(both, VALUES, "get", "k") for _ in range(2)] == [b"v", b"v"]
    assert layer.home.asked == ["get k", "get k"]
    assert len(connections.made) == 3, "the read and the fill of the first get each lost a session"
    assert not any(each.closed for each in connections.made), "a client may contact its server before it closes"
    session.close()
    assert all(each.closed for each in connections.made)


def test_a_front_that_takes_no_connection_gives_no_answer() -> None:
    """Whatever the reason: nothing was refused that was asked."""
    connections = Connections()
    front = Connection("front", connections)
    front.lose()
    for reason in (LOST, NO):
        connections.refuses = reason
        with pytest.raises(Unknown):
            _ = front.session
    connections.refuses = None
    assert front.session is connections.made[-1]
    connections.refuses = NO
    with pytest.raises(Refused):
        Connection("front", connections)
