"""The driver engine: load from several processes, and a clear end to whatever goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from storeproof.contract import Layout, Refused
from storeproof.errors import Halted
from storeproof.load.driver import driver_engine
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.engine import LoadFailed, Plan, StoreSilent
from storeproof.spec import Mix
from tests.load.stores import engine_for
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
PUT = (Mix(operation="put", keys="new"),)

Make = Callable[..., DriverEngine]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes engines that are closed after the test."""
    made: list[DriverEngine] = []

    def engine(**statements: str) -> DriverEngine:
        made.append(engine_for(tmp_path, **statements))
        return made[-1]

    yield engine
    for each in made:
        each.close()


def _plan(clients: int, seconds: float = 0.2, **more: Any) -> Plan:
    return Plan(Layout("t", MODELS["single_key"]), PUT, clients=clients, seconds=seconds, seed=1, known=0, **more)


def test_one_interpreter_is_not_the_limit(make: Make) -> None:
    """Each put holds the interpreter's lock for 2 ms: one process could make 500 a second, and the engine makes more.

    The lock is held asleep, so that the test needs no idle processor.
    """
    engine = make(put="ctypes.PyDLL(None).usleep(2000)")
    result = engine.start(_plan(8, 0.6)).join()
    assert len(engine.pids()) >= 2
    assert result.throughput > 650
    assert result.errors == 0


def test_results_of_all_clients_are_put_together(make: Make) -> None:
    """Every client worked, and every record has its latency."""
    result = make(put="time.sleep(0.001)").start(_plan(6)).join()
    assert result.clients == len(result.positions) == 6
    assert all(result.positions)
    assert result.ok == sum(result.positions) == result.operations["put"].requests
    assert result.throughput == pytest.approx(result.ok / 0.2, rel=0.3)
    assert result.request_rate * (result.busy_seconds + result.pause_seconds) == pytest.approx(6, rel=0.05)
    assert 0 < result.cpu_seconds < 1


def test_the_rate_of_a_share_is_that_of_its_clients(make: Make) -> None:
    """Of a plan whose other clients are on other hosts, or in other rounds on the same records."""
    result = make().start(_plan(32, 1.0, rate=300.0, share=(0, 1, 2, 3))).join()
    assert result.clients == len(result.positions) == 4
    assert result.ok + result.missed_sends == pytest.approx(300, rel=0.25)


def test_an_open_loop_keeps_its_rate_and_tells_how_late_it_was(make: Make) -> None:
    """Over all processes; what was not sent before the deadline is told, and counts as nothing."""
    result = make().start(_plan(8, 1.0, rate=300.0)).join()
    assert result.ok + result.missed_sends == pytest.approx(300, rel=0.25)  # 300 arrivals scatter by 17
    assert result.throughput > 150, "also on a busy machine"
    assert result.schedule_lag is not None
    (operation,) = result.operations.values()
    assert operation.response is not None
    assert result.schedule_lag.get_total_count() == operation.response.get_total_count() == operation.ok
    slow = make(put="time.sleep(0.1)").start(_plan(2, 0.5, rate=400.0)).join()  # two clients make 20 a second
    assert slow.missed_sends > 100
    assert slow.ok < 30


def test_connections_last_from_round_to_round_and_grow(make: Make, tmp_path: Path) -> None:
    """Two clients, then five, then two again: five connections in all."""
    engine = make(connect=f"open({str(tmp_path / 'connects')!r}, 'a').write('x')")
    positions: tuple[int, ...] = ()
    for number, clients in enumerate((2, 5, 2)):
        positions = engine.start(_plan(clients, 0.05, number=number)).join().positions
        assert len(positions) == clients
    assert (tmp_path / "connects").read_text() == "x" * 5


def test_a_round_goes_on_with_the_keys_of_the_round_before(make: Make) -> None:
    """New keys stay new."""
    engine = make(put="assert key not in records; time.sleep(0.001)")
    first = engine.start(_plan(3)).join()
    second = engine.start(_plan(3, number=1, positions=first.positions)).join()
    assert second.errors == 0
    assert all(after > before for before, after in zip(first.positions, second.positions, strict=True))


def test_loading(make: Make, tmp_path: Path) -> None:
    """Exactly the records that were asked for, each once."""
    engine = make(put=f"os.write(os.open({str(tmp_path / 'keys')!r}, os.O_CREAT | os.O_APPEND | os.O_WRONLY), f'{{key}}\\n'.encode())")
    engine.fill(Layout("t", MODELS["single_key"]), 107)
    assert sorted((tmp_path / "keys").read_text().split()) == [f"key:{number:012d}" for number in range(107)]


