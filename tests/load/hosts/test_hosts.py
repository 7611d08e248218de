"""Load from several hosts: here each is a process of its own, which a Dask scheduler connects."""

from __future__ import annotations

import signal
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from random import Random

import pytest
import redis
from hdrh.histogram import HdrHistogram

from storeproof import native_support
from storeproof.contract import Collection, Layout
from storeproof.errors import NotAvailable, UsageError
from storeproof.load.engine import LoadFailed, OperationCounts, Plan, RunResult
from storeproof.load.hosts import remote_host
from storeproof.load.hosts.hosts_engine import combined, shares
from storeproof.load.hosts.load_host import LoadHost
from storeproof.load.hosts.load_hosts import HostEngines, LoadHosts, refuse_open
from storeproof.load.quality.audit import audit
from storeproof.load.quality.gates import judge_rounds
from storeproof.spec import Mix
from storeproof.stats.latency import new_histogram, record_all
from storeproof.store_under_test import Options, StoreUnderTest
from tests.load.hosts.cluster import Cluster
from tests.shipped import SHIPPED

pytest.importorskip("distributed")
pytestmark = [pytest.mark.servers, pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")]
GET, PUT = Mix(operation="get", keys="uniform"), Mix(operation="put", keys="new")


def identity() -> dict[str, str]:
    """What all hosts have in common here."""
    return {"storeproof": "1"}


class Redis:
    """A server that hosts can reach."""

    def __init__(self) -> None:
        (target,) = SHIPPED.targets(["redis"])
        self.sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _text: None)
        try:
            self.handle = self.sut.launch("a test")
        except NotAvailable as missing:
            pytest.skip(str(missing))
        self._session = self.sut.connect(self.handle)

    def prepared(self) -> tuple[Layout, Collection]:
        """An empty collection."""
        layout = self.sut.layout("single_key")
        collection = self._session.collection(layout)
        collection.prepare()
        return layout, collection

    def keys(self) -> int:
        """How many it has."""
        with redis.Redis(self.handle.address.host, self.handle.address.port) as client:
            return int(client.dbsize())

    def close(self) -> None:
        """End it."""
        self._session.close()
        self.handle.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Redis]:
    with closing(Redis()) as started:
        yield started


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(workers=2) as started:
        started.await_workers()
        yield started


def await_silence(server: Redis) -> None:
    """Until nothing is written any more; without an end where something always is."""
    before, now = -1, server.keys()
    while before != now:
        time.sleep(0.2)
        before, now = now, server.keys()


def engines(server: Redis, hosts: LoadHosts, engine: str = "auto") -> HostEngines:
    return hosts.engines(server.sut.target, server.handle.address, engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["wire", "driver"])
def test_the_clients_of_all_hosts_write_what_is_found_afterwards(server: Redis, cluster: Cluster, engine: str) -> None:
    """Keys, write ids and counts of all hosts are those of one plan: the audit finds everything whole."""
    layout, collection = server.prepared()
    plan = Plan(layout, (GET, PUT), clients=5, seconds=0.3, seed=1, known=200, fixed_numbers=engine == "wire")
    with closing(LoadHosts(cluster.scheduler, identity)) as hosts, closing(engines(server, hosts, engine)) as all_engines:
        chosen, reason = all_engines.choose(plan)
        assert (chosen.name, reason, hosts.names) == (engine, "", ("host-0", "host-1"))
        chosen.fill(layout, plan.known, fixed_numbers=chosen.fixed_numbers)
        first = chosen.start(plan).join()
        second = chosen.start(replace(plan, number=1, positions=first.positions, removed=first.removed)).join()
        ceiling = chosen.ceiling(plan)
    for found in (first, second):
        assert (len(found.hosts), found.clients, found.errors) == (2, 5, 0)
        assert [each.clients for each in found.hosts] == [3, 2]
        assert found.throughput == pytest.approx(sum(each.throughput for each in found.hosts))
        counted = {name: sum(each.operations[name].requests for each in found.hosts) for name in ("get", "put")}
        assert {name: each.requests for name, each in found.operations.items()} == counted
        assert min(found.positions) > 0  # each client has put new keys
    assert judge_rounds([first, second])["littles_law"].ok
    assert (ceiling.rate is not None) == (engine == "wire")
    found = audit(collection, replace(plan, fixed_numbers=chosen.fixed_numbers), [first, second], seed=1)
    assert found.ok, found.problems


def test_a_host_that_is_asked_all_the_time_ends_its_rounds(server: Redis) -> None:
    """What is asked in one thread takes nothing from the thread that waits for the end of the round."""
    layout, _ = server.prepared()
    plan = Plan(layout, (PUT,), clients=4, seconds=0.05, seed=1, known=0)
    with closing(LoadHost(server.sut.target, server.handle.address, "driver")) as host:
        for order, number in ((host.choose, 0), *((host.go, number) for number in range(20))):
            order(replace(plan, number=number))
            while not (news := host.news()).done:
                pass
            assert news.failure is None
    assert server.keys() > 0


