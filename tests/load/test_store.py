"""The engine on a real store, the embedded default: a rate, an audit, and a store that hangs or dies in mid-round."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from storeproof.contract import Layout
from storeproof.launch.handle import Handle
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.engine import Plan, StoreSilent
from storeproof.load.quality.audit import audit
from storeproof.spec import Mix
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED


@pytest.fixture(scope="module")
def sut() -> StoreUnderTest:
    """SQLite without syncs."""
    spec = SHIPPED
    (target,) = spec.targets(["sqlite"])
    return StoreUnderTest(spec, target, Options(spec.scales["smoke"], seed=1, launch="process"), lambda text: None)


@pytest.fixture
def handle(sut: StoreUnderTest) -> Iterator[Handle]:
    """A store of its own for each test: some do not survive."""
    launched = sut.launch("a test")
    yield launched
    launched.close()


@pytest.fixture
def engine(sut: StoreUnderTest, handle: Handle) -> Iterator[DriverEngine]:
    """The engine on it."""
    made = DriverEngine(sut.target, handle.address)
    yield made
    made.close()


@pytest.fixture
def layout(sut: StoreUnderTest, handle: Handle) -> Layout:
    """A prepared collection."""
    layout = sut.layout("hash10", 1)
    session = sut.connect(handle)
    session.collection(layout).prepare()
    session.close()
    return layout


def test_rounds_and_audit(sut: StoreUnderTest, handle: Handle, engine: DriverEngine, layout: Layout) -> None:
    """Loaded, read, written by two processes, and found whole."""
    engine.fill(layout, 300)
    plan = Plan(layout, (Mix(operation="get", keys="uniform"), Mix(operation="put", keys="new")), clients=4, seconds=0.4, seed=1, known=300)
    first = engine.start(plan).join()
    second = engine.start(replace(plan, number=1, positions=first.positions)).join()
    assert len(engine.pids()) >= 2
    assert first.operations["get"].ok > 0 < second.operations["put"].ok
    assert first.errors == second.errors == 0
    session = sut.connect(handle)
    found = audit(session.collection(layout), plan, [first, second], seed=1)
    session.close()
    assert found.ok, found.problems


@pytest.mark.parametrize("end", ["pause", "kill"])
def test_a_store_that_ends_in_mid_round(handle: Handle, engine: DriverEngine, layout: Layout, end: str) -> None:
    """Stopped or killed: within seconds, a round without replies is an error, and the round before has its errors counted."""
    plan = Plan(layout, (Mix(operation="put", keys="new"),), clients=4, seconds=1.0, seed=1, known=0, patience=2.0)
    threading.Timer(0.4, getattr(handle, end)).start()
    begun = time.monotonic()
    with pytest.raises(StoreSilent, match=r"stopped answering|none of|did not answer"):
        for number in range(2):
            struck = engine.start(replace(plan, number=number)).join()
            assert struck.errors > 0
    assert time.monotonic() - begun < 15
    if end == "pause":
        handle.resume()
