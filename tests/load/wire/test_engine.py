"""The wire engine on real stores: what it writes is found whole by the audit, through the store's ordinary client."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from storeproof import native_support
from storeproof.contract import Collection, Layout, call, supports
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.handle import Handle
from storeproof.load.choose_engine import Engines
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.engine import Plan, StoreSilent, operation_name
from storeproof.load.quality.audit import audit
from storeproof.load.wire.slots import NotTemplated
from storeproof.load.wire.wire_engine import WireEngine, protocol_of
from storeproof.records.self_verifying import recipe
from storeproof.run_command import RunCommand
from storeproof.spec import Mix
from storeproof.spec.variation import AS_IT_IS, Variation
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

SPEC = SHIPPED
pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
GET, PUT = Mix(operation="get", keys="uniform"), Mix(operation="put", keys="new")
PUT_AGAIN = Mix(operation="put", keys="uniform")
SOME_NEW = Mix(operation="put", keys="new", distinct=0.9)
TENS, GET_TENS = Mix(operation="put", keys="new", batch=10), Mix(operation="get", keys="uniform", batch=10)
INSERT_TENS = Mix(operation="put_if_absent", keys="new", batch=10)
CITY = Mix(operation="set_path", keys="uniform", path=("profile", "address", "city"))
FIELD = Mix(operation="set_field", keys="uniform", path=("field3",))
REMOVE = Mix(operation="delete", keys="oldest")
SCAN = Mix(operation="scan", keys="uniform", length=20)
SERVERS = ["redis", "valkey", "memcached", "tarantool", "mongodb", "mariadb", "postgresql"]
CASES: dict[str, list[tuple[Mix, ...]]] = {
    "single_key": [(GET, PUT, REMOVE), (SOME_NEW,), (TENS, GET_TENS), (INSERT_TENS,)],
    "hash10": [(PUT,), (GET, FIELD)],
    "document10": [(TENS,), (INSERT_TENS,)],
    "nested": [(PUT,), (GET, CITY)],
    "row": [(GET,)],
    "usertable": [(SCAN, PUT)],
}
"""Mixes by model."""
ANY = Mix(operation="put", keys="zipfian", reads_first=True)
VARIED: list[tuple[str, Variation, tuple[Mix, ...], int | None]] = [
    ("single_key", Variation(size=3), (PUT_AGAIN,), 1),
    ("single_key", Variation(size=3), (SOME_NEW,), 0),
    ("single_key", Variation(size=1000, key_order="hashed"), (GET, ANY), 200),
    ("single_key", Variation(size=1000, key_order="hashed"), (SCAN, PUT), 200),
    ("document10", Variation(fields=1), (TENS,), 0),
]
"""Model, variation of its records, mix and loaded records."""
DRIVEN = {("tarantool", "put_many+get_many"): "do not show by their counts", ("postgresql", "insert_many"): "takes 2 requests"}
"""What a store's client must do, and why: records that a procedure of Tarantool's answers are all in one entry of its reply; of a COPY the
rows are sent when PostgreSQL has answered the statement."""


class Store:
    """A store that was started, and what a test needs of it."""

    def __init__(self, name: str) -> None:
        (target,) = SPEC.targets([name])
        self.sut = StoreUnderTest(SPEC, target, Options(SPEC.scales["smoke"], seed=1, launch="process"), lambda _text: None)
        try:
            self.handle: Handle = self.sut.launch("a test")
        except NotAvailable as missing:
            pytest.skip(str(missing))
        self._sessions = [self.sut.connect(self.handle)]
        self.driver = DriverEngine(target, self.handle.address)
        self._engines: list[WireEngine] = []

    def prepared(self, model: str, record: Variation = AS_IT_IS) -> tuple[Layout, Collection]:
        """An empty collection."""
        layout = self.sut.layout(model, record=record)
        collection = self._sessions[0].collection(layout)
        collection.prepare()
        return layout, collection

    def engine(self) -> WireEngine:
        """A wire engine on it."""
        self._engines.append(WireEngine(self.sut.target, self.handle.address, self.driver))
        return self._engines[-1]

    def close(self) -> None:
        """End all."""
        for each in (*self._engines, self.driver, *self._sessions, self.handle):
            each.close()


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Store]:
    """The embedded default."""
    store = Store("sqlite")
    yield store
    store.close()


def plan_for(layout: Layout, mix: tuple[Mix, ...], clients: int = 4, seconds: float = 0.2) -> Plan:
    """A short round."""
    known = 200 if any(each.keys == "uniform" for each in mix) else 0
    return Plan(layout, mix, clients, seconds, seed=1, known=known, fixed_numbers=True)


def try_all(store: Store) -> None:
    """Every case: two rounds, the second in two threads, with no error and no miss, and data that is whole."""
    engine = store.engine()
    plain = [(model, AS_IT_IS, mix, None) for model, mixes in CASES.items() for mix in mixes]
    for model, record, mix, known in [*plain, *VARIED]:
        if model not in store.sut.target.store.claims.models:
            continue
        layout, collection = store.prepared(model, record)
        plan = plan_for(layout, mix)
        plan = plan if known is None else replace(plan, known=known)
        what = f"{store.sut.target.id} {model} {record.name} {[each.operation for each in mix]}"
        if not all(supports(collection, operation_name(each)) for each in mix):
            continue
        if why := DRIVEN.get((store.sut.target.store.name, "+".join(operation_name(each) for each in mix))):
            with pytest.raises(NotTemplated, match=why):
                engine.prepare(plan)
            continue
        engine.prepare(plan)
        if supports(collection, "count"):
            assert call(collection, layout, "count") == 0, f"{what}: probes are left"
        if plan.known:
            engine.fill(layout, plan.known, None, fixed_numbers=True)
        first = engine.start(plan).join()
        second = engine.start(replace(plan, number=1, clients=4, positions=first.positions, removed=first.removed, threads=2)).join()
        for found in (first, second):
            assert (found.errors, found.misses) == (0, 0), f"{what}: {found.samples}"
            assert all(each.ok for each in found.operations.values()), what
            assert all(each.latency.get_total_count() for each in found.operations.values()), what
        assert found.clients == 4
        audited = audit(collection, plan, [first, second], seed=1)
        assert audited.ok, f"{what}: {audited.problems}"
        if known == 1 and supports(collection, "count"):
            assert call(collection, layout, "count") == 1, f"{what}: it writes under other keys than the one that was loaded"
        collection.clear()


def test_rounds_and_audit(sqlite: Store) -> None:
    """On the embedded default."""
    try_all(sqlite)


@pytest.mark.servers
@pytest.mark.parametrize("server", SERVERS)
def test_rounds_and_audit_on_servers(server: str) -> None:
    """On each server that is here."""
    store = Store(server)
    try:
        try_all(store)
    finally:
        store.close()


def test_the_audit_would_see_what_is_not_whole(sqlite: Store) -> None:
    """Numbers stand still, and a wrong one is seen all the same."""
    layout, collection = sqlite.prepared("nested")
    plan = plan_for(layout, (PUT,))
    found = sqlite.engine().start(plan).join()
    made = recipe(layout.model, fixed_numbers=True)
    for number in range(4 * min(found.positions)):
        key = made.key(number)
        record = call(collection, layout, "get", key)
        record["orders"][0]["number"] += 1
        call(collection, layout, "put", key, record)
    assert "torn" in "".join(audit(collection, plan, [found], seed=1).problems)


def test_a_round_does_not_begin_before_its_time(sqlite: Store) -> None:
    """Rounds of several engines can have the same."""
    layout, _ = sqlite.prepared("single_key")
    engine, plan = sqlite.engine(), plan_for(layout, (PUT,), seconds=0.1)
    first = engine.start(plan).join()  # it has its connections
    begins = time.monotonic_ns() + 500_000_000
    run = engine.start(replace(plan, start_ns=begins, number=1, positions=first.positions))
    assert run.join().ok > 0
    assert run.begins_ns >= begins
    assert time.monotonic_ns() >= begins + 100_000_000


def test_connections_last_and_are_added_to(sqlite: Store) -> None:
    """Rounds use the same connections again; more clients open more; closing ends all."""
    engine = sqlite.engine()
    layout, _ = sqlite.prepared("single_key")
    others = _connected(sqlite)
    plan = plan_for(layout, (PUT,), seconds=0.1)
    engine.start(plan).join()
    mine = _connected(sqlite) - others
    assert len(mine) == 4
    engine.start(replace(plan, number=1)).join()
    assert _connected(sqlite) - others == mine
    engine.start(replace(plan, number=2, clients=7, positions=())).join()
    assert mine < _connected(sqlite) - others
    assert len(_connected(sqlite) - others) == 7
    engine.close()
    engine.close()
    assert _connected(sqlite) == others


def test_no_thread_and_no_descriptor_is_left(sqlite: Store) -> None:
    """After each round there are the connections and nothing else; after closing nothing."""
    engine = sqlite.engine()
    here = psutil.Process()
    threads, descriptors = set(threading.enumerate()), here.num_fds()
    for _ in range(2):
        layout, _ = sqlite.prepared("single_key")
        engine.start(plan_for(layout, (PUT,), seconds=0.1)).join()
        assert set(threading.enumerate()) <= threads
        assert here.num_fds() == descriptors + 4, "a connection each, and nothing else"
    engine.close()
    assert here.num_fds() == descriptors


def test_what_cannot_be_templated_goes_to_the_driver(sqlite: Store) -> None:
    """With the reason, and only where any engine will do."""
    layout, _ = sqlite.prepared("row")
    plan = plan_for(layout, (PUT,))
    engines = Engines(sqlite.sut.target, sqlite.handle.address, "auto")
    try:
        engine, reason = engines.choose(plan)
        assert (engine.name, engine.fixed_numbers) == ("driver", False)
        assert reason == "put: the numbers of row differ in width when they are written"
        engine, reason = engines.choose(plan_for(sqlite.prepared("single_key")[0], (PUT,)))
        assert (engine.name, engine.fixed_numbers, reason) == ("wire", True, "")
    finally:
        engines.close()
    strict = Engines(sqlite.sut.target, sqlite.handle.address, "wire")
    with pytest.raises(NotAvailable, match="--engine=auto"):
        strict.choose(plan)
    strict.close()
    only = Engines(sqlite.sut.target, sqlite.handle.address, "driver")
    assert only.choose(plan_for(layout, (GET,)))[0].name == "driver"
    only.close()


def test_a_store_without_a_protocol_or_with_an_encrypted_one(sqlite: Store) -> None:
    """Neither can be templated; an unknown protocol is an error of the store's file."""
    target = sqlite.sut.target
    layout, _ = sqlite.prepared("single_key")
    nameless = replace(target, store=target.store.model_copy(update={"wire": None}))
    with pytest.raises(NotTemplated, match="names no wire protocol"):
        WireEngine(nameless, sqlite.handle.address, sqlite.driver).start(plan_for(layout, (PUT,)))
    misnamed = replace(target, store=target.store.model_copy(update={"wire": "rasp"}))
    with pytest.raises(UsageError, match="wire: found 'rasp'; allowed: resp, "):
        protocol_of(misnamed)
    with pytest.raises(NotTemplated, match="encrypted"):
        WireEngine(target, replace(sqlite.handle.address, tls=True), sqlite.driver).start(plan_for(layout, (PUT,)))


