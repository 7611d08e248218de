"""The wire engine in an open loop, where requests have send times of their own, and where keys depend on what was written."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from time import monotonic_ns

import pytest

from storeproof import native_support
from storeproof.stats.latency import decode
from tests.load.wire.pump_server import GET, SET, always, job, op, requests, served
from tests.load.wire.test_pump import FOUND

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native


@pytest.mark.parametrize("poisson", [True, False])
def test_requests_keep_their_times(poisson: bool) -> None:
    """All that was due was sent, and each has its lag and its response time."""
    with served(always(FOUND), 8) as sockets:
        found = native.start(job(sockets, op(), rate=500.0, poisson=poisson, seconds=1.0)).join()
    counts = found.ops[0]
    assert counts.ok + found.missed_sends == pytest.approx(500, abs=0 if not poisson else 5 * 500**0.5)
    assert counts.ok > 0
    assert decode(found.schedule_lag).get_total_count() == decode(counts.response).get_total_count() == counts.requests == counts.ok
    assert decode(counts.response).get_max_value() >= decode(counts.service).get_max_value()


@pytest.mark.serial
def test_a_stall_is_not_omitted() -> None:
    """The server pauses for half a second: all that was due meanwhile is late, though a closed loop would have seen one slow reply."""
    stalled = threading.Event()

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET))):
            if place == 50 and not stalled.is_set():
                stalled.set()
                time.sleep(0.5)
            connection.sendall(FOUND)

    with served(handler) as sockets:
        found = native.start(job(sockets, op(), rate=200.0, seconds=1.5, patience=2.0)).join()
    assert decode(found.ops[0].response).get_value_at_percentile(85) > 150e6
    assert decode(found.ops[0].service).get_value_at_percentile(85) < 100e6
    assert max(longest for _, _, longest in found.seconds) > 450_000
    assert decode(found.schedule_lag).get_value_at_percentile(99) < 100e6, (
        "who waits for a client that waits for the server is not late by itself"
    )


def test_what_was_due_and_never_sent_is_told() -> None:
    """Requests that an overloaded connection could not take are missed sends."""

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in requests(connection, len(GET)):
            time.sleep(0.02)
            connection.sendall(FOUND)

    with served(handler) as sockets:
        found = native.start(job(sockets, op(), rate=1000.0, poisson=False, seconds=0.5)).join()
    assert found.ops[0].ok <= 26
    assert found.ops[0].ok + found.missed_sends == pytest.approx(500, abs=1)


@pytest.mark.parametrize("keys", ["latest", "exponential"])
def test_the_newest_keys_are_drawn_once_they_were_acknowledged(keys: str) -> None:
    """Of all clients of the pump; and none before: every key that is read was written."""
    there = set(range(1000))
    drawn: Counter[int] = Counter()

    def handler(connection: socket.socket, _number: int) -> None:
        held = b""
        while data := connection.recv(1 << 16):
            held += data
            while len(held) >= (size := len(SET) if held.startswith(b"*3") else len(GET)):
                key, writes, held = int(held[24:36]), size == len(SET), held[size:]
                if writes:
                    there.add(key)
                else:
                    drawn[key] += 1
                connection.sendall(b"+OK\r\n" if writes else FOUND if key in there else b"$-1\r\n")

    mix = op(SET, "new", weight=1), op(GET, keys, weight=4)
    with served(handler, 4) as sockets:
        found = native.start(job(sockets, *mix, limit=4000, seconds=30.0)).join()
    assert (found.ops[1].misses, found.samples) == (0, [])
    assert sum(number for key, number in drawn.items() if key >= 1000) > 500


def test_each_acknowledged_write_is_in_the_log() -> None:
    """With its client, its key, and when it was sent and acknowledged."""
    with served(always(b"+OK\r\n", len(SET)), 2) as sockets:
        begun = monotonic_ns()
        found = native.start(job(sockets, op(SET, "new"), limit=40, log=True)).join()
    entries = list(struct.iter_unpack("<IQQQ", found.log))
    expected = [1000 + 2 * place + client for client in range(2) for place in range(found.positions[client])]
    assert sorted(key for _, key, _, _ in entries) == sorted(expected)
    assert all(client == key % 2 and begun < sent < acknowledged < monotonic_ns() for client, key, sent, acknowledged in entries)


def test_what_removes_takes_the_oldest_new_key() -> None:
    """That is sure to be there; and where nothing is left and nothing is written, the client has ended."""
    removed: list[int] = []

    def handler(connection: socket.socket, _number: int) -> None:
        for request in requests(connection, len(GET)):
            removed.append(int(request[24:36]))
            connection.sendall(b":1\r\n")

    with served(handler) as sockets:
        one = op(GET.replace(b"GET", b"DEL"), "oldest", writes=True)
        found = native.start(job(sockets, one, positions=(5,), removed=(1,), indeterminate=frozenset({1002}), seconds=20.0)).join()
    assert removed == [1001, 1003, 1004]
    assert (found.positions, found.removed, found.broken) == ([5], [5], [])
    assert found.elapsed_seconds < 10


def test_a_run_that_is_stopped_ends_with_the_requests_in_flight() -> None:
    """They are answered, and none is an error."""
    with served(always(FOUND), 4) as sockets:
        run = native.start(job(sockets, op(), seconds=60.0))
        time.sleep(0.2)
        assert not run.done
        run.stop()
        found = run.join()
        assert run.done
    assert found.ops[0].ok > 0
    assert (found.ops[0].errors, found.broken, found.silent) == (0, [], [])
