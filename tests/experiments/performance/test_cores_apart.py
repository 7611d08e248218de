"""During the rounds the server's threads and those of the load generator have no core in common, as the kernel shows them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from storeproof import native_support
from storeproof.experiments.performance.benchmark_config import configs
from storeproof.experiments.performance.store_rounds import StoreRounds
from storeproof.launch.handle import Handle
from storeproof.load.choose_engine import Engines
from storeproof.load.engine import EngineWanted
from storeproof.load.quality.ceiling import Ceilings
from storeproof.machine.cores import shown, split
from storeproof.outcome import Outcome, Stage
from storeproof.run_command import RunCommand
from storeproof.store_under_test import Options, StoreUnderTest
from tests.mutants.composite.files import composite_file
from tests.shipped import SHIPPED

CORES = sorted(os.sched_getaffinity(0))[:2]
WORKLOAD = "single-put-distinct-90"

pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="one core cannot be parted")


def threads(pids: Any) -> Iterator[tuple[str, str]]:
    """The name and the cores of each thread of these processes."""
    for pid in pids:
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            except OSError:  # it has ended
                continue
            yield fields["Name"], fields["Cpus_allowed_list"]


def workers() -> list[int]:
    """Our own worker processes; one that ends meanwhile is none."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "storeproof.load.driver.worker" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


class Look(threading.Thread):
    """Looks at all threads, again and again, until it is to stop."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(daemon=True)
        self.handle = handle
        self.over = threading.Event()
        self.server: set[str] = set()
        self.generator: set[str] = set()
        self.looks = 0

    def run(self) -> None:
        while not self.over.wait(0.005):
            self.server |= {cores for _, cores in threads(self.handle.pids)}
            self.generator |= {cores for name, cores in threads(["self"]) if name.startswith("wire-")}
            self.generator |= {cores for _, cores in threads(workers())}
            self.looks += 1


@pytest.mark.parametrize("engine", ["wire", "driver"])
def test_server_and_load_generator_run_apart(engine: EngineWanted) -> None:
    """Each on one of two cores, with either engine; afterwards this thread may run anywhere again."""
    if engine == "wire" and not native_support.present():
        pytest.skip("nothing is compiled here")
    (target,) = SHIPPED.targets(["sqlite:off"])
    apart = split(CORES, fewest=2)
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process", engine=engine, split=apart)
    sut = StoreUnderTest(SHIPPED, target, options, lambda _: None)
    sut.record.proofs["single_key", "put"] = [Outcome.PASS]
    sut.enter(Stage.PERFORMANCE)
    config = replace(next(configs(SHIPPED.workloads[WORKLOAD], sut.scale.performance)), clients=4)
    before = os.sched_getaffinity(0)
    engines: list[Engines] = []

    def made() -> Engines:
        engines.append(Engines(target, sut.shared().address, engine))
        return engines[-1]

    try:
        with closing(Ceilings()) as ceilings, closing(StoreRounds(config, sut, made, ceilings)) as rounds:
            rounds.prepare()
            look = Look(sut.shared())
            look.start()
            for _ in range(3):
                rounds.run_round()
            look.over.set()
            look.join()
            runner, _collection = rounds.result()
            assert len(runner.rounds) == 3
            assert look.looks
            assert os.sched_getaffinity(0) == before
    finally:
        for each in engines:
            each.close()
        sut.close_shared()
    assert look.server == {shown(apart.server)}
    assert look.generator == {shown(apart.generator)}


def test_other_stages_have_all_cores() -> None:
    """What is not measured need not be kept apart; with a number of cores given, every stage keeps to it."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process", split=split(CORES, fewest=2))
    for given, in_correctness in ((None, ()), (1, (CORES[0],))):
        sut = StoreUnderTest(SHIPPED, target, replace(options, cores=given), lambda _: None)
        sut.enter(Stage.CORRECTNESS)
        assert sut._request().cores == in_correctness
        sut.enter(Stage.PERFORMANCE)
        assert sut._request().cores == (CORES[0],)


def test_a_host_whose_memory_is_measured_is_not_forked() -> None:
    """It would share a part with the fork server, which its figure would lack."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    sut = StoreUnderTest(SHIPPED, target, Options(SHIPPED.scales["smoke"], seed=1, launch="process"), lambda _: None)
    for stage in Stage:
        sut.enter(stage)
        assert sut._request().forked == (stage is not Stage.PERFORMANCE)


def test_shared_cores_are_left_to_the_kernel() -> None:
    """Where nothing is parted, nothing is bound."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process", split=split(CORES))
    sut = StoreUnderTest(SHIPPED, target, options, lambda _: None)
    sut.enter(Stage.PERFORMANCE)
    assert sut._request().cores == ()


def test_limited_memory_is_not_filled_with_files() -> None:
    """The files of the correctness stage lie in memory, which would count; where memory is limited they do not."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process")
    for memory, in_memory in ((None, True), (2**30, False)):
        sut = StoreUnderTest(SHIPPED, target, replace(options, memory=memory), lambda _: None)
        sut.enter(Stage.CORRECTNESS)
        assert sut._in_memory is in_memory
        assert sut._request().memory == memory


def test_a_case_is_repeated_with_what_it_was_given() -> None:
    """The command has the options that decide."""
    (target,) = SHIPPED.targets(["sqlite:off"])
    options = Options(SHIPPED.scales["smoke"], seed=1, given=RunCommand(cores=1, memory="1GiB"))
    command = StoreUnderTest(SHIPPED, target, options, lambda _: None).command("x")
    assert "--cores=1 --memory=1GiB" in command


def test_the_servers_of_a_composite_store_share_what_one_store_is_given(tmp_path: Path) -> None:
    """All of its cores are those of each, and their parts of the memory are the whole; also of the part that a role has."""
    single, pair = SHIPPED.targets(["sqlite:wal-full", str(composite_file(tmp_path, "pair", "write-through"))])
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process", cores=1, memory=2**30, split=split(CORES).giving(1))
    alone, both = (StoreUnderTest(SHIPPED, target, options, lambda _: None) for target in (single, pair))
    for sharing in (1, 2):
        for sut in (alone, both):
            sut.share_memory(sharing)
        one, parts = alone._request(), [part.request for part in both._request().parts]
        assert [part.cores for part in parts] == [one.cores] * 2
        assert sum(part.memory or 0 for part in parts) == one.memory == 2**30 // sharing
