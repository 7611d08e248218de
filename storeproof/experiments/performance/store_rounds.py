"""Interleaved rounds of all stores: a disturbance of the machine strikes all of them, and not the one that was measured just then.

A case is one store's. The first case of a comparison prepares all the stores that have it before them, with each number of indexes, and
runs their rounds: in each block every one of them has one, in random order. The other cases then find theirs measured. There are as many
blocks as it takes until all numbers are precise enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random
from time import monotonic

from storeproof.cleanup.registry import registry
from storeproof.contract import Collection, Layout, Unknown, Unsupported, call, supports
from storeproof.contract.notation import arguments_from
from storeproof.experiments.performance.auto_indexed import refuse_without_indexes
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.measurement import WorkloadRunner
from storeproof.experiments.performance.proof import require_proof
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.workspace import Workspace
from storeproof.load.hosts.load_hosts import HostEngines, LoadEngines
from storeproof.load.job import StoreSilent, label, operation_name
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
        self._wrong: Exception | None = None
        self.elsewhere = 0.0
        """Seconds of its own that passed in the case of another store; where all ran in its own case, those of the others, negative."""
        self._loading = 0.0
        """Seconds that its preparation took."""
        self._seconds = 0.0
        """Seconds that the rounds took so far."""

    def prepare(self) -> None:
        """Load the data and warm up; what is wrong is kept for the store's own case."""
        begun = monotonic()
        self._try(self._prepare)
        self._loading = monotonic() - begun

    def run_round(self) -> None:
        """One that is measured, if nothing was wrong so far."""
        if self.sound:
            begun = monotonic()
            self._try(self._run_round)
            self._seconds += monotonic() - begun

    @property
    def enough(self) -> bool:
        """Whether no more rounds are wanted: the number is precise enough, or its time is used up."""
        if self._runner is None or not self.sound:
            return True
        return self._runner.precise or self._seconds >= self.sut.scale.performance.rounds.budget_seconds

    @property
    def seconds(self) -> float:
        """That its preparation and its rounds took."""
        return self._loading + self._seconds

    @property
    def sound(self) -> bool:
        """Whether nothing was wrong so far."""
        return self._wrong is None

    def result(self) -> tuple[WorkloadRunner, Collection]:
        """What ran the rounds, and the collection that they ran on. Raises what went wrong."""
        if self._wrong is not None:
            raise self._wrong
        assert self._runner is not None
        assert self._collection is not None
        return self._runner, self._collection

    def close(self) -> None:
        """Remove the collection, also where Ctrl-C is pressed again. Raises `StoreDied` or `Unknown` where the store does not answer."""
        with registry.deferring_signals():
            self._open.close()

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
        )
        self._runner.cost = CostMeter(handle)
        self._runner.cost.alone = self.alone
        sut.progress(f"{config.name}: loading and warming up")
        self._runner.prepare()

    def _run_round(self) -> None:
        assert self._runner is not None
        self.sut.progress(f"{self._config.name}: round {len(self._runner.rounds) + 1}, at most {self.sut.scale.performance.rounds.at_most}")
        self._runner.run_round()


class InterleavedRounds:
    """All of a run, one comparison after the other, and the load engines with their connections, which outlast a comparison.

    A comparison is a workload with one number of clients, one rate and so on: by all stores, and with each number of indexes.
    """

    def __init__(self, ceilings: Ceilings, waiting: Callable[[str], Sequence[StoreUnderTest]]) -> None:
        """
        Args:
            waiting: by the id of a case the stores under test that have it before them.
        """
        self._ceilings = ceilings
        self._waiting = waiting
        self._engines: dict[tuple[StoreUnderTest, int, str], tuple[object, LoadEngines]] = {}
        """By store, number of indexes, and reason against the wire engine: a connection belongs to one collection."""
        self._rounds: dict[tuple[StoreUnderTest, str], StoreRounds] = {}
        """By store and case: those of one comparison."""

    def rounds_of(self, config: BenchmarkConfig, sut: StoreUnderTest) -> StoreRounds:
        """Those of one store, whose case closes them: measured with those of the others, if they were not yet."""
        if (sut, config.case) not in self._rounds:
            self._measure(config, sut)
        return self._rounds.pop((sut, config.case))

    def close(self) -> None:
        """Remove what is left, and end all connections."""
        for _address, engines in self._engines.values():  # first of all: no client may write to what is being removed
            engines.close()
        self._engines.clear()
        self._clear()

    def _measure(self, config: BenchmarkConfig, first: StoreUnderTest) -> None:
        self._clear()
        compared = [
            (sut, each)
            for each in config.with_each_index_count()
            for sut in (*((first,) if each.case == config.case else ()), *self._waiting(each.case))
        ]
        no_wire = _no_wire(config, [sut for sut, _ in compared])
        for sut, each in compared:
            of_others = "" if sut.target.parts else no_wire  # a composite store has a reason of its own
            rounds = StoreRounds(each, sut, partial(self._engines_of, sut, each.indexes, of_others), self._ceilings)
            rounds.alone = sum(other is sut for other, _ in compared) == 1
            self._rounds[sut, each.case] = rounds
            rounds.prepare()
        scale = first.scale.performance.rounds
        for number in range(scale.at_most):
            block = list(self._rounds.values())
            may_end = number >= scale.at_least and (number - scale.at_least) % scale.every == 0
            if may_end and all(rounds.enough for rounds in block):
                break
            Random(f"{first.seed}:{config.name}:{number}").shuffle(block)
            for rounds in block:
                rounds.run_round()
        for rounds in self._rounds.values():
            rounds.elsewhere = rounds.seconds
        self._rounds[first, config.case].elsewhere -= sum(rounds.seconds for rounds in self._rounds.values())
        sound = {place: rounds for place, rounds in self._rounds.items() if rounds.sound}
        for (sut, case), rounds in sound.items():
            rounds.interleaved_with = tuple(other.target.id for other, its in sound if other is not sut and its == case)

    def _clear(self) -> None:
        with ExitStack() as closing:
            for rounds in self._rounds.values():
                closing.callback(rounds.close)
            self._rounds = {}

    def _engines_of(self, sut: StoreUnderTest, indexes: int, no_wire: str) -> LoadEngines:
        """Those for the store as it runs now."""
        address = sut.shared().address
        known = self._engines.get((sut, indexes, no_wire))
        if known is not None and known[0] != address:
            known[1].close()
            known = None
        if known is None:
            known = self._engines[sut, indexes, no_wire] = (address, sut.options.engines(sut.target, address, no_wire))
        return known[1]


def _no_wire(config: BenchmarkConfig, suts: Sequence[StoreUnderTest]) -> str:
    """Why these stores are not measured with the wire engine; empty: they are, where it is possible.

    The layer of a composite store is in its client, so that only the client can load it. A ratio needs one engine for both stores, and
    against one store alone is what the question about a pair is.
    """
    layered = next((sut.target.id for sut in suts if sut.target.parts), None)
    if layered is None or len(set(suts)) == 1 or config.pipeline > 1:  # a client has one request in flight
        return ""
    return f"{layered} is measured beside it, whose layer only a client has, and a ratio needs one engine for both"


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