def test_loading_has_an_end(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a record is loaded every now and then, for ever."""
    monkeypatch.setattr(driver_engine, "_LOADED_SECONDS", 1.5)
    engine = make(put="time.sleep(0.2)")
    with pytest.raises(Halted, match="it was not over that records of single_key were loaded"):
        engine.fill(Layout("t", MODELS["single_key"]), 1_000_000)
    assert not engine.pids()


def test_stop_ends_a_round_early(make: Make) -> None:
    """A minute's round is over at once, with what was done until then."""
    run = make(put="time.sleep(0.001)").start(_plan(3, 60))
    time.sleep(0.3)
    begun = time.monotonic()
    run.stop()
    result = run.join()
    assert time.monotonic() - begun < 20
    assert result.ok > 0


def test_a_round_does_not_begin_before_its_time(make: Make) -> None:
    """Rounds of several engines can have the same."""
    engine = make()
    engine.start(_plan(2, 0.05)).join()  # it has its connections
    begins = time.monotonic_ns() + 500_000_000
    run = engine.start(_plan(2, 0.1, start_ns=begins, number=1))
    assert run.join().ok > 0
    assert run.begins_ns >= begins
    assert time.monotonic_ns() >= begins + 100_000_000


def test_refusals_are_counted_beside_what_succeeded(make: Make) -> None:
    """With the store's words, and each of these writes may have happened."""
    result = make(put="time.sleep(0.005)\n        if key.endswith('0'): raise Refused('zero')").start(_plan(2, 1.5)).join()
    assert result.errors > 0
    assert result.ok == result.operations["put"].requests
    assert "zero" in result.samples[0]
    assert len(result.indeterminate) == result.errors


def test_a_store_that_hangs_is_an_error_within_its_patience(make: Make) -> None:
    """A put that never returns: the round ends with words, and no process is left waiting."""
    engine = make(put="time.sleep(3600)")
    begun = time.monotonic()
    with pytest.raises(StoreSilent, match=r"stopped answering: after 0\.2 s of load with 3 clients"):
        engine.start(_plan(3, patience=1.0)).join()
    assert time.monotonic() - begun < 10
    assert engine.pids() == []


def test_a_store_that_refuses_all_is_an_error(make: Make) -> None:
    """No rate is made of refusals."""
    with pytest.raises(StoreSilent, match="none of 200 requests succeeded; the first: put: Refused: disk full"):
        make(put="raise Refused('disk full')").start(_plan(2)).join()


def test_a_refused_connection_is_the_stores_word(make: Make) -> None:
    """Too many clients, a wrong password: as the adapter said it."""
    with pytest.raises(Refused, match="too many clients"):
        make(connect="raise Refused('too many clients')").start(_plan(2))


def test_a_lost_connection_is_made_again(make: Make) -> None:
    """After an unknown outcome the session is closed; the next round has a new one."""
    engine = make(
        put="""if not hasattr(self, 'used'):
            self.used = True
            raise Unknown('reset')"""
    )
    first = engine.start(_plan(2)).join()
    assert first.errors == 2
    assert engine.start(_plan(2, number=1, positions=first.positions)).join().ok > 0


def test_a_worker_that_dies_is_our_error(make: Make) -> None:
    """With its exit status, at once, and the engine works again afterwards."""
    engine = make(put="time.sleep(0.001)")
    engine.start(_plan(2, 0.05)).join()
    run = engine.start(_plan(2, 30))
    threading.Timer(0.3, os.kill, (engine.pids()[0], signal.SIGKILL)).start()
    begun = time.monotonic()
    with pytest.raises(LoadFailed, match=r"ended unexpectedly \(exit status -9\)"):
        run.join()
    assert time.monotonic() - begun < 10
    assert engine.pids() == []
    assert engine.start(_plan(2, 0.05)).join().ok > 0


def test_an_adapter_that_cannot_be_loaded_is_told(make: Make) -> None:
    """The worker's own words."""
    engine = make(put="this is no Python")
    with pytest.raises(LoadFailed, match="SyntaxError"):
        engine.start(_plan(1))


_PARENT = """
import pathlib, sys, time
from tests.load.stores import engine_for
from tests.load.test_driver import _plan
engine = engine_for(pathlib.Path(sys.argv[1]), put="time.sleep(3600)")
run = engine.start(_plan(4, 3600))
print(*engine.pids(), flush=True)
run.join()
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_who_started_them(tmp_path: Path, ending: signal.Signals) -> None:
    """However that is: nothing is left behind, though every client waits for a reply."""
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) >= 2
    parent.send_signal(ending)
    parent.wait(timeout=10)
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        assert time.monotonic() < deadline, "workers outlive the run"
        time.sleep(0.05)
