"""The rounds of one store in one configuration: in each lap it is prepared, they are run, and what they wrote is read back."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from storeproof.anatomy.meter import AnatomyMeter
from storeproof.contract import Unknown
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.measurement import Number
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.performance.surroundings import Surroundings
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.load.engine import StoreSilent
from storeproof.load.hosts.load_hosts import HostEngines, LoadEngines
from storeproof.load.quality.audit import Audit, together
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.quality.generator_threads import free_cores
from storeproof.machine.cores import running_on
from storeproof.store_under_test import StoreUnderTest


class StoreRounds:
    """One store in one configuration: its collection and its rounds, or what went wrong."""

    def __init__(self, config: BenchmarkConfig, sut: StoreUnderTest, engines: Callable[[], LoadEngines], ceilings: Ceilings) -> None:
        self.sut = sut
        self.interleaved_with: tuple[str, ...] = ()
        """The other stores whose rounds alternated with these, each block having one of each."""
        self.alone = True
        """Whether no other rounds of this comparison are those of another collection of the same store."""
        self.config = config
        self._engines = engines
        self._ceilings = ceilings
        self._collection = LoadedCollection(sut, config)
        self._runner: WorkloadRunner | None = None
        self._ended: list[tuple[WorkloadRunner, Audit]] = []
        """The laps that are over."""
        self._wrong: Exception | None = None
        self.elsewhere = 0.0
        """Seconds of its own that passed in the case of another store; where all ran in its own case, those of the others, negative."""
        self.seconds = 0.0
        """That its preparation and its rounds took, and that are in no store's time yet."""
        self.in_round = 0.0
        """Seconds of the last round."""
        self._in_rounds = 0.0
        """Seconds of the rounds of this lap that count."""

    def share(self, collection: LoadedCollection) -> None:
        """Use this one in the next lap."""
        self._collection = collection

    def prepare(self) -> None:
        """Begin a lap, if nothing was wrong so far: load the data and warm up. What is wrong is kept for the store's own case."""
        self._in_rounds = 0.0
        if self.sound:
            self._timed(self._prepare)

    def run_round(self) -> None:
        self.in_round = self._timed(self._run_round) if self.sound else 0.0

    def keep_round(self, beside: Surroundings) -> None:
        """The last one counts."""
        if self.sound:
            assert self._runner is not None
            self._runner.beside.append(beside)
            self._in_rounds += self.in_round

    def forget_round(self, beside: Surroundings) -> None:
        """The last one does not count, for what there was beside its block."""
        if self.sound:
            assert self._runner is not None
            self._runner.forget_round(beside)

    def end_lap(self) -> None:
        """Read the data back and remove the collection: the next lap has another one, on a server that was started again."""
        if self.sound:
            self._timed(self._read_back)
        self._timed(self.close)

    def enough(self, laps: int) -> bool:
        """Whether this lap needs no more rounds: the number is precise enough, or will be after that many laps, and what is watched of the
        disk is steady; or its time is used up."""
        if self._runner is None or not self.sound:
            return True
        budget = self.sut.scale.performance.rounds.budget_seconds / laps
        done = self._number.precise(laps) and self._runner.anatomy.steady_from(self._runner.rounds) is not None
        return done or self._in_rounds >= budget

    @property
    def sound(self) -> bool:
        """Whether nothing was wrong so far."""
        return self._wrong is None and not self.lost

    @property
    def lost(self) -> bool:
        """Whether the load of others on the same collection ended in an error, so that these rounds have to be run again without them."""
        return self._collection.broken_by not in (None, self)

    def result(self) -> tuple[Number, Audit]:
        """The number, and what reading the data back found in all laps: that of the last one is read back now. Raises what went wrong."""
        if self.sound:
            self._timed(self._read_back)
        if self._wrong is not None:
            raise self._wrong
        return self._number, together([audited for _, audited in self._ended])

    def close(self) -> None:
        """Remove the collection, unless others still use it. Raises `StoreDied` or `Unknown` where the store does not answer."""
        self._collection.leave(self)

    @property
    def _number(self) -> Number:
        return Number([*(runner for runner, _ in self._ended), *([self._runner] if self._runner else [])])

    def _timed(self, step: Callable[[], None]) -> float:
        """The seconds that a step took."""
        begun = monotonic()
        self._try(step)
        took = monotonic() - begun
        self.seconds += took
        return took

    def _try(self, step: Callable[[], None]) -> None:
        try:
            with running_on(self.sut.options.split.apart):
                step()
        except StoreSilent as silence:
            self._wrong = self._wrong or self.sut.explain(Unknown(str(silence)))
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is this store's, and its case raises it
            self._wrong = self._wrong or wrong
        if self._wrong is not None and self._runner is not None and self._runner.begun:
            self._collection.broken_by = self

    def _prepare(self) -> None:
        sut, config, collection = self.sut, self.config, self._collection
        layout = collection.enter(self)
        handle = sut.shared()
        engines = self._engines()
        here = len(sut.options.split.apart) or free_cores(handle.pids, handle.address.host)
        self._runner = WorkloadRunner(
            config,
            layout,
            sut.scale.performance,
            sut.seed,
            engines,
            self._ceilings,
            sut.options.corpus.article_store,
            collection,
            records=sut.options.records,
            most_threads=engines.cores if isinstance(engines, HostEngines) else here,
            threads=self._ended[0][0].threads if self._ended else 0,
        )
        self._runner.cost = CostMeter(handle)
        self._runner.cost.alone = self.alone
        if sut.options.anatomy:
            self._runner.anatomy = AnatomyMeter(handle, sut.target.store.files, config.workload.mix)
        sut.progress(f"{config.name}: loading and warming up")
        self._runner.prepare()

    def _run_round(self) -> None:
        assert self._runner is not None
        self.sut.progress(f"{self.config.name}: round {len(self._number.rounds) + 1}, at most {self.sut.scale.performance.rounds.at_most}")
        self._runner.run_round()

    def _read_back(self) -> None:
        runner = self._runner
        assert runner is not None
        self._ended.append((runner, runner.audit()))
        self._runner = None
