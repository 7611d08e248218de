"""The rounds of one store in one configuration: in each lap it is prepared, they are run, and what they wrote is read back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic

from storeproof.cleanup.registry import registry
from storeproof.contract import Collection, Layout, Unknown, Unsupported, call, supports
from storeproof.contract.notation import arguments_from
from storeproof.experiments.performance.auto_indexed import refuse_without_indexes
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.measurement import Number
from storeproof.experiments.performance.proof import require_proof
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.performance.surroundings import Surroundings
from storeproof.experiments.performance.workload_runner import WorkloadRunner
from storeproof.experiments.workspace import Workspace
from storeproof.load.hosts.load_hosts import HostEngines, LoadEngines
from storeproof.load.job import StoreSilent, label, operation_name
from storeproof.load.quality.audit import Audit, together
from storeproof.load.quality.ceiling import Ceilings
from storeproof.load.quality.generator_threads import free_cores
from storeproof.machine.cores import running_on
from storeproof.outcome import Outcome
from storeproof.result.case_result import EndCase
from storeproof.spec import Workload
from storeproof.spec.workload import fill_in
from storeproof.store_under_test import StoreUnderTest


class StoreRounds:
    """Of one store in one configuration: its collection and its rounds, or what went wrong."""

    def __init__(self, config: BenchmarkConfig, sut: StoreUnderTest, engines: Callable[[], LoadEngines], ceilings: Ceilings) -> None:
        self.sut = sut
        self.interleaved_with: tuple[str, ...] = ()
        """The other stores whose rounds alternated with these, each block having one of each."""
        self.alone = True
        """Whether no other rounds of this comparison are those of the same store."""
        self._config = config
        self._engines = engines
        self._ceilings = ceilings
        self._open = ExitStack()
        self._collection: Collection | None = None
        self._runner: WorkloadRunner | None = None
        self._ended: list[tuple[WorkloadRunner, Audit]] = []
        """The laps that are over."""
        self._wrong: Exception | None = None
        self.elsewhere = 0.0
        """Seconds of its own that passed in the case of another store; where all ran in its own case, those of the others, negative."""
        self.seconds = 0.0
        """That its preparation and its rounds took, and that are in no store's time yet."""
        self._in_rounds = self._in_round = 0.0
        """Of these, those of the rounds of this lap that count, and those of the last round."""

    def prepare(self) -> None:
        """Begin a lap, if nothing was wrong so far: load the data and warm up. What is wrong is kept for the store's own case."""
        self._in_rounds = 0.0
        if self.sound:
            self._timed(self._prepare)

    def run_round(self) -> None:
        """One that is measured, if nothing was wrong so far."""
        if self.sound:
            self._in_round = self._timed(self._run_round)

    def keep_round(self, beside: Surroundings) -> None:
        """The last one counts."""
        if self.sound:
            assert self._runner is not None
            self._runner.beside.append(beside)
            self._in_rounds += self._in_round

    def forget_round(self, beside: Surroundings) -> None:
        """The last one does not count, for what there was beside its block."""
        if self.sound:
            assert self._runner is not None
            self._runner.forget_round(beside)

    def end_lap(self) -> None:
        """Read the data back and remove the collection: the next lap has another one, on a server that was started again."""
        for step in (self._read_back, self.close):
            if self.sound:
                self._timed(step)

    def enough(self, laps: int) -> bool:
        """Whether this lap needs no more rounds: the number is precise enough, or will be after that many laps, or its time is used up."""
        if self._runner is None or not self.sound:
            return True
        budget = self.sut.scale.performance.rounds.budget_seconds / laps
        return self._number.precise(laps) or self._in_rounds >= budget

    @property
    def sound(self) -> bool:
        """Whether nothing was wrong so far."""
        return self._wrong is None

    def result(self) -> tuple[Number, Audit]:
        """The number, and what reading the data back found in all laps: that of the last one is read back now. Raises what went wrong."""
        if self.sound:
            self._timed(self._read_back)
        if self._wrong is not None:
            raise self._wrong
        return self._number, together([audited for _, audited in self._ended])

    def close(self) -> None:
        """Remove the collection, also where Ctrl-C is pressed again. Raises `StoreDied` or `Unknown` where the store does not answer."""
        with registry.deferring_signals():
            self._open.close()

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
            self._wrong = self.sut.explain(Unknown(str(silence)))
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is this store's, and its case raises it
            self._wrong = wrong

    def _prepare(self) -> None:
        sut, config = self.sut, self._config
        workload, scale = config.workload, sut.scale.performance
        refuse_without_indexes(sut, config.indexes)
        handle = sut.shared()
        try:
            session = sut.connect(handle)
        except Unknown as reason:
            raise sut.explain(reason) from None
        self._open.callback(session.close)
        workspace = Workspace(sut, session)
        self._open.callback(workspace.clear)
        self._collection, layout = workspace.fresh(workload.model, config.indexes, config.record)
        # First what the store cannot do: where it is all of an operation, nothing of it was verified either.
        _refuse_unsupported(self._collection, layout, workload)
        _refuse_unproven(sut, self._collection, workload)
        kept = self._collection.describe().get("indexes", "0")
        if kept != str(config.indexes):
            raise EndCase(Outcome.FAIL, f"{config.indexes} secondary indexes were asked for, and the store says it has {kept}")
        engines = self._engines()
        here = len(sut.options.split.apart) or free_cores(handle.pids, handle.address.host)
        self._runner = WorkloadRunner(
            config,
            layout,
            scale,
            sut.seed,
            engines,
            self._ceilings,
            sut.options.corpus.article_store,
            records=sut.options.records,
            most_threads=engines.cores if isinstance(engines, HostEngines) else here,
            threads=self._ended[0][0].threads if self._ended else 0,
        )
        self._runner.cost = CostMeter(handle)
        self._runner.cost.alone = self.alone
        sut.progress(f"{config.name}: loading and warming up")
        self._runner.prepare()

    def _run_round(self) -> None:
        assert self._runner is not None
        self.sut.progress(f"{self._config.name}: round {len(self._number.rounds) + 1}, at most {self.sut.scale.performance.rounds.at_most}")
        self._runner.run_round()

    def _read_back(self) -> None:
        runner, collection = self._runner, self._collection
        assert runner is not None
        assert collection is not None
        self._ended.append((runner, runner.audit(collection)))
        self._runner = self._collection = None


def _refuse_unproven(sut: StoreUnderTest, collection: Collection, workload: Workload) -> None:
    """No speed without proof: what was not correct, in this run or in the one that is cited, is not measured."""
    operations = list(dict.fromkeys(operation_name(mix) for mix in workload.mix))
    for operation in operations:
        if not supports(collection, operation):
            raise EndCase(Outcome.UNSUPPORTED, f"{operation} on {workload.model}: the store's adapter does not offer it")
    require_proof(sut, workload.model, operations)


def _refuse_unsupported(collection: Collection, layout: Layout, workload: Workload) -> None:
    """A store may answer requests, and still not those of this workload: each is asked once, with a fixed word."""
    for mix in workload.mix:
        if mix.request is None:
            continue
        asked = arguments_from(layout.model, mix.operation, (fill_in(mix.request, lambda _name: "word"),))
        try:
            call(collection, layout, mix.operation, *asked)
        except Unsupported as reason:
            raise EndCase(Outcome.UNSUPPORTED, f"{label(mix)}: {reason}") from None