def test_an_open_loop_is_shared_out(server: Redis, cluster: Cluster) -> None:
    """The hosts together offer the rate of the plan."""
    layout, _ = server.prepared()
    plan = Plan(layout, (PUT,), clients=4, seconds=0.5, seed=1, known=0, rate=2000, fixed_numbers=True)
    with closing(LoadHosts(cluster.scheduler, identity)) as hosts, closing(engines(server, hosts)) as all_engines:
        found = all_engines.choose(plan)[0].start(plan).join()
    assert sum(each.requests for each in found.operations.values()) + found.missed_sends == pytest.approx(1000, abs=6 * 1000**0.5)
    assert found.schedule_lag is not None


@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGSTOP])
def test_a_host_that_is_gone_is_an_error_and_not_waited_for(server: Redis, ends: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed or halted in a round of ten minutes: it is an error, the other host stops, and no one takes over its share."""
    layout, _ = server.prepared()
    plan = Plan(layout, (PUT,), clients=4, seconds=600, seed=1, known=0, fixed_numbers=True)
    with Cluster(workers=2) as started:
        started.await_workers()
        with closing(LoadHosts(started.scheduler, identity)) as hosts, closing(engines(server, hosts)) as all_engines:
            run = all_engines.choose(plan)[0].start(plan)
            while not server.keys():
                time.sleep(0.01)
            started.workers["host-1"].send_signal(ends)
            monkeypatch.setattr(remote_host, "ANSWER_SECONDS", 5.0)
            with pytest.raises(LoadFailed, match="the load host host-1 is gone"):
                run.join()
            await_silence(server)  # the other host has stopped, and has no share of the load


def test_a_host_with_another_storeproof_is_refused(cluster: Cluster) -> None:
    """It would put on another load."""
    with pytest.raises(UsageError, match=r"--hosts: host-0 has another storeproof \(its process\)"):
        LoadHosts(cluster.scheduler, _of_this_process)


def _of_this_process() -> dict[str, str]:
    import os

    return {"process": str(os.getpid())}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("10.0.0.1:8786", "takes the address of a Dask scheduler"),
        ("http://10.0.0.1", "takes the address of a Dask scheduler"),
        ("tcp://10.0.0.1:8786", "runs the code of anyone who reaches its port; use tls://"),
        ("tcp://scheduler:8786", "runs the code of anyone who reaches its port"),
    ],
)
def test_an_address_that_is_none_or_open_is_refused(address: str, message: str) -> None:
    """A scheduler without TLS runs the code of anyone who reaches its port."""
    with pytest.raises(UsageError, match=message):
        refuse_open(address)


def test_without_workers_and_without_a_scheduler_it_says_so() -> None:
    """One message each."""
    with Cluster(workers=0) as started:
        started.await_workers()
        with pytest.raises(UsageError, match=f"it has no workers; start one on each host: dask worker {started.scheduler}"):
            LoadHosts(started.scheduler, identity)
        nowhere = started.scheduler
    with pytest.raises(UsageError, match="no Dask scheduler answers there"):
        LoadHosts(nowhere, identity)


def test_percentiles_are_those_of_all_requests_together() -> None:
    """Merged histograms are the histogram of all requests."""
    draws = Random(1)
    times = [[int(draws.lognormvariate(12, 1)) for _ in range(1000 * (host + 1))] for host in range(3)]
    plan = Plan(Layout.__new__(Layout), (GET,), clients=3, seconds=1, seed=1, known=1)
    found = combined(plan, shares(plan, 3), [found_by(its) for its in times])
    one = histogram(time for its in times for time in its)
    for percent in (1, 50, 95, 99, 99.9, 100):
        assert found.operations["get"].latency.get_value_at_percentile(percent) == one.get_value_at_percentile(percent)
    assert (found.operations["get"].requests, found.throughput, found.positions) == (6000, 6000.0, (1000, 2000, 3000))


def histogram(times: Iterable[int]) -> HdrHistogram:
    made = new_histogram()
    record_all(made, array("q", times))
    return made


def found_by(times: list[int]) -> RunResult:
    count = len(times)
    counts = OperationCounts("get", ok=count, misses=0, errors=0, malformed=0, latency=histogram(times))
    return RunResult({"get": counts}, float(count), float(count), 1, 0.001, 0.0, 0.5, 1.0, 1, (count,), (), (), (0,))


def test_shares_are_disjoint_and_complete() -> None:
    """Each client is of one host, and the rate is shared out by clients."""
    layout = Layout.__new__(Layout)
    plan = Plan(layout, (GET,), clients=7, seconds=1, seed=1, known=1, rate=700, threads=3)
    parts = shares(plan, 3)
    assert [each.numbers for each in parts] == [(0, 3, 6), (1, 4), (2, 5)]
    assert [each.rate for each in parts] == [300, 200, 200]
    assert [each.threads for each in parts] == [3, 2, 2]
    assert len({each.seed for each in parts}) == 3
    assert len(shares(replace(plan, clients=2), 3)) == 2
    few = shares(replace(plan, share=(0, 1, 2, 3)), 3)
    assert [each.share for each in few] == [(0, 3), (1,), (2,)]
    assert sum(each.rate for each in few) == pytest.approx(plan.rate)
