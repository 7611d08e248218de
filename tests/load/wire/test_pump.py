"""The wire engine against a server in a thread: what requests it sends, and what it makes of the replies."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from storeproof import native_support
from storeproof.load.wire.request import Op, Patch, RequestTemplate, Slot
from storeproof.records import filler
from storeproof.stats.latency import decode
from tests.load.wire.pump_server import GET, SET, always, job, op, requests, served

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native
FOUND = b"$1\r\nx\r\n"


def _kept(seen: list[bytes], size: int, reply: bytes = b"+OK\r\n") -> Callable[[socket.socket, int], None]:
    """A handler that keeps what comes."""

    def handler(connection: socket.socket, _number: int) -> None:
        for request in requests(connection, size):
            seen.append(request)
            connection.sendall(reply)

    return handler


def _of(request: bytes, *slots: Slot, **more: Any) -> Op:
    return op(templates=(RequestTemplate(request, slots),), **more)


def test_every_kind_of_slot() -> None:
    """Each as wide as it is, and nothing else of the request differs; a per cent sign is a byte like any other."""
    kinds = (
        ("key", 6),
        ("key-le", 3),
        ("key-be", 8),
        ("key-hex", 8),
        ("id-le", 4),
        ("id-be", 2),
        ("write-id", 16),
        ("write-id-hex", 32),
        ("filler", 9),
    )
    slots, request = [], b"%d %%"
    for kind, width in (*kinds, ("filler-hex", 10)):
        slots.append(Slot(len(request), width, kind, 0, 1000 * len(slots)))  # type: ignore[arg-type]  # all of them are kinds
        request += b"?" * width + b"%s"
    seen: list[bytes] = []
    with served(_kept(seen, len(request))) as sockets:
        found = native.start(job(sockets, _of(request, *slots, keys="new", writes=True), known=4242, limit=3, sequence=12345)).join()
    assert (found.ops[0].ok, found.samples) == (3, [])
    for place, came in enumerate(seen):
        key, write_id = 4242 + place, f"0001:{12345 + place:011d}"
        at = filler.place_of(f"key:{key:012d}", write_id)
        made = [
            b"%06d" % key,
            key.to_bytes(3, "little"),
            key.to_bytes(8, "big"),
            (b"%04d" % key).hex().encode(),
            (place + 1).to_bytes(4, "little"),
            (place + 1).to_bytes(2, "big"),
            write_id.encode(),
            write_id.encode().hex().encode(),
            filler.bytes_at(at + 8000, 9),
            filler.bytes_at(at + 9000, 5).hex().encode(),
        ]
        assert came == b"%d %%" + b"%s".join(made) + b"%s"


def test_a_batch_has_keys_of_its_own() -> None:
    """Each record's filler follows from its own key, and a write names no key twice."""
    request = b"?" * 12 + b"!" * 12 + b"." * 5 + b"," * 5
    slots = Slot(0, 12, "key"), Slot(12, 12, "key", 1), Slot(24, 5, "filler"), Slot(29, 5, "filler", 1, 3)
    seen: list[bytes] = []
    with served(_kept(seen, len(request), b":2\r\n")) as sockets:
        found = native.start(job(sockets, _of(request, *slots, batch=2, writes=True, hit=(2,)), known=3, limit=60, sequence=0)).join()
    assert (found.ops[0].ok, found.ops[0].requests) == (120, 60)
    for place, came in enumerate(seen):
        write_id = f"0001:{place:011d}"
        places = [filler.place_of(f"key:{came[at : at + 12].decode()}", write_id) for at in (0, 12)]
        assert came[:12] != came[12:24]
        assert came[24:] == filler.bytes_at(places[0], 5) + filler.bytes_at(places[1] + 3, 5)
    assert len({came[:24] for came in seen}) == 6


