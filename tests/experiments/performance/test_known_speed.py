"""The method itself, against a store whose speed is known: the number is that speed, or says that it is not.

The store is a token bucket, which a busy machine can only make slower, and which says what it answered: its number is held against that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, cast

import pytest

from storeproof import native_support
from storeproof.contract import Layout, load_adapter
from storeproof.contract.address import Address
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.measurement import Number
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.load.choose_engine import Engines
from storeproof.load.engine import RunResult
from storeproof.load.quality.audit import audit
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.wire.null_server import NullServer
from storeproof.result.measurement import Measurement
from storeproof.spec import Store, Target, Workload
from tests.load.test_ceiling import Slow
from tests.load.token_bucket import ADAPTER, TokenBucket, Told
from tests.shipped import SHIPPED

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
SECONDS, ROUNDS = 0.4, 5
ATTEMPTS = 6
"""At a round in which server and generator had their processors."""


class Measured(WorkloadRunner):
    """A workload on a token bucket, which says of each round what it answered."""

    bucket: TokenBucket
    told: list[Told]

    def _run(self, seconds: float, rate: float = 0.0) -> RunResult:
        self.bucket.mark()
        found = super()._run(seconds, rate)
        self.told.append(self.bucket.told())
        return found


class Bench:
    """The bucket as a store, and measurements of it."""

    def __init__(self, directory: Path) -> None:
        (directory / "bucket.py").write_text(ADAPTER)
        store = {
            "format": "2.0",
            "store": "bucket",
            "title": "Token bucket",
            "product": "Bucket",
            "adapter": "bucket.py",
            "wire": "resp",
            "launch": {},
            "variants": {"plain": {"guarantee": "volatile", "default": True}},
            "claims": {"models": ["single_key"], "capabilities": {}},
        }
        self.target = Target(Store.model_validate(store), "plain", directory / "bucket.yaml")
        self.bucket = TokenBucket()
        self.address = Address("127.0.0.1", self.bucket.port)

    @contextmanager
    def measuring(self, clients: int, batch: int = 1, ceilings: Ceilings | None = None, most_threads: int = 1) -> Iterator[Measured]:
        """A workload of gets that is warm."""
        mix = {"operation": "get", "keys": "uniform", "batch": batch}
        reads = {"workload": "reads", "kind": "value-read", "title": "Reads", "model": "single_key", "mix": [mix]}
        workload = Workload.model_validate(reads | {"preload": True, "clients": "few"})
        sizes = {"records": max(batch, 200), "round_seconds": SECONDS, "round_warm_up_seconds": 0.05}
        scale = SHIPPED.scales["smoke"].performance.model_copy(update=sizes)
        layout = Layout("bucket", SHIPPED.models["single_key"])
        with closing(Engines(self.target, self.address, "wire")) as engines, closing(ceilings or Ceilings()) as limits:
            config = BenchmarkConfig(workload, 0, clients)
            no_store: Any = None  # the store is not under test, and its collection is not removed
            kept = LoadedCollection(no_store, config)
            one = Measured(config, layout, scale, 1, engines, limits, None, kept, most_threads=most_threads)
            one.bucket, one.told = self.bucket, []
            one.prepare()
            yield one

    def measurement(self, of: Measured) -> Measurement:
        """What a result would have."""
        session = load_adapter(self.target.store, self.target.file).connect(self.address, {})
        with closing(session):
            of.cost.end()
            return Number([of]).measurement(audit(session.collection(of.layout), of.plan, of.every, of.seed), [])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One for all of them."""
    here = Bench(tmp_path_factory.mktemp("bucket"))
    yield here
    here.bucket.close()


def rounds(of: Measured, number: int = ROUNDS) -> list[Told]:
    """Measured rounds, and what the store says of each."""
    told = []
    for _ in range(number):
        of.run_round()
        told.append(of.told[-1])
    return told


