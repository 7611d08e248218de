"""The client's ceiling: what is measured for it, and that a store which is as fast as nothing is not believed."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from time import sleep
from typing import Any, cast

import psutil
import pytest

from storeproof import native_support
from storeproof.errors import NotAvailable
from storeproof.load.engine import Engine, LoadFailed, Plan, RunResult
from storeproof.load.quality.ceiling import Ceilings, canned_reply, single_operation
from storeproof.load.quality.gates import judge_rounds
from storeproof.load.wire.null_server import CannedReply, NullServer
from storeproof.load.wire.request import Job, Patch, RequestTemplate, Slot
from storeproof.load.wire.wire_engine import result_of
from storeproof.spec import Mix
from tests.load.wire import pump_server
from tests.load.wire.pump_server import GET, SET, op, requests, served

FOUND = b"$5\r\nhello\r\n"
OK = struct.pack("<5Ix I B 3s d x", 38, 7, 0x77777777, 2013, 0, 17, 1, b"ok", 1.0)
"""What MongoDB answers to a write, to the request 0x77777777."""
_PAIRS = 12
"""Of a ceiling and a store."""
_ROUNDS = 3
"""On a store."""
built = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")


def job(*ops: Any, clients: int = 1, **more: Any) -> Job:
    """A job without connections: those that it gets are the null server's."""
    return replace(pump_server.job([], *ops, seconds=0.05), **{"sockets": (0,) * clients} | more)


class Recorded(Ceilings):
    """Measures nothing: each operation is as fast as it is told."""

    def __init__(self, **rates: float) -> None:
        super().__init__()
        self.rates = rates
        self.asked: list[tuple[Job, CannedReply]] = []

    def _measured(self, one: Job, answers: CannedReply) -> float:
        self.asked.append((one, answers))
        return self.rates[one.ops[0].name]


def test_a_mix_takes_the_mean_time_of_its_operations() -> None:
    """One of 10 ms and three of 2.5 ms: 4 in 17.5 ms. What has no weight is not asked."""
    mix = [op(name="slow"), op(SET, "new", name="quick", weight=3), op(name="never", weight=0)]
    ceilings = Recorded(slow=100, quick=400)
    assert ceilings.rate(job(*mix), [FOUND, b"+OK\r\n", b"?"]) == pytest.approx(4 / 0.0175)
    assert [(answers.request, answers.reply) for _, answers in ceilings.asked] == [(len(GET), FOUND), (len(SET), b"+OK\r\n")]


def test_the_time_of_an_operation_of_two_requests_is_that_of_both() -> None:
    """A read of 10 ms and the write of 2.5 ms that follows it, as often as another read."""
    mix = [op(name="slow", then=2), op(name="slow"), op(SET, name="quick", weight=0)]
    ceilings = Recorded(slow=100, quick=400)
    assert ceilings.rate(job(*mix), [FOUND, FOUND, b"+OK\r\n"]) == pytest.approx(2 / 0.0225)
    assert all(one.ops[0].then is None and one.ops[0].weight for one, _ in ceilings.asked)


def test_an_operation_is_asked_in_one_form() -> None:
    """Of like ones the one for the largest keys, of unlike ones that of middle length; with its connection's own bytes alone."""
    forms = tuple(RequestTemplate(b"x" * length, ()) for length in (9, 3, 5))
    patches = ((Patch(0, 2, 0, b"a"), Patch(1, 2, 1, b"b"), Patch(1, 1, 0, b"c")),)
    mix = job(op(), op(name="other", templates=forms), patches=patches, rate=5.0)
    one = single_operation(mix, 1, 0.1)
    assert one.ops[0].templates == (forms[2],)
    assert one.patches == ((Patch(0, 0, 1, b"b"),),)
    assert (one.rate, one.seconds) == (0, 0.1)
    sizes = (*forms, RequestTemplate(b"x" * 7, ()), RequestTemplate(b"x" * 11, ()))
    assert single_operation(job(op(templates=sizes, form="chance")), 0, 0.1).ops[0].templates == (sizes[3],)


