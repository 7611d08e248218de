"""What an operation costs the server: of the measured rounds alone, and with a reason where it is not known."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.errors import NotAvailable
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.machine.usage import Footprint, Usage
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.store_under_test import Options, StoreUnderTest

WARM_UP, ROUND = 0.05, 0.2


class Server:
    """In place of a store: what it has used, which the load changes."""

    def __init__(self, unknown: dict[str, str] | None = None) -> None:
        self.used = Usage(100.0, 5000, 70)
        """Until it is metered."""
        self.unknown = unknown or {}

    def meter(self) -> Any:
        return self

    def begin(self) -> None:
        self.used = Usage(0.0, *((None, None) if self.unknown else (0, 0)))

    def end(self) -> Usage:
        return self.used

    def footprint(self) -> Footprint:
        return Footprint(resident_bytes=8000, disk_bytes=4000)

    def spend(self, cpu: float, written: int | None, syncs: int | None) -> None:
        def more(before: int | None, by: int | None) -> int | None:
            return None if before is None or by is None else before + by

        self.used = Usage(self.used.cpu_seconds + cpu, more(self.used.written_bytes, written), more(self.used.syncs, syncs))


def metered(server: Any) -> CostMeter:
    return CostMeter(server)


def test_only_measured_rounds_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither warm-ups, nor what the store does between its rounds."""
    server = Server()

    def run(_self: WorkloadRunner, seconds: float, _rate: float = 0.0) -> Any:
        server.spend(*((0.002, 400, 4) if seconds == ROUND else (50.0, 10**6, 10**4)))
        return SimpleNamespace(ok=10, misses=0)

    monkeypatch.setattr(WorkloadRunner, "_run", run)
    nothing: Any = None
    config: Any = SimpleNamespace(rate=0, workload=SimpleNamespace(keeps_records=True))
    scale: Any = SimpleNamespace(round_warm_up_seconds=WARM_UP, round_seconds=ROUND)
    runner = WorkloadRunner(config, nothing, scale, 1, nothing, nothing, None, LoadedCollection(nothing, config, 1), cost=metered(server))
    for _ in range(3):
        runner.run_round()
        server.spend(7.0, 10**5, 10**3)
    runner.cost.end()
    found = runner.cost.cost(30, 100)
    assert found is not None
    assert found.cpu_us == pytest.approx(200)
    assert (found.written_bytes, found.syncs) == (40, 0.4)
    assert (found.resident_bytes, found.disk_bytes, found.records) == (8000, 4000, 100)
    assert (found.resident_per_record, found.disk_per_record) == (80, 40)
    assert found.unknown == {}


def test_what_is_not_known_has_a_reason() -> None:
    """And is None: a zero would say that nothing was written."""
    server = Server({"written_bytes": "it lies in memory", "syncs": "it lies in memory"})
    meter = metered(server)
    with meter.measured_round():
        server.spend(0.1, None, None)
    meter.end()
    found = meter.cost(10, 100)
    assert found is not None
    assert (found.written_bytes, found.syncs) == (None, None)
    assert found.unknown == server.unknown


@pytest.mark.parametrize(("alone", "records", "why"), [(False, 10, "other collections"), (True, 0, "held no records")])
def test_sizes_are_not_shared_out_where_that_is_wrong(alone: bool, records: int, why: str) -> None:
    """The sizes are those of the whole server: with other collections in it they are not those of these records."""
    meter = metered(Server())
    meter.alone = alone
    with meter.measured_round():
        pass
    meter.end()
    found = meter.cost(10, records)
    assert found is not None
    assert (found.records, found.resident_per_record, found.disk_per_record) == (None, None, None)
    assert found.resident_bytes == 8000
    assert {why in found.unknown[name] for name in ("records", "resident_per_record", "disk_per_record")} == {True}


def test_an_endpoint_costs_nothing_that_is_known() -> None:
    """The reason stands in place of the cost."""

    class Endpoint:
        def meter(self) -> Any:
            raise NotAvailable("its machine cannot be looked at", "start it")

    meter = metered(Endpoint())
    with meter.measured_round():
        pass
    meter.end()
    assert meter.cost(10, 10) is None
    assert meter.reason == "its machine cannot be looked at"


def test_a_server_that_lost_a_process_has_no_cost() -> None:
    """What that had used is in no counter any more."""
    server = Server()
    meter = metered(server)
    with meter.measured_round():
        server.spend(-1.0, 0, 0)
    meter.end()
    assert meter.cost(10, 10) is None
    assert "ended between two looks" in meter.reason


def test_a_round_that_failed_is_not_counted() -> None:
    """Its error passes through."""
    server = Server()
    meter = metered(server)
    with pytest.raises(ValueError, match="silent"), meter.measured_round():
        server.spend(9.0, 9, 9)
        raise ValueError("silent")
    with meter.measured_round():
        server.spend(0.001, 10, 1)
    meter.end()
    found = meter.cost(1, 10)
    assert found is not None
    assert found.cpu_us == pytest.approx(1000)


@pytest.mark.servers
@pytest.mark.parametrize(("variant", "syncs"), [("aof-always", 1), ("volatile", 0)])
def test_redis_writes_and_syncs_each_value_where_it_promises_to(variant: str, syncs: int) -> None:
    """One client that waits for each reply: a sync for each SET with the log always, and none without a log."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not here")
    spec = load_spec(SPEC_ROOT)
    (target,) = spec.targets([f"redis:{variant}"])
    sut = StoreUnderTest(spec, target, Options(spec.scales["smoke"], seed=1, launch="process"), lambda _: None)
    handle = sut.launch("its costs")
    try:
        session = sut.connect(handle)
        collection: Any = session.collection(sut.layout("single_key"))
        collection.prepare()
        collection.put("first", b"x")
        meter = CostMeter(handle)
        with meter.measured_round():
            for number in range(50):
                collection.put(f"key{number}", b"v" * 2000)
        meter.end()
        found = meter.cost(50, 51)
        assert found is not None
        assert 1 < found.cpu_us < 10_000
        assert (found.resident_bytes or 0) > 1 << 20
        if "syncs" in found.unknown:
            pytest.skip(found.unknown["syncs"])
        assert found.syncs == syncs
        assert found.written_bytes is not None or found.unknown["written_bytes"]
        if found.written_bytes is not None:
            assert (found.written_bytes >= 2000) == bool(syncs)
        session.close()
    finally:
        handle.close()