def test_the_line_that_runs_a_case_again_names_the_engine_and_the_records(sqlite: Store) -> None:
    """And the number of records; each only where it is not the default."""
    options = Options(SPEC.scales["smoke"], seed=1, given=RunCommand(engine="wire", records="105"))
    line = StoreUnderTest(SPEC, sqlite.sut.target, options, lambda _text: None).command("a case")
    assert " --engine=wire --records=105 " in line
    assert "--engine" not in sqlite.sut.command("a case")
    assert "--records" not in sqlite.sut.command("a case")


@pytest.mark.parametrize("end", ["pause", "kill"])
def test_a_store_that_ends_in_mid_round(end: str) -> None:
    """As the driver engine tells it: what was lost is counted, a silent store is an error, and the next round starts again or fails."""
    store = Store("sqlite")
    try:
        engine = store.engine()
        layout, _ = store.prepared("single_key")
        plan = replace(plan_for(layout, (PUT,), seconds=3.0), patience=2.0)  # on a busy machine the end comes late
        engine.prepare(plan)
        threading.Timer(0.4, getattr(store.handle, end)).start()
        began = time.monotonic()
        if end == "pause":
            with pytest.raises(StoreSilent, match="stopped answering"):
                engine.start(plan).join()
        else:
            found = engine.start(plan).join()
            assert found.errors > 0
            assert found.indeterminate
            with pytest.raises(StoreSilent):
                engine.start(replace(plan, number=1, positions=found.positions)).join()
        assert time.monotonic() - began < 15
    finally:
        if end == "pause":
            store.handle.kill()
        store.close()


def test_a_connection_that_was_lost_is_opened_again(sqlite: Store) -> None:
    """The next round has all of its clients, and the data passes the audit."""
    engine = sqlite.engine()
    layout, collection = sqlite.prepared("single_key")
    plan = plan_for(layout, (PUT,), seconds=0.2)
    first = engine.start(plan).join()
    engine.forget([1, 2])
    second = engine.start(replace(plan, number=1, positions=first.positions)).join()
    assert second.errors == 0
    assert audit(collection, plan, [first, second], seed=1).ok


def _connected(store: Store) -> set[int]:
    """Local ports of this process' connections to the store."""
    port = store.handle.address.port
    return {each.laddr.port for each in psutil.Process().net_connections("tcp") if each.raddr and each.raddr.port == port}


def test_the_adapters_know_nothing_of_it() -> None:
    """No adapter takes part: a line in the store's file is all."""
    adapters = Path(__file__).resolve().parents[3] / "adapters"
    assert not [each.name for each in adapters.glob("*.py") if "load.wire" in each.read_text(encoding="utf-8")]