@pytest.mark.parametrize(("rate", "clients"), [(1000, 8), (1000, 64), (10_000, 8), (50_000, 50)])
def test_the_number_is_the_speed_of_the_store(bench: Bench, rate: int, clients: int) -> None:
    """Within 2 %, however few requests each client has in a round: every answer is counted, and none that was not given.

    A server that lacked its processor had another speed; so it says, and the number is that one's. A generator that did saw answers later
    than they were given, by as much as it says that it waited.
    """
    bench.bucket.limit(rate)
    with bench.measuring(clients) as one:
        told = rounds(one)
        found = bench.measurement(one)
    assert [each.operations for each in found.rounds] == [each.granted for each in told]
    assert all(each.rate <= rate * 1.001 for each in told), "the bucket itself"
    late = max(each.waiting_seconds / each.elapsed_seconds for each in one.rounds)
    assert found.throughput.median <= rate * (1.02 + late)
    ratios = [each.throughput / said.rate for each, said in zip(found.rounds, told, strict=True)]
    assert median(ratios) == pytest.approx(1, abs=0.02 + late), ratios
    assert (found.invalid, found.threads, found.verified) == ([], 1, True)


@pytest.mark.parametrize("clients", [1, 8])
def test_the_mean_latency_is_that_of_littles_law(bench: Bench, clients: int) -> None:
    """Of each round requests in flight = rate × (mean service time + pause): the mean over all rounds is told by their rates alone."""
    bench.bucket.limit(2000)
    with bench.measuring(clients) as one:
        rounds(one)
        found = bench.measurement(one)
    requests = [each.operations["get"].requests for each in one.rounds]
    means = [clients / each.request_rate - each.pause_seconds for each in one.rounds]
    expected = sum(number * mean for number, mean in zip(requests, means, strict=True)) / sum(requests)
    assert found.latency_us.mean == pytest.approx(expected * 1e6, rel=0.02)
    assert found.gates["littles_law"].value < 0.02


def test_a_store_that_grows_slower_is_drifting(bench: Bench) -> None:
    """By 2 % from round to round. A round in which one of the two lacked its processor is repeated.

    Of 20 rounds in falling order, since these are no chance even if neighbours are as alike as the test of a trend allows for at most.
    """
    limits = [1000 * 0.98**number for number in range(20)]
    bench.bucket.limit(limits[0])
    with bench.measuring(8) as one:
        for limit in limits:
            bench.bucket.limit(limit)
            for _ in range(ATTEMPTS):
                one.run_round()
                last = one.rounds[-1]
                if one.told[-1].rate > 0.99 * limit and last.waiting_seconds < 0.02 * last.elapsed_seconds:
                    break
                one.rounds.pop()
            else:
                one.rounds.append(last)
        found = bench.measurement(one)
    assert found.trend.drifting
    assert found.trend.change == pytest.approx(-0.02, abs=0.01)


def test_a_store_above_the_ceiling_is_at_least_so_fast(bench: Bench) -> None:
    """Against a null server that takes a millisecond, the load generator has not shown that it could do more."""
    bench.bucket.limit(0)
    ceilings = Ceilings()
    ceilings._servers = [cast(NullServer, _Closing())]
    with bench.measuring(4, ceilings=ceilings) as one:
        rounds(one)
        found = bench.measurement(one)
    assert found.at_least
    assert not found.gates["client_ceiling"].ok


class _Closing(Slow):
    """It has nothing to close."""

    def close(self) -> None:
        """A null server has a process."""


@pytest.mark.parametrize("most_threads", [1, 2])
def test_a_generator_that_is_the_limit_says_so(bench: Bench, most_threads: int) -> None:
    """Of batches of all records in an order of chance, drawing one takes many times as long as answering it: the number is a lower bound,
    also on a machine so busy that the generator waits more than it runs. Where there are cores for it another thread is tried."""
    bench.bucket.limit(0)
    with bench.measuring(8, batch=3000, most_threads=most_threads) as one:
        rounds(one, 4)
        found = bench.measurement(one)
    assert found.invalid == []
    assert found.at_least or found.threads == 2, {name: each.value for name, each in found.gates.items()}
    assert found.threads <= most_threads
