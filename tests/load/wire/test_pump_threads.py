"""A job in several threads does what it does in one: no key or write id twice, no request more or less, no record missed."""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter, defaultdict

import pytest

from storeproof import native_support
from tests.load.wire.pump_server import GET, SET, Handler, always, job, op, requests, served

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native

FOUND, OK = b"$1\r\nx\r\n", b"+OK\r\n"
KEY, WRITE_ID = (slice(SET.index(text), SET.index(text) + len(text)) for text in (b"#" * 12, b"S" * 16))
"""In a SET, and the key also in a GET."""


class Kept:
    """A store that keeps keys, and refuses the first write of each connection."""

    def __init__(self, refused: int) -> None:
        self.there = set(range(1000))
        self.drawn: Counter[int] = Counter()
        self._refused = refused

    def __call__(self, connection: socket.socket, _number: int) -> None:
        """One connection, to its end."""
        held, writes = b"", 0
        while data := connection.recv(1 << 16):
            held += data
            while len(held) >= (size := len(SET) if held.startswith(b"*3") else len(GET)):
                key, held, writing = int(held[KEY]), held[size:], size == len(SET)
                writes += writing
                if writing and writes <= self._refused:
                    reply = b"-ERR not now\r\n"
                elif writing:
                    self.there.add(key)
                    reply = OK
                else:
                    self.drawn[key] += 1
                    reply = FOUND if key in self.there else b"$-1\r\n"
                connection.sendall(reply)


def test_keys_and_write_ids_are_used_once() -> None:
    """By all clients together: key p of client c is known + p * clients + c, and its write id counts the client's own requests."""
    came: list[bytes] = []
    lock = threading.Lock()

    def handler(connection: socket.socket, _number: int) -> None:
        for request in requests(connection, len(SET)):
            with lock:
                came.append(request)
            connection.sendall(OK)

    with served(handler, 5) as sockets:
        mix = op(SET, "new")
        first = native.start(job(sockets, mix, threads=2, limit=1001, seconds=30.0, positions=(3, 0, 1, 0, 2))).join()
    assert (first.threads, first.ops[0].ok, len(came)) == (2, 1001, 1001)
    expected = {
        1000 + 5 * place + client for client, begin in enumerate((3, 0, 1, 0, 2)) for place in range(begin, first.positions[client])
    }
    assert {int(each[KEY]) for each in came} == expected
    assert len(expected) == 1001
    ids = defaultdict(list)
    for each in came:
        client, _, sequence = each[WRITE_ID].partition(b":")
        ids[int(client) - 1].append(int(sequence))
        assert (int(each[KEY]) - 1000) % 5 == int(client) - 1
    assert all(sequences == list(range(7, 7 + len(sequences))) for sequences in ids.values())
    assert sum(map(len, ids.values())) == 1001


@pytest.mark.parametrize("threads", [2, 4])
def test_what_another_thread_could_not_write_is_not_asked_for(threads: int) -> None:
    """A key was refused, and later ones of its client were acknowledged: whether it is there no thread knows."""
    kept = Kept(refused=3)
    mix = op(SET, "new", weight=1), op(GET, "latest", weight=3)
    with served(kept, 8) as sockets:
        found = native.start(job(sockets, *mix, threads=threads, limit=8000, seconds=60.0)).join()
    assert (found.ops[0].errors, len(found.indeterminate)) == (24, 24)
    assert found.ops[1].misses == 0
    assert sum(number for key, number in kept.drawn.items() if key >= 1000) > 500, "new keys of all threads are read"


@pytest.mark.parametrize("poisson", [True, False])
@pytest.mark.parametrize(("threads", "clients"), [(2, 8), (3, 8), (8, 2)])
def test_the_threads_of_an_open_loop_share_its_rate(threads: int, clients: int, poisson: bool) -> None:
    """All of them together are due as often as one would be; a thread without a client would keep its share to itself."""
    with served(always(FOUND), clients) as sockets:
        found = native.start(job(sockets, op(), threads=threads, rate=800.0, poisson=poisson, seconds=1.0)).join()
    assert found.threads == min(threads, clients)
    due = found.ops[0].ok + found.missed_sends
    assert due == pytest.approx(800, abs=5 * 800**0.5 if poisson else 0)


def test_a_thread_that_lacks_a_processor_says_for_how_long() -> None:
    """All that the test does is on one core, the server included: the engine waits for its turn, and not only for replies."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # of this thread, and of those that it starts
    try:
        with served(always(FOUND), 8) as sockets:
            found = native.start(job(sockets, op(), limit=20_000, seconds=60.0)).join()
    finally:
        os.sched_setaffinity(0, cores)
    assert found.waiting_seconds > 0.01
    assert found.waiting_seconds + found.cpu_seconds <= found.elapsed_seconds + 0.1


def test_a_limit_holds_for_all_threads_together() -> None:
    """Also where there are more threads than clients."""
    with served(always(FOUND), 2) as sockets:
        found = native.start(job(sockets, op(), threads=5, limit=1003, seconds=30.0)).join()
    assert (found.threads, found.ops[0].ok) == (2, 1003)


def _slow(clients: int) -> Handler:
    """Answers each client's first request when all of them have asked."""
    together = threading.Barrier(clients)

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET))):
            if place == 0:
                together.wait(20)
            connection.sendall(FOUND)

    return handler


def test_rates_and_times_are_those_of_all_threads() -> None:
    """Little's law holds for their sum: requests in flight = rate × (time of a request + pause), of all clients."""
    with served(_slow(6), 6) as sockets:
        found = native.start(job(sockets, op(), threads=3, seconds=0.5, patience=20.0)).join()
    total = found.ops[0].ok
    assert found.request_rate * (found.busy_seconds + found.pause_seconds) / total == pytest.approx(6, rel=0.02)