def test_more_than_the_whole_filler_goes_round_in_it() -> None:
    """And what does not fit into the socket's buffer is sent when there is room again."""
    size = filler.BLOCK * 16 + 17
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        time.sleep(0.1)
        _kept(seen, size)(connection, 0)

    with served(handler) as sockets:
        one = _of(bytes(size), Slot(0, size, "filler"), keys="new", writes=True)
        found = native.start(job(sockets, one, limit=2, seconds=20.0, sequence=0)).join()
    assert (found.ops[0].ok, found.bytes_sent) == (2, 2 * size)
    assert seen == [filler.bytes_at(filler.place_of(f"key:{1000 + place:012d}", f"0001:{place:011d}"), size) for place in range(2)]


def test_a_template_is_for_keys_below_its_limit() -> None:
    """Where numbers are written in as many bytes as they take."""
    small, large = RequestTemplate(b"b?", (Slot(1, 1, "key-be"),), 256), RequestTemplate(b"w??", (Slot(1, 2, "key-be"),))
    seen = bytearray()

    def handler(connection: socket.socket, _number: int) -> None:
        while data := connection.recv(1 << 16):
            seen.extend(data)
            connection.sendall(FOUND)

    with served(handler) as sockets:
        found = native.start(job(sockets, op(templates=(small, large), keys="sequential"), known=258, limit=258)).join()
    assert found.ops[0].ok == 258
    assert bytes(seen) == b"".join(b"b" + bytes([key]) for key in range(256)) + b"w\x01\x00w\x01\x01"


def test_requests_that_ask_the_same_are_drawn_evenly() -> None:
    """Templates of form `chance` are used about equally often."""
    seen: list[bytes] = []
    with served(_kept(seen, 1, FOUND)) as sockets:
        words = op(templates=tuple(RequestTemplate(each, ()) for each in (b"a", b"b", b"c")), form="chance", keys="none", hit=())
        native.start(job(sockets, words, limit=900, seconds=10.0)).join()
    assert all(230 < seen.count(each) < 370 for each in (b"a", b"b", b"c"))


def test_requests_of_unlike_sizes_follow_from_key_and_write_id() -> None:
    """As the records that they write do, so that who reads one back knows how long it was."""
    seen = bytearray()

    def handler(connection: socket.socket, _number: int) -> None:
        while data := connection.recv(1 << 16):
            seen.extend(data)
            connection.sendall(FOUND)

    key, sizes = Slot(1, 12, "key"), range(3, 8)
    forms = tuple(RequestTemplate(b"%c" % (65 + size) + b"?" * (12 + size), (key, Slot(13, size, "filler"))) for size in sizes)
    with served(handler) as sockets:
        one = op(templates=forms, form="record", keys="new", hit=(), writes=True)
        found = native.start(job(sockets, one, limit=400, seconds=20.0)).join()
    expected = bytearray()
    for place in range(400):
        at = filler.place_of(f"key:{1000 + place:012d}", f"0001:{7 + place:011d}")
        size = sizes[filler.pick(at, 5)]
        expected += b"%c%012d" % (65 + size, 1000 + place) + filler.bytes_at(at, size)
    assert found.ops[0].ok == 400
    assert seen == expected
    assert len(expected) == pytest.approx(400 * (13 + 5), rel=0.02)


@pytest.mark.parametrize("wrong", [{"form": "whim"}, {"form": "record", "batch": 2}])
def test_templates_are_chosen_by_something_that_there_is(wrong: dict[str, Any]) -> None:
    """A batch has as many records as keys: no one of them decides."""
    with served(always(FOUND)) as sockets, pytest.raises(ValueError, match="templates cannot be chosen by"):
        native.start(job(sockets, op(**wrong)))


def test_each_client_has_bytes_of_its_own() -> None:
    """Patches are written into the requests of their client alone."""
    seen: list[tuple[int, bytes]] = []

    def handler(connection: socket.socket, number: int) -> None:
        for request in requests(connection, len(GET)):
            seen.append((number, request[:3]))
            connection.sendall(FOUND)

    patches = tuple((Patch(0, 0, 1, b"%c" % (65 + client)),) for client in range(3))
    with served(handler, 3) as sockets:
        native.start(job(sockets, op(), limit=60, patches=patches)).join()
    assert set(seen) == {(client, b"*%c\r" % (65 + client)) for client in range(3)}