def test_what_is_removed_need_not_be_there() -> None:
    """Alone, it would have no record to remove."""
    assert single_operation(job(op(keys="oldest")), 0, 0.1).ops[0].keys == "new"
    assert single_operation(job(op(keys="zipf")), 0, 0.1).ops[0].keys == "zipf"


@built
def test_where_ids_go() -> None:
    """Mongo's are of four bytes; Tarantool's of four are answered in eight, the last of which they are."""
    mongo = RequestTemplate(bytes(30), (Slot(4, 4, "id-le"),), id_reply=(8, 4, "le"))
    assert canned_reply("mongo", mongo, OK) == CannedReply(30, OK.replace(b"w" * 4, bytes(4)), 4, 4, (8,))
    assert canned_reply("mongo", mongo, OK * 2).places == (8, len(OK) + 8)
    sync = b"\x82\x00\xcf" + b"\x01" * 5 + b"\x02" * 3 + b"\x01\xcf" + b"\x77" * 8 + b"\x80"
    frame = b"\xce" + len(sync).to_bytes(4, "big") + sync
    tarantool = RequestTemplate(bytes(40), (Slot(9, 4, "id-be"),), id_reply=(frame.index(b"\x77"), 8, "be"))
    found = canned_reply("iproto", tarantool, frame)
    assert found.reply == frame.replace(b"\x77", b"\0")
    assert (found.id_at, found.id_width, found.places) == (9, 4, (frame.index(b"\x77") + 4,))
    with pytest.raises(NotAvailable, match="0 ids"):
        canned_reply("mongo", RequestTemplate(bytes(30), (), id_reply=(8, 4, "le")), OK)


def test_the_store_s_client_has_no_ceiling() -> None:
    """It is not measured, and a word says why: the gate is not there, and so not passed."""
    found = Ceilings().of(cast(Engine, object()), cast(Plan, object()))
    assert found.rate is None
    assert "the store's client makes the requests" in found.reason
    assert "client_ceiling" not in judge_rounds([_round(100)], ceiling=found.rate)


def test_without_the_compiled_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A null server in Python would be what is measured."""
    monkeypatch.setattr(native_support, "present", lambda: False)
    with pytest.raises(NotAvailable, match="the null server needs the compiled part"):
        Ceilings().rate(job(op()), [FOUND])


@pytest.fixture
def ceilings() -> Iterator[Ceilings]:
    with closing(Ceilings()) as here:
        yield here


class Slow:
    """In the null server's place: it takes a millisecond for each request."""

    @contextmanager
    def connections(self, answers: CannedReply, clients: int) -> Iterator[tuple[socket.socket, ...]]:
        def handler(connection: socket.socket, _number: int) -> None:
            for _ in requests(connection, answers.request):
                sleep(0.001)
                connection.sendall(answers.reply)

        with served(handler, clients) as sockets:
            yield tuple(sockets)


def _round(rate: float, **changed: Any) -> RunResult:
    found = RunResult({}, rate, rate, 1, 1 / rate, 0, 0.1, 1, 1, (0,), (), ())
    return replace(found, **changed)


def _against(server: NullServer | Slow, mix: Job) -> list[RunResult]:
    """Rounds on a store that is as fast as this server. The fastest counts: on a busy machine not all of them have their turn."""
    from storeproof import native

    plan = Plan(layout=cast(Any, None), mix=(Mix(operation="get", keys="uniform"),), clients=1, seconds=mix.seconds, seed=1, known=1)
    with server.connections(CannedReply(len(GET), FOUND), 1) as sockets:
        descriptors = tuple(each.fileno() for each in sockets)
        return [result_of(plan, native.start(replace(mix, sockets=descriptors)).join()) for _ in range(_ROUNDS)]


def _believed(found: list[RunResult], limit: float) -> bool:
    return judge_rounds(found, ceiling=limit)["client_ceiling"].ok


