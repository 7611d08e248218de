"""The wire engine where all requests are for one key, and where values have no room for a write id."""

from __future__ import annotations

import socket
from collections import Counter

import pytest

from storeproof import native_support
from storeproof.load.wire.request import RequestTemplate, Slot
from storeproof.records import filler
from storeproof.records.keys import HASHED
from tests.load.wire.pump_server import GET, job, op, requests, served
from tests.load.wire.test_pump import FOUND

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native

SHORT = b"*3\r\n$3\r\nSET\r\n$16\r\nkey:############\r\n$3\r\nFFF\r\n"
SHORT_SLOTS = (Slot(SHORT.index(b"#"), 12, "key"), Slot(SHORT.index(b"FFF"), 3, "filler"))


@pytest.mark.parametrize("keys", ["uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"])
def test_with_one_loaded_record_all_requests_are_for_its_key(keys: str) -> None:
    """By each of the distributions, on every connection of every thread."""
    seen: Counter[tuple[int, bytes]] = Counter()

    def handler(connection: socket.socket, number: int) -> None:
        for one in requests(connection, len(GET)):
            seen[number, one[18:34]] += 1
            connection.sendall(FOUND)

    with served(handler, 4) as sockets:
        found = native.start(job(sockets, op(GET, keys), known=1, threads=2, limit=400, seconds=60.0)).join()
    assert (found.ops[0].ok, found.ops[0].misses) == (400, 0)
    assert {number for number, _ in seen} == {0, 1, 2, 3}
    assert {key for _, key in seen} == {b"key:000000000000"}


def test_one_hashed_key_is_the_first_of_ycsb() -> None:
    """The key shows the hash of 0, not 0."""
    request = b"GET user" + b"#" * 19 + b"\r\n"
    one = op(templates=(RequestTemplate(request, (Slot(8, 19, "key"),)),))
    seen: set[bytes] = set()

    def handler(connection: socket.socket, _number: int) -> None:
        for each in requests(connection, len(request)):
            seen.add(each)
            connection.sendall(FOUND)

    with served(handler) as sockets:
        native.start(job(sockets, one, known=1, key_prefix=b"user", key_digits=19, key_hashed=True, limit=50, seconds=60.0)).join()
    assert seen == {f"GET {HASHED.key(0)}\r\n".encode()}


def test_a_short_value_derives_from_key_and_write_id() -> None:
    """Each write has bytes of its own, those that the recipe makes, although no write id is in the request."""
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        for one in requests(connection, len(SHORT)):
            seen.append(one)
            connection.sendall(b"+OK\r\n")

    with served(handler) as sockets:
        short = op(templates=(RequestTemplate(SHORT, SHORT_SLOTS),), writes=True)
        assert native.start(job(sockets, short, known=1, sequence=0, limit=100, seconds=60.0)).join().ops[0].ok == 100
    made = [filler.bytes_at(filler.place_of("key:000000000000", f"0001:{sequence:011d}"), 3) for sequence in range(100)]
    assert [one[-5:-2] for one in seen] == made
    assert len(set(made)) > 90