def test_counts_say_what_was_there() -> None:
    """Of a batch of four, two were not; a count that is neither is no answer, and the connection is sound all the same."""
    answers = iter([4, 2, 4, 9])

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in requests(connection, 4):
            connection.sendall(b":%d\r\n" % next(answers, 4))

    four = _of(b"????", *(Slot(item, 1, "key-be", item) for item in range(4)), batch=4, hit=(4,), miss=(0, 1, 2, 3), name="four")
    with served(handler) as sockets:
        found = native.start(job(sockets, four, known=200, limit=4)).join()
    counts = found.ops[0]
    assert (counts.ok, counts.misses, counts.errors, counts.malformed, counts.requests) == (10, 2, 0, 1, 3)
    assert found.broken == []
    assert found.samples[0].startswith("four: ")
    assert found.throughput * found.elapsed_seconds >= 6, "of the records after the first reply, which four were"
    assert found.request_rate * found.elapsed_seconds == pytest.approx(4)


def test_writes_that_were_refused_are_doubtful() -> None:
    """And a client that is refused a hundred times in a row gives up."""
    with served(always(b"-OOM command not allowed\r\n", len(SET)), 2) as sockets:
        found = native.start(job(sockets, op(SET, "new"), seconds=30.0)).join()
    assert (found.ops[0].errors, found.ops[0].ok) == (200, 0)
    assert sorted(found.indeterminate) == list(range(1000, 1200))
    assert found.broken == []
    assert "OOM command not allowed" in found.samples[0]
    assert len(found.samples) == 3
    assert sum(errors for _, errors, _ in found.seconds) == 200


WRONG: dict[str, tuple[bytes, int, int]] = {
    "garbage": (b"HTTP/1.1 400 Bad Request\r\n", 0, 1),
    "more replies than requests": (FOUND * 2, 1, 1),
    "a closed connection": (b"", 0, 0),
    "half a reply, and closed": (b"$10\r\nabc", 0, 0),
}


@pytest.mark.parametrize("what", sorted(WRONG))
def test_what_cannot_be_believed_ends_a_connection_and_no_other(what: str) -> None:
    """What was in flight on it is lost and indeterminate; the other client goes on."""
    reply, ok, malformed = WRONG[what]

    def handler(connection: socket.socket, number: int) -> None:
        for _ in requests(connection, len(SET)):
            connection.sendall(reply if number == 0 else b"+OK\r\n")
            if number == 0 and not malformed:
                return

    with served(handler, 2) as sockets:
        found = native.start(job(sockets, op(SET, "new", hit=(1,)), limit=300, seconds=5.0)).join()
    counts = found.ops[0]
    assert (counts.malformed, found.broken, found.silent) == (malformed, [0], [])
    lost = found.positions[0] - ok
    assert counts.errors == lost - (0 if ok else malformed)
    assert found.indeterminate == [1000 + 2 * place for place in range(ok, found.positions[0])]
    assert counts.ok == ok + found.positions[1]
    assert found.bytes_sent == 300 * len(SET) == sum(found.positions) * len(SET)


def test_a_reply_to_another_request_is_malformed() -> None:
    """The id in the reply is that of no request in flight."""
    request = b"\xce\x00\x00\x00\x0b\x82\x00\x01\x01\xce????\x00\x00"
    reply = b"\xce\x00\x00\x00\x0e\x83\x00\x00\x01\xce\x00\x00\x00\x07\x05\x50\x81\x30\x90"
    numbered = op(templates=(RequestTemplate(request, (Slot(10, 4, "id-be"),), 0, (10, 4, "be")),), keys="none", hit=(0,), miss=())
    with served(always(reply, len(request))) as sockets:
        found = native.start(job(sockets, numbered, protocol="iproto")).join()
    assert (found.ops[0].malformed, found.ops[0].ok, found.broken) == (1, 0, [0])
    assert "another request" in found.samples[0] or "the id of no request" in found.samples[0]


