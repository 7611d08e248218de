"""Jobs of the wire engine against a server in a thread: what it draws and counts, how it ends, and which jobs it refuses."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from storeproof import native_support
from storeproof.load.wire.request import Patch, RequestTemplate, Slot
from storeproof.records import filler
from storeproof.stats.latency import decode
from tests.load.wire.pump_server import GET, SET, always, job, op, requests, served, template

FOUND = b"$1\r\nx\r\n"
pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
if native_support.present():
    from storeproof import native


@pytest.mark.parametrize(("numbers", "clients"), [((), 2), ((4, 1), 5)])
def test_requests_are_the_template_with_key_write_id_and_filler_written_into_it(numbers: tuple[int, ...], clients: int) -> None:
    """Byte for byte what the driver engine's recipe makes of the same key and write id, for each client and request; also where a job has
    two clients of five."""
    seen: list[tuple[int, bytes]] = []

    def handler(connection: socket.socket, number: int) -> None:
        for request in requests(connection, len(SET)):
            seen.append((number, request))
            connection.sendall(b"+OK\r\n")

    with served(handler, 2) as sockets:
        all_of_them: dict[str, Any] = {"positions": (0,) * clients, "removed": (0,) * clients} if numbers else {}
        found = native.start(job(sockets, op(SET, "new"), limit=20, sequence=7, clients=numbers, **all_of_them)).join()
    assert found.ops[0].ok == found.ops[0].requests == 20
    assert found.bytes_sent == 20 * len(SET)
    assert found.bytes_received == 20 * len(b"+OK\r\n")
    counts = [0, 0]
    for place, request in seen:
        position, client = counts[place], numbers[place] if numbers else place
        counts[place] += 1
        key, write_id = f"key:{1000 + clients * position + client:012d}", f"{client + 1:04d}:{7 + position:011d}"
        value = f"{write_id}|".encode() + filler.bytes_at(filler.place_of(key, write_id), 23)
        assert request == b"*3\r\n$3\r\nSET\r\n$16\r\n" + key.encode() + b"\r\n$40\r\n" + value + b"\r\n"
    assert found.positions == [count for _number, count in sorted(zip(numbers or (0, 1), counts, strict=True))]


def test_ids_count_on_each_connection_and_are_looked_for_in_the_reply() -> None:
    """A Tarantool answers the requests of one connection in any order: each reply is given to the request that it names."""
    request = b"\xce\x00\x00\x00\x0b\x82\x00\x01\x01\xce\xff\xff\xff\xff\x00\x00"

    def handler(connection: socket.socket, _number: int) -> None:
        waiting: list[int] = []
        for each in requests(connection, len(request)):
            waiting.append(int.from_bytes(each[10:14], "big"))
            if len(waiting) == 4:
                for sync in reversed(waiting):
                    body = b"\x83\x00\x00\x01\xce" + sync.to_bytes(4, "big") + b"\x05\x50\x81\x30\x91\x00"
                    connection.sendall(b"\xce" + len(body).to_bytes(4, "big") + body)
                waiting.clear()

    made = op(templates=(RequestTemplate(request, (Slot(10, 4, "id-be"),), 0, (10, 4, "be")),), keys="none")
    with served(handler) as sockets:
        found = native.start(job(sockets, made, protocol="iproto", pipeline=4, limit=400, seconds=5.0)).join()
    assert (found.ops[0].ok, found.samples, found.broken) == (400, [], [])


def test_a_mix_is_drawn_by_weight_and_counted_by_operation() -> None:
    """Hits, misses and errors are counted with the operation that they are of."""

    def handler(connection: socket.socket, _number: int) -> None:
        for request in requests(connection, len(GET)):
            connection.sendall(b"$-1\r\n" if b"GEX" in request else b"-ERR no\r\n" if b"GEY" in request else b"$1\r\nx\r\n")

    mix = [op(GET.replace(b"GET", name), name=name.decode(), weight=weight) for name, weight in ((b"GET", 7), (b"GEX", 2), (b"GEY", 1))]
    with served(handler, 4) as sockets:
        found = native.start(job(sockets, *mix, limit=4000, seconds=10.0)).join()
    well, missed, refused = found.ops
    assert well.ok + missed.misses + refused.errors == 4000
    assert (well.misses, missed.ok, missed.requests, refused.ok) == (0, 0, 0, 0)
    assert 2600 < well.ok < 3000
    assert 650 < missed.misses < 950
    assert found.samples[0] == r"GEY: refused: -ERR no\r\n"
    assert decode(well.service).get_total_count() == well.requests == well.ok
    assert found.throughput == pytest.approx(well.ok / found.elapsed_seconds, rel=0.2)
    assert found.request_rate == pytest.approx(4000 / found.elapsed_seconds, rel=0.2)


def test_what_removes_takes_the_oldest_new_key_that_is_sure_to_be_there() -> None:
    """In order, each once, and none whose write was not acknowledged."""
    written: list[int] = []
    removed: list[int] = []

    def handler(connection: socket.socket, _number: int) -> None:
        for request in requests(connection, len(SET)):
            (written if request.startswith(b"*3\r\n$3\r\nSET") else removed).append(int(request[24:36]))
            connection.sendall(b"+OK\r\n")

    mix = op(SET, "new", weight=2), op(SET.replace(b"SET", b"DEL"), "oldest", writes=True)
    with served(handler) as sockets:
        found = native.start(job(sockets, *mix, limit=300, positions=(4,), removed=(1,), indeterminate=frozenset({1002}))).join()
    assert removed[:2] == [1001, 1003]
    assert set(removed) <= {1001, 1003, *written}
    assert removed == sorted(set(removed))
    assert (found.positions, found.removed) == ([4 + len(written)], [2 + len(removed)])


def test_a_reply_may_have_several_frames_and_a_request_several_records() -> None:
    """The count is that of the last frame, and each record counts."""
    request = b"MGET key:############ key:@@@@@@@@@@@@\r\n"
    two = RequestTemplate(request, (*template(request).slots, Slot(26, 12, "key", 1)))
    with served(always(b"+QUEUED\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n", len(request))) as sockets:
        found = native.start(job(sockets, op(templates=(two,), batch=2, frames=2, hit=(2,)), limit=50)).join()
    assert (found.ops[0].ok, found.ops[0].requests, found.samples) == (100, 50, [])


def test_pipelined_requests_are_in_flight_together() -> None:
    """The server answers only once eight have come."""

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET)), 1):
            if place % 8 == 0:
                connection.sendall(b"$1\r\nx\r\n" * 8)

    with served(handler, 3) as sockets:
        found = native.start(job(sockets, op(), pipeline=8, limit=2400, seconds=10.0)).join()
    assert (found.ops[0].ok, found.silent) == (2400, [])


def test_an_open_loop_keeps_its_times_and_measures_from_them() -> None:
    """Even gaps: the lag is what the pump was late, and all that was due was sent."""
    with served(always(b"$1\r\nx\r\n"), 8) as sockets:
        found = native.start(job(sockets, op(), rate=1000.0, poisson=False, seconds=1.0)).join()
    assert found.ops[0].ok + found.missed_sends == 1000
    assert found.ops[0].ok >= 750, "also on a busy machine"
    assert decode(found.schedule_lag).get_total_count() == found.ops[0].ok
    assert decode(found.ops[0].response).get_total_count() == found.ops[0].ok
    assert found.request_rate == pytest.approx(found.ops[0].ok, rel=0.05)


def test_stop_ends_a_job_before_its_deadline_and_the_connections_stay_sound() -> None:
    """The next job runs on them without an error."""
    with served(always(b"$1\r\nx\r\n"), 4) as sockets:
        run = native.start(job(sockets, op(), seconds=60.0))
        time.sleep(0.1)
        assert not run.done
        run.stop()
        found = run.join()
        assert run.done
        again = native.start(job(sockets, op(), limit=100)).join()
    assert found.ops[0].ok > 0
    assert (found.broken, found.silent, again.ops[0].ok, again.broken) == ([], [], 100, [])


@pytest.mark.parametrize("pipeline", [1, 4])
def test_a_rate_begins_with_the_replies_to_the_first_requests(pipeline: int) -> None:
    """All clients ask for the first time at once, and so these wait for other clients than later ones do: here for a third of a second."""
    answered: list[float] = []

    def handler(connection: socket.socket, _number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET))):
            time.sleep(0.01 if place else 0.3)
            answered.append(time.monotonic())
            connection.sendall(b"$1\r\nx\r\n")

    with served(handler) as sockets:
        found = native.start(job(sockets, op(), pipeline=pipeline, limit=30, seconds=60.0)).join()
    expected = (30 - pipeline) / (answered[-1] - answered[pipeline - 1])
    assert found.throughput == pytest.approx(expected, rel=0.1)
    assert found.throughput > 1.2 * found.request_rate


def test_a_client_with_one_reply_has_the_time_of_the_longest() -> None:
    """It began with the others: that it was served first is no rate."""

    def handler(connection: socket.socket, number: int) -> None:
        for place, _ in enumerate(requests(connection, len(GET))):
            if number and place:
                return  # the second client's second request is lost
            time.sleep(0.01)
            connection.sendall(b"$1\r\nx\r\n")

    with served(handler, 2) as sockets:
        found = native.start(job(sockets, op(), limit=42, seconds=20.0)).join()
    assert found.broken == [1]
    rest = (found.ops[0].ok - 1 - 1) / found.elapsed_seconds
    assert found.throughput == pytest.approx(rest + 1 / found.elapsed_seconds, rel=0.2)


def test_several_threads_share_the_connections() -> None:
    """The limit holds for all of them together."""
    with served(always(b"$1\r\nx\r\n"), 5) as sockets:
        found = native.start(job(sockets, op(keys="sequential"), threads=3, limit=301, seconds=10.0)).join()
    assert (found.ops[0].ok, found.threads, len(found.positions)) == (301, 3, 5)


def test_an_interrupt_ends_the_job_at_once() -> None:
    """Afterwards the descriptors are free: nothing is sent on them any more."""
    with served(always(b"$1\r\nx\r\n")) as sockets:
        run = native.start(job(sockets, op(), seconds=60.0))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run.join()
        assert time.monotonic() - begun < 20, "a minute was asked for"
        assert run.done


def test_a_run_that_nobody_waits_for_ends_before_its_descriptors_are_given_away() -> None:
    """A run that is dropped sends nothing any more."""
    with served(always(b"$1\r\nx\r\n"), 2) as sockets:
        run = native.start(job(sockets, op(), seconds=60.0))
        time.sleep(0.1)
        begun = time.monotonic()
        del run
        assert time.monotonic() - begun < 20, "a minute was asked for"
        for each in sockets:
            each.settimeout(0.2)
            with pytest.raises(TimeoutError):
                while each.recv(1 << 16):
                    pass


def test_a_key_that_no_template_has_room_for_is_an_error_and_what_was_made_before_is_sent() -> None:
    """The third new key does not fit into a byte."""
    narrow = RequestTemplate(b"?*\r\n", (Slot(1, 1, "key-be"),))
    mix = op(templates=(narrow,), keys="new")
    with served(always(b"+OK\r\n", 4)) as sockets:
        found = native.start(job(sockets, mix, known=254, pipeline=4, seconds=5.0)).join()
    assert (found.ops[0].ok, found.ops[0].errors, found.silent, found.broken) == (2, 1, [], [])
    assert found.samples == ["op: no template has room for this key"]


MISFITS: list[tuple[tuple[Slot, ...], str]] = [
    ((Slot(len(GET) - 2, 12, "key"),), "a slot of 12 bytes at 34 does not fit"),
    ((Slot(0, 12, "key"), Slot(11, 2, "filler")), "a slot of 2 bytes at 11 does not fit"),
    ((Slot(4, 4, "key"), Slot(4, 4, "key")), "does not fit"),
    ((Slot(0, 12, "key", 1),), "does not fit"),
    ((Slot(0, 9, "key-le"),), "does not fit"),
    ((Slot(0, 0, "id-be"),), "does not fit"),
    ((Slot(0, 15, "write-id"),), "does not fit"),
    ((Slot(0, 16, "write-id-hex"),), "does not fit"),
    ((Slot(0, 3, "key-hex"),), "does not fit"),
    ((Slot(0, 0, "filler"),), "does not fit"),
    ((Slot(0, 0, "key"),), "does not fit"),
    ((Slot(0, 4, "date"),), "no such slot: date"),  # type: ignore[arg-type]  # there is none
]
"""Slots that are not as wide as what is written into them, or lie over each other, or beyond the request or the batch."""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"protocol": "gopher"}, "no such protocol: gopher"),
        ({"sockets": ()}, "from 1 to 9998 clients, found 0"),
        ({"positions": (1, 2)}, "new keys are counted for each client"),
        ({"clients": (1,)}, "each socket has the number of its client"),
        ({"clients": (0, 0)}, "each socket has the number of its client"),
        ({"removed": (1, 2)}, "new keys are counted for each client"),
        ({"patches": ((), ())}, "patches are for each client, or for none"),
        ({"patches": ((Patch(0, 0, len(GET), b"x"),),)}, "outside of its template"),
        ({"patches": ((Patch(0, 1, 0, b"x"),),)}, "outside of its template"),
        ({"seconds": float("nan")}, "seconds and patience"),
        ({"seconds": -1.0}, "seconds and patience"),
        ({"patience": 1e7}, "seconds and patience"),
        ({"pipeline": 0}, "from 1 to 1024 requests in flight, found 0"),
        ({"pipeline": 1025}, "in flight"),
        ({"rate": float("inf")}, "no rate"),
        ({"rate": -1.0}, "no rate"),
        ({"threads": 0}, "from 1 to 64 threads, found 0"),
        ({"filler": b"x"}, "the filler is its block twice"),
        ({"key_digits": 21}, "a key of at most"),
        ({"known": 0}, "op: its keys are drawn from loaded records, and none were loaded"),
        ({"theta": 1.0, "ops": (op(keys="zipfian"),)}, "zipfian cannot be drawn with a constant of 1"),
        ({"ops": (op(keys="often"),)}, "keys cannot be `often`"),
        ({"ops": (op(weight=0),)}, "no operation has any weight"),
        ({"ops": (op(batch=0),)}, "it has a batch"),
        ({"ops": (op(frames=0),)}, "it has a batch, a reply"),
        ({"ops": (op(templates=()),)}, "and a template"),
        ({"ops": (op(batch=2, templates=(template(GET, below=9),)),)}, "keys of a batch have one width"),
        ({"ops": (op(templates=(RequestTemplate(b"", ()),)),)}, "a request of no bytes"),
        ({"ops": (op(templates=(template(GET, id_reply=(197, 4, "be")),)),)}, "the id of a reply cannot be 4 bytes at 197, be"),
        ({"ops": (op(templates=(template(GET, id_reply=(0, 9, "be")),)),)}, "the id of a reply"),
        ({"ops": (op(templates=(template(GET, id_reply=(0, 4, "me")),)),)}, "the id of a reply"),
        *(({"ops": (op(templates=(RequestTemplate(GET, slots),)),)}, said) for slots, said in MISFITS),
    ],
)
def test_a_job_that_cannot_be_is_refused(more: dict[str, Any], said: str) -> None:
    """With what is wrong, and before anything is sent."""
    with served(always(b"")) as sockets, pytest.raises(ValueError, match=re.escape(said)):
        native.start(replace(job(sockets, op()), **more))


@pytest.mark.parametrize("more", [{"ops": (op(weight=-1),)}, {"seed": "often"}, {"sockets": None}])
def test_a_job_of_other_types_is_refused(more: dict[str, Any]) -> None:
    """The message names the field."""
    with served(always(b"")) as sockets, pytest.raises(TypeError, match=f"Job.{next(iter(more))}"):
        native.start(replace(job(sockets, op()), **more))


def test_what_is_due_follows_from_the_seed() -> None:
    """Requests of an open loop, sent or missed: as many in each run with one seed, and another number with another."""

    def due(seed: int) -> int:
        with served(always(FOUND)) as sockets:
            found = native.start(job(sockets, op(), rate=2000.0, seconds=0.3, seed=seed)).join()
        return found.ops[0].ok + found.missed_sends

    assert due(1) == due(1) != due(2)
