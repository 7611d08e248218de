"""The wire engine against a real Redis: what it says it wrote is there, byte for byte, and it takes no memory for it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import redis

from storeproof import native_support
from storeproof.load.wire.request import RequestTemplate, Slot
from storeproof.records import filler
from storeproof.stats.latency import decode
from tests.load.wire.pump_server import GET, SET, job, op

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built"),
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]
if native_support.present():
    from storeproof import native


class Server:
    """One Redis, and the sockets of its ordinary client."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.client = redis.Redis(port=port, protocol=2)
        self._pool = redis.ConnectionPool(port=port, protocol=2)
        self._connections: list[redis.Connection] = []

    def sockets(self, clients: int) -> list[socket.socket]:
        """Connections that the client opened and keeps."""
        while len(self._connections) < clients:
            self._connections.append(cast(redis.Connection, self._pool.get_connection()))
        return [cast(Any, each)._sock for each in self._connections[:clients]]

    def close(self) -> None:
        """End all connections."""
        for each in self._connections:
            each.disconnect()
        self.client.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    made = Server(process, port)
    try:
        for _ in range(200):
            try:
                made.client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.05)
        yield made
    finally:
        made.close()
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(10)


def value_of(key: str, write_id: str) -> bytes:
    """What was written under a key by who signs with this write id."""
    return f"{write_id}|".encode() + filler.bytes_at(filler.place_of(key, write_id), 23)


@pytest.mark.parametrize("pipeline", [1, 16])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_was_acknowledged_is_there_whole(server: Server, pipeline: int, threads: int) -> None:
    """With one thread or two, pipelined or not: as many keys as were acknowledged, each with its own value."""
    found = native.start(
        job(server.sockets(8), op(SET, "new"), pipeline=pipeline, threads=threads, limit=20_000, seconds=60.0, known=0)
    ).join()
    assert (found.ops[0].ok, sum(found.positions), found.samples) == (20_000, 20_000, [])
    assert server.client.dbsize() == 20_000
    for client, position in enumerate(found.positions):
        for place in range(0, position, 97):
            key = f"key:{place * 8 + client:012d}"
            assert server.client.get(key) == value_of(key, f"{client + 1:04d}:{7 + place:011d}")


def test_the_clients_own_connections_serve_on_afterwards(server: Server) -> None:
    """The driver finds its connections and their flags as it left them."""
    sockets = server.sockets(2)
    flags = [each.getblocking() for each in sockets]
    native.start(job(sockets, op(SET, "new"), seconds=0.2)).join()
    assert [each.getblocking() for each in sockets] == flags
    for each in server._connections:
        each.send_command("ECHO", "still")
        assert each.read_response() == b"still"


def test_a_miss_is_a_miss_and_an_error_an_error(server: Server) -> None:
    """A value, a missing key and a key of another type are counted apart."""
    server.client.set("key:000000000001", "x")
    server.client.hset("key:000000000002", "field", "x")
    found = native.start(job(server.sockets(1), op(GET, "sequential"), known=3, limit=300, seconds=30.0)).join()
    assert (found.ops[0].ok, found.ops[0].misses, found.ops[0].errors, found.ops[0].malformed) == (100, 100, 100, 0)
    assert "WRONGTYPE" in found.samples[0]
    assert decode(found.ops[0].service).get_total_count() == 100


def test_a_value_larger_than_every_buffer_comes_back(server: Server) -> None:
    """Four megabytes, many times the pump's own buffer and the kernel's; and a record of many fields."""
    size = 4_000_000
    request = b"*3\r\n$3\r\nSET\r\n$16\r\nkey:############\r\n$%d\r\n" % size + b"v" * size + b"\r\n"
    key, value = request.index(b"#"), len(request) - 2 - size
    slots = (Slot(key, 12, "key"), Slot(value, 16, "write-id"), Slot(value + 16, size - 16, "filler"))
    mix = op(templates=(RequestTemplate(request, slots),), keys="new", writes=True), op(GET, "oldest")
    found = native.start(job(server.sockets(2), *mix, known=0, limit=20, seconds=60.0, patience=60.0)).join()
    assert sum(each.ok for each in found.ops) == 20
    assert (found.samples, found.broken) == ([], [])
    last = found.positions[0] - 1
    name, written = f"key:{last * 2:012d}", cast(bytes, server.client.get(f"key:{last * 2:012d}"))
    assert written[16:] == filler.bytes_at(filler.place_of(name, written[:16].decode()), size - 16)


def test_a_paused_server_shows_in_the_response_times_of_an_open_loop(server: Server) -> None:
    """Coordinated omission is absent: half a second of pause in two is what more than a tenth of all requests met."""
    server.client.set("key:000000000000", "x")
    run = native.start(job(server.sockets(4), op(GET), known=1, rate=500.0, seconds=2.0, patience=5.0))
    stop = threading.Timer(0.5, os.kill, (server.process.pid, signal.SIGSTOP))
    go = threading.Timer(1.2, os.kill, (server.process.pid, signal.SIGCONT))
    for timer in (stop, go):
        timer.start()
    found = run.join()
    response, service = decode(found.ops[0].response), decode(found.ops[0].service)
    assert response.get_value_at_percentile(80) > 0.05e9
    assert response.get_value_at_percentile(99) > 0.5e9
    assert service.get_value_at_percentile(80) < 0.05e9
    assert max(longest for _, _, longest in found.seconds) > 600_000


def test_memory_does_not_grow_with_records_and_operations(server: Server) -> None:
    """200 000 operations take less than 8 MB more than 1000."""
    sockets = server.sockets(20)

    def most() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    native.start(job(sockets, op(SET, "new"), known=0, limit=1000, pipeline=16, seconds=60.0)).join()
    before = most()
    mix = op(SET, "new", weight=1), op(GET, "latest", weight=1), op(GET, "zipfian", weight=1)
    found = native.start(job(sockets, *mix, known=900, limit=200_000, pipeline=16, seconds=60.0, positions=(0,) * 20)).join()
    assert sum(each.ok + each.misses for each in found.ops) == 200_000
    assert most() - before < 8_000_000


@pytest.mark.parametrize("threads", [1, 2])
def test_what_was_removed_is_gone_and_nothing_else(server: Server, threads: int) -> None:
    """Clients in several threads write and remove: what is left is what was written and not removed."""
    mix = op(SET, "new", weight=2), op(GET.replace(b"GET", b"DEL"), "oldest", writes=True)
    found = native.start(job(server.sockets(8), *mix, threads=threads, limit=20_000, seconds=60.0, known=0)).join()
    assert sum(each.ok for each in found.ops) == 20_000
    assert server.client.dbsize() == sum(found.positions) - sum(found.removed)
    for client in range(8):
        kept = range(found.removed[client], found.positions[client])
        assert server.client.exists(*(f"key:{place * 8 + client:012d}" for place in kept)) == len(kept)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_open_loop_keeps_its_rate_in_several_threads(server: Server, threads: int) -> None:
    """They share what is due: as much is sent, or told as missed, as one would have to send; every reply has its times."""
    server.client.set("key:000000000000", "x")
    found = native.start(
        job(server.sockets(8), op(GET), known=1, threads=threads, rate=2000.0, poisson=False, seconds=1.0, patience=5.0)
    ).join()
    assert found.threads == threads
    assert found.ops[0].ok + found.missed_sends == 2000
    assert decode(found.ops[0].response).get_total_count() == decode(found.schedule_lag).get_total_count() == found.ops[0].ok