def test_what_comes_before_anything_was_asked_is_malformed() -> None:
    """Nothing is sent on such a connection."""

    def handler(connection: socket.socket, _number: int) -> None:
        connection.sendall(FOUND)
        while connection.recv(100):
            pass

    with served(handler) as sockets:
        time.sleep(0.1)
        found = native.start(job(sockets, op())).join()
    assert (found.ops[0].malformed, found.broken, found.bytes_sent) == (1, [0], 0)


def test_a_client_without_a_reply_is_silent() -> None:
    """It is waited for as long as the patience lasts, and no longer."""

    def handler(connection: socket.socket, number: int) -> None:
        for place, _ in enumerate(requests(connection, len(SET))):
            if number or place < 3:
                connection.sendall(b"+OK\r\n")

    with served(handler, 2) as sockets:
        begun = time.monotonic()
        found = native.start(job(sockets, op(SET, "new"), seconds=0.2, patience=0.3)).join()
        assert 0.45 < time.monotonic() - begun < 10
    assert (found.silent, found.broken, found.ops[0].errors) == ([0], [0], 1)
    assert found.indeterminate == [1000 + 2 * 3]
    assert found.busy_seconds > 0.4


@pytest.mark.serial
def test_as_many_requests_are_in_flight_as_may_be_also_where_replies_come_one_by_one() -> None:
    """By Little's law: who asks again only when all four replies are there has two and a half in flight."""

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in requests(connection, len(GET)):
            time.sleep(0.002)
            connection.sendall(FOUND)

    with served(handler, 3) as sockets:
        found = native.start(job(sockets, op(), pipeline=4, limit=600, seconds=20.0)).join()
    assert found.busy_seconds / found.elapsed_seconds == pytest.approx(3 * 4, rel=0.1)


def test_descriptors_and_their_flags_stay_as_they_are() -> None:
    """Flags are shared with the driver, which would wait no more; also where the process has a default timeout for new sockets."""
    socket.setdefaulttimeout(7.0)
    try:
        with served(always(FOUND), 2) as sockets:
            for each in sockets:
                each.settimeout(None)
            before = [fcntl.fcntl(each, fcntl.F_GETFL) for each in sockets]
            run = native.start(job(sockets, op(), seconds=0.3))
            time.sleep(0.1)
            assert [fcntl.fcntl(each, fcntl.F_GETFL) for each in sockets] == before
            assert not before[0] & os.O_NONBLOCK
            assert run.join().broken == []
            for each in sockets:  # nothing is left on them: their owner can go on
                each.sendall(GET.replace(b"#", b"0"))
                assert each.recv(100) == FOUND
    finally:
        socket.setdefaulttimeout(None)


@pytest.mark.serial
def test_seconds_add_up() -> None:
    """The series, the histograms and the sums agree with each other."""
    with served(always(FOUND), 3) as sockets:
        found = native.start(job(sockets, op(), seconds=2.2)).join()
    counts = found.ops[0]
    assert sum(ok for ok, _, _ in found.seconds) == counts.ok
    assert len(found.seconds) == 3
    service = decode(counts.service)
    assert service.get_total_count() == counts.requests
    assert max(longest for _, _, longest in found.seconds) == pytest.approx(service.get_max_value() / 1000, rel=0.01)
    assert counts.busy_ns == pytest.approx(found.busy_seconds * 1e9)
    assert found.busy_seconds + found.pause_seconds == pytest.approx(3 * found.elapsed_seconds, rel=0.05)
    assert 0 < found.cpu_seconds < found.elapsed_seconds + 0.1


def test_the_descriptors_are_free_where_a_job_cannot_be() -> None:
    """A job that is refused has closed nothing."""
    with served(always(FOUND)) as sockets:
        with pytest.raises(ValueError, match="does not fit"):
            native.start(job(sockets, _of(GET, Slot(len(GET) - 2, 12, "key"))))
        assert native.start(job(sockets, op(), limit=3)).join().ops[0].ok == 3
