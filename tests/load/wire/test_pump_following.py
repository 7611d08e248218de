"""The wire engine where an operation is two requests about the same key, and where keys show the hash of their number."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter

import pytest

from storeproof import native_support
from storeproof.load.wire.request import Job, Op, RequestTemplate, Slot
from storeproof.records import filler
from storeproof.records.distributions import ZETA, fnv
from storeproof.records.keys import HASHED
from storeproof.stats.latency import decode
from tests.load.wire.pump_server import GET, SET, always, job, op, requests, served, template
from tests.load.wire.test_pump import FOUND

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native

NOT_FOUND = b"$-1\r\n"
SLOW = 0.02
"""Seconds that a slow server takes for a reply."""


def _both(keys: str = "uniform", weight: int = 1) -> tuple[Op, Op]:
    """A read, and the write that follows it."""
    return op(GET, keys, then=1, weight=weight, name="read"), op(SET, keys, weight=0, name="write")


class Answering:
    """Keeps what comes, key by key, and answers."""

    def __init__(self, missing: frozenset[int] = frozenset(), seconds: float = 0.0) -> None:
        self.seen: dict[int, list[tuple[str, int]]] = {}
        self._missing = missing
        self._seconds = seconds

    def __call__(self, connection: socket.socket, number: int) -> None:
        mine = self.seen.setdefault(number, [])
        held = b""
        while data := connection.recv(1 << 16):
            held += data
            while len(held) >= (size := len(SET) if held.startswith(b"*3") else len(GET)):
                one, held = held[:size], held[size:]
                key, reads = int(one[24:36]), size == len(GET)
                mine.append(("read" if reads else "write", key))
                time.sleep(self._seconds)
                connection.sendall(b"+OK\r\n" if not reads else NOT_FOUND if key in self._missing else FOUND)


@pytest.mark.parametrize("pipeline", [1, 8])
def test_a_write_follows_its_read(pipeline: int) -> None:
    """About the same key, before the client asks anything else; both are one operation, also for the limit."""
    handler = Answering()
    with served(handler, 2) as sockets:
        found = native.start(job(sockets, *_both(), pipeline=pipeline, limit=200, seconds=10.0)).join()
    read, write = found.ops
    assert (read.ok, read.misses, read.errors, read.requests) == (0, 0, 0, 0)
    assert (write.ok, write.misses, write.errors, write.requests) == (200, 0, 0, 200)
    assert found.bytes_sent == 200 * (len(GET) + len(SET))
    assert sum(ok for ok, _, _ in found.seconds) == 200
    assert found.request_rate == pytest.approx(found.throughput, rel=0.5)
    for asked in handler.seen.values():
        reads, writes = ([key for what, key in asked if what == which] for which in ("read", "write"))
        assert Counter(reads) == Counter(writes)
        if pipeline == 1:
            assert [what for what, _ in asked] == ["read", "write"] * (len(asked) // 2)
            assert reads == writes


def test_where_nothing_was_read_nothing_is_written() -> None:
    """The operation is a miss, counted with its first half."""
    handler = Answering(missing=frozenset(range(0, 1000, 2)))
    with served(handler) as sockets:
        found = native.start(job(sockets, *_both(), limit=300, seconds=10.0)).join()
    read, write = found.ops
    assert read.misses + write.ok == 300
    assert 90 < read.misses < 210
    assert (read.errors, write.misses, write.errors, found.indeterminate) == (0, 0, 0, [])
    assert all(key % 2 for what, key in handler.seen[0] if what == "write")


@pytest.mark.parametrize("rate", [0.0, 20.0])
def test_the_time_is_from_the_first_request_to_the_last_reply(rate: float) -> None:
    """In an open loop too; and what was begun before the deadline is ended after it."""
    with served(Answering(seconds=SLOW)) as sockets:
        found = native.start(job(sockets, *_both(), rate=rate, poisson=False, seconds=0.5)).join()
    write = found.ops[1]
    service = decode(write.service)
    assert write.ok == write.requests > 3
    assert service.get_min_value() >= 2 * SLOW * 1e9 * 0.99
    assert write.busy_ns == pytest.approx(found.busy_seconds * 1e9)
    if rate:
        assert decode(write.response).get_min_value() >= service.get_min_value() * 0.99
        assert decode(found.schedule_lag).get_total_count() == write.ok


def test_an_error_is_counted_where_it_was_met() -> None:
    """The first was refused, and nothing follows; the second was, and its key is in doubt."""

    def refusing(what: bytes) -> tuple[list[int], list[int]]:
        def handler(connection: socket.socket, _number: int) -> None:
            while data := connection.recv(1 << 16):
                connection.sendall(b"-ERR no\r\n" if data.startswith(what) else FOUND)

        with served(handler) as sockets:
            found = native.start(job(sockets, *_both(), limit=5, seconds=10.0)).join()
        assert [each.ok for each in found.ops] == [0, 0]
        return [each.errors for each in found.ops], found.indeterminate

    assert refusing(b"*2") == ([5, 0], [])
    errors, indeterminate = refusing(b"*3")
    assert errors == [0, 5]
    assert len(indeterminate) == 5


def test_what_was_not_sent_yet_is_lost_without_a_doubt() -> None:
    """The read was answered and nonsense came with it: its write was never sent, and both operations under way are over."""

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET)), 1):
            if place == 2:
                connection.sendall(FOUND + b"HTTP/1.1 400 Bad Request\r\n")

    with served(handler) as sockets:
        found = native.start(job(sockets, *_both(), pipeline=2, seconds=5.0)).join()
    read, write = found.ops
    assert (read.malformed, read.errors, write.errors, write.ok) == (1, 0, 1, 0)
    assert (found.broken, found.silent, found.indeterminate) == ([0], [], [])
    assert found.request_rate * found.elapsed_seconds == pytest.approx(2)


def test_a_second_request_may_be_any_of_some() -> None:
    """As an update of one field, which may be each: drawn for each request, and not together with the read."""
    seen: Counter[bytes] = Counter()
    words = tuple(RequestTemplate(b"%c" % letter + GET[1:], template(GET).slots) for letter in b"abc")

    def handler(connection: socket.socket, _number: int) -> None:
        for one in requests(connection, len(GET)):
            seen[one[:1]] += 1
            connection.sendall(FOUND)

    with served(handler) as sockets:
        both = op(then=1), op(templates=words, form="chance", weight=0, writes=True)
        assert native.start(job(sockets, *both, limit=900, seconds=10.0)).join().ops[1].ok == 900
    assert seen.pop(b"*") == 900
    assert all(230 < seen[letter] < 370 for letter in (b"a", b"b", b"c"))


def test_a_run_that_is_stopped_ends_what_it_began() -> None:
    """The second half is sent and answered after the stop."""
    handler = Answering(seconds=0.1)
    with served(handler) as sockets:
        run = native.start(job(sockets, *_both(), seconds=60.0, patience=5.0))
        threading.Timer(0.05, run.stop).start()
        found = run.join()
    assert [what for what, _ in handler.seen[0]] == ["read", "write"]
    assert (found.ops[1].ok, found.silent, found.broken) == (1, [], [])


@pytest.mark.parametrize(
    "then",
    [
        (op(then=5),),
        (op(then=0),),
        (op(then=1), op(SET)),
        (op(then=1), op(SET, weight=0, then=2), op(SET, weight=0)),
        (op(then=1), op(SET, "new", weight=0)),
    ],
)
def test_what_cannot_follow_is_refused(then: tuple[Op, ...]) -> None:
    """No such operation, itself, one with a weight, one with a follower, one with other keys."""
    with served(always(b"")) as sockets, pytest.raises(ValueError, match="what follows it"):
        native.start(job(sockets, *then))


HASHED_SET = b"SET user" + b"#" * 19 + b" " + b"S" * 16 + b"|" + b"F" * 23 + b" " + b"H" * 38 + b"\r\n"
SLOTS = (Slot(8, 19, "key"), Slot(28, 16, "write-id"), Slot(45, 23, "filler"), Slot(69, 38, "key-hex"))


def _hashed(sockets: list[socket.socket], keys: str, known: int, limit: int) -> Job:
    one = op(templates=(RequestTemplate(HASHED_SET, SLOTS),), keys=keys, writes=True)
    more = {"key_prefix": b"user", "key_digits": 19, "key_hashed": True, "known": known, "limit": limit, "sequence": 0, "seconds": 60.0}
    return job(sockets, one, **more)


def test_keys_show_the_hash_of_their_number() -> None:
    """In decimals of one width, and the filler follows from the key as it is written."""
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        for one in requests(connection, len(HASHED_SET)):
            seen.append(one)
            connection.sendall(b"+OK\r\n")

    with served(handler) as sockets:
        assert native.start(_hashed(sockets, "new", 0, 20)).join().ops[0].ok == 20
    for place, one in enumerate(seen):
        key, write_id = HASHED.key(place), f"0001:{place:011d}"
        text = filler.bytes_at(filler.place_of(key, write_id), 23)
        assert one == f"SET {key} {write_id}|".encode() + text + b" " + str(key)[4:].encode().hex().encode() + b"\r\n"


def test_the_hottest_hashed_key_is_that_of_the_hottest_number() -> None:
    """3.78 % of the requests ask for it, as in YCSB."""
    known, requested = 1000, 20_000
    seen: Counter[bytes] = Counter()

    def handler(connection: socket.socket, _number: int) -> None:
        for one in requests(connection, len(HASHED_SET)):
            seen[one[4:27]] += 1
            connection.sendall(b"+OK\r\n")

    with served(handler) as sockets:
        native.start(_hashed(sockets, "zipfian", known, requested)).join()
    (hottest, asked), *_ = seen.most_common(1)
    assert hottest.decode() == HASHED.key(fnv(0) % known)
    share = 1 / ZETA + (1 - 1 / ZETA) / known
    assert abs(asked - share * requested) < 5 * (share * (1 - share) * requested) ** 0.5