@built
def test_a_store_as_fast_as_nothing_is_not_believed() -> None:
    """It may be faster than the load generator can see; one that is slow against it is believed.

    Ceiling and store are measured a moment apart, and on a busy machine either may have had no processor: of a ceiling that was too high
    no pair would show the first, of one that was too low most pairs would not show the second.
    """
    mix, fast, slow = job(op()), [], []
    for _ in range(_PAIRS):
        with closing(Ceilings()) as here:
            limit = here.rate(mix, [FOUND])
            fast.append(_believed(_against(here.server, mix), limit))
            slow.append(_believed(_against(Slow(), mix), limit))
    assert not all(fast)
    assert sum(slow) > _PAIRS / 2


@built
def test_a_slow_null_server_makes_the_gate_fail(ceilings: Ceilings) -> None:
    """What cannot measure faster than that cannot say that a store is."""
    mix = job(op())
    store = _against(ceilings.server, mix)
    with closing(Ceilings()) as slow:
        slow._servers = [cast(NullServer, Slow())]
        limit = slow.rate(mix, [FOUND])
        slow._servers = []
    assert 100 < limit < 1000
    assert not _believed(store, limit)


@built
def test_pipelines_and_ids_have_one(ceilings: Ceilings) -> None:
    """With several clients, with several requests in flight, and with ids in every one of them."""
    request = (30).to_bytes(4, "little") + bytes(26)
    ask = RequestTemplate(request, (Slot(4, 4, "id-le"), Slot(16, 8, "key-le")), id_reply=(8, 4, "le"))
    found = ceilings.rate(job(op(templates=(ask,), hit=()), clients=3, protocol="mongo", pipeline=4), [OK])
    assert found > 1000


@built
def test_what_was_measured_is_not_measured_again(ceilings: Ceilings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless requests or replies are of another length, or there are more clients."""
    first = ceilings.rate(job(op()), [FOUND])
    asked: list[int] = []
    connect = ceilings.server.connections
    monkeypatch.setattr(ceilings.server, "connections", lambda answers, clients: asked.append(clients) or connect(answers, clients))
    assert ceilings.rate(job(op(), seed=9, sequence=99), [FOUND]) == first
    assert not asked
    ceilings.rate(job(op()), [b"$6\r\nlonger\r\n"])
    ceilings.rate(job(op(), clients=2), [FOUND])
    assert asked == [1, 2]


@built
@pytest.mark.parametrize(("threads", "clients", "shares"), [(1, 5, [5]), (2, 5, [3, 2]), (8, 2, [1, 1])])
def test_each_thread_has_a_null_server_to_itself(
    ceilings: Ceilings, monkeypatch: pytest.MonkeyPatch, threads: int, clients: int, shares: list[int]
) -> None:
    """One for all of them would be the limit; the ceiling of another number of threads is another one."""
    asked: list[tuple[int, int]] = []
    connect = NullServer.connections

    def noting(self: NullServer, answers: CannedReply, number: int) -> Any:
        asked.append((self.port, number))
        return connect(self, answers, number)

    monkeypatch.setattr(NullServer, "connections", noting)
    assert ceilings.rate(job(op(), clients=clients, threads=threads), [FOUND]) > 100
    assert [number for _, number in asked] == shares
    assert len({port for port, _ in asked}) == len(shares)
    ceilings.rate(job(op(), clients=clients, threads=threads), [FOUND])
    assert len(asked) == len(shares), "measured once"
    ceilings.rate(job(op(), clients=clients, threads=threads + 1), [FOUND])
    assert (len(asked) > len(shares)) == (threads < clients)


@built
def test_replies_that_are_not_understood_are_no_ceiling(ceilings: Ceilings) -> None:
    """The rate of errors is not one of answers."""
    with pytest.raises(LoadFailed, match="not understood"):
        ceilings.rate(job(op()), [b"-ERR no\r\n"])


@built
def test_nothing_is_left_open(ceilings: Ceilings) -> None:
    """No descriptor but those of the server's pipes."""
    process = psutil.Process()
    _ = ceilings.server
    before = process.num_fds()
    with pytest.raises(LoadFailed):
        ceilings.rate(job(op(), clients=8), [b"-ERR no\r\n"])
    assert process.num_fds() == before
