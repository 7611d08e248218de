"""Adapters that try again when another client was faster: where the server lets no attempt succeed, the operation ends all the same."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.adapters import memcached
from storeproof.adapters.redis.collection import Named
from storeproof.contract import Attempts, GaveUp, Layout, Refused, call
from tests.adapters.test_failures import STATS, answering
from tests.shipped import SHIPPED

VALUE, COUNTER = (Layout("c", SHIPPED.models[name]) for name in ("single_key", "counter"))


def never_in_time(request: bytes) -> bytes:
    """Memcached, where another client is always faster."""
    return {
        b"version": b"VERSION 1.6.18\r\n",
        b"stats": STATS,
        b"gets": b"VALUE c:k 0 5 7\r\nfirst\r\nEND\r\n",
        b"cas": b"EXISTS\r\n",
        b"append": b"NOT_STORED\r\n",
        b"add": b"NOT_STORED\r\n",
        b"incr": b"NOT_FOUND\r\n",
    }[request.split()[0]]


@pytest.mark.parametrize(
    ("layout", "operation", "args"),
    [(VALUE, "compare_and_set", ("k", b"first", b"second")), (VALUE, "append", ("k", b"more")), (COUNTER, "increment", ("k", 1))],
    ids=["compare_and_set", "append", "increment"],
)
def test_memcached_that_lets_no_client_win(
    layout: Layout, operation: str, args: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused, and the store is to blame: another client that is faster each time is no chance."""
    monkeypatch.setattr(Attempts.__init__, "__defaults__", (30.0, 5))
    with answering(never_in_time) as address:
        session = memcached.connect(address, {})
        with pytest.raises(Refused, match="5 attempts in a row were in vain") as raised:
            call(session.collection(layout), layout, operation, *args)
        assert not isinstance(raised.value, GaveUp)
        session.close()


class Endless:
    """A session with Redis, whose SCAN gives another cursor for ever."""

    def run(self, *command: object) -> object:
        assert command[0] == "SCAN"
        return 7, []


def test_redis_whose_scan_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over, which says nothing of what the server can do: the database may be that large."""
    monkeypatch.setattr("storeproof.adapters.redis.collection._SCAN_SECONDS", 0.0)
    session: Any = Endless()
    with pytest.raises(GaveUp, match=r"^a SCAN of c:\*: 1 attempts within 0 s were in vain$"):
        Named(session, VALUE).clear()
