"""Rounds of all stores by turns: what the machine does meanwhile it does to all of them, and not to the one whose turn it was.

A case is one store's. The first of a way prepares all the stores that have it before them, and goes through its rounds: in each block every
store has one, in an order drawn anew. The others then find theirs measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random

from storeproof.cleanup.registry import registry
from storeproof.contract import Collection, Layout, Unknown, Unsupported, call, supports
from storeproof.contract.notation import arguments_from
from storeproof.experiments.performance.auto_indexed import refuse_without_indexes
from storeproof.experiments.performance.benchmark_config import Way
from storeproof.experiments.performance.measurement import Measuring
from storeproof.experiments.workspace import Workspace
from storeproof.load.choose_engine import Engines
from storeproof.load.job import StoreSilent, called, label
from storeproof.load.quality.ceiling import Ceilings
from storeproof.outcome import Outcome
from storeproof.result.case_result import EndCase
from storeproof.spec import Workload
from storeproof.spec.workload import fill_in
from storeproof.store_under_test import StoreUnderTest


class Turns:
    """What one store has of a way: its collection and its rounds, or what was wrong."""

    def __init__(self, way: Way, sut: StoreUnderTest, engines: Callable[[], Engines], ceilings: Ceilings) -> None:
        self.sut = sut
        self.beside: tuple[str, ...] = ()
        """The other stores whose rounds took turns with these, each block having one of each."""
        self._way = way
        self._engines = engines
        self._ceilings = ceilings
        self._open = ExitStack()
        self._collection: Collection | None = None
        self._measuring: Measuring | None = None
        self._wrong: Exception | None = None

    def prepare(self) -> None:
        """Load the data and warm up; what is wrong is kept for the store's own case."""
        self._try(self._prepare)

    def run_round(self) -> None:
        """One that is measured, if nothing was wrong so far."""
        if self.sound:
            self._try(self._run_round)

    @property
    def sound(self) -> bool:
        """Whether nothing was wrong so far."""
        return self._wrong is None

    def found(self) -> tuple[Measuring, Collection]:
        """The measuring, and the collection that it was done on. Raises what was wrong."""
        if self._wrong is not None:
            raise self._wrong
        assert self._measuring is not None
        assert self._collection is not None
        return self._measuring, self._collection

    def close(self) -> None:
        """Remove the collection, also where Ctrl-C is pressed again. Raises `StoreDied` or `Unknown` where the store does not answer."""
        with registry.undisturbed():
            self._open.close()

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except StoreSilent as silence:
            self._wrong = self.sut.explain(Unknown(str(silence)))
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is this store's, and its case raises it
            self._wrong = wrong

    def _prepare(self) -> None:
        sut, way = self.sut, self._way
        workload, scale = way.workload, sut.scale.performance
        refuse_without_indexes(sut, way.indexes)
        handle = sut.shared()
        try:
            session = sut.connect(handle)
        except Unknown as reason:
            raise sut.explain(reason) from None
        self._open.callback(session.close)
        workspace = Workspace(sut, session)
        self._open.callback(workspace.clear)
        self._collection, layout = workspace.fresh(workload.model, way.indexes, way.record)
        # First what the store cannot do: where it is all of an operation, nothing of it was verified either.
        _refuse_unsupported(self._collection, layout, workload)
        _refuse_unproven(sut, self._collection, workload)
        kept = self._collection.describe().get("indexes", "0")
        if kept != str(way.indexes):
            raise EndCase(Outcome.FAIL, f"{way.indexes} secondary indexes were asked for, and the store says it has {kept}")
        self._measuring = Measuring(way, layout, scale, sut.seed, self._engines(), self._ceilings, sut.options.corpus.article_store)
        sut.progress(f"{way.name}: loading and warming up")
        self._measuring.prepare()

    def _run_round(self) -> None:
        assert self._measuring is not None
        self.sut.progress(f"{self._way.name}: round {len(self._measuring.rounds) + 1} of {self.sut.scale.performance.rounds}")
        self._measuring.run_round()


class Interleaved:
    """The measuring of a run: one way after the other, and the load engines with their connections, which last from way to way."""

    def __init__(self, ceilings: Ceilings, waiting: Callable[[str], Sequence[StoreUnderTest]]) -> None:
        """
        Args:
            waiting: by the id of a case the trials that have it before them.
        """
        self._ceilings = ceilings
        self._waiting = waiting
        self._engines: dict[StoreUnderTest, tuple[object, Engines]] = {}
        self._way: Way | None = None
        self._turns: dict[StoreUnderTest, Turns] = {}

    def turns(self, way: Way, sut: StoreUnderTest) -> Turns:
        """Those of one store, whose case closes them: measured with those of the others, if they were not yet."""
        if way is not self._way or sut not in self._turns:
            self._measure(way, (sut, *self._waiting(way.case)))
        return self._turns.pop(sut)

    def close(self) -> None:
        """Remove what is left, and end all connections."""
        for _address, engines in self._engines.values():  # first of all: nobody writes to what is being removed
            engines.close()
        self._engines.clear()
        self._clear()

    def _measure(self, way: Way, suts: Sequence[StoreUnderTest]) -> None:
        self._clear()
        self._way = way
        for sut in suts:
            self._turns[sut] = Turns(way, sut, partial(self._engines_of, sut), self._ceilings)
            self._turns[sut].prepare()
        first = suts[0]
        for number in range(first.scale.performance.rounds):
            block = list(self._turns.values())
            Random(f"{first.seed}:{way.name}:{number}").shuffle(block)
            for turns in block:
                turns.run_round()
        sound = [turns for turns in self._turns.values() if turns.sound]
        for turns in sound:
            turns.beside = tuple(other.sut.target.id for other in sound if other is not turns)

    def _clear(self) -> None:
        with ExitStack() as closing:
            for turns in self._turns.values():
                closing.callback(turns.close)
            self._turns = {}

    def _engines_of(self, sut: StoreUnderTest) -> Engines:
        """Those for the store as it runs now."""
        address = sut.shared().address
        known = self._engines.get(sut)
        if known is not None and known[0] != address:
            known[1].close()
            known = None
        if known is None:
            known = self._engines[sut] = (address, Engines(sut.target, address, sut.options.engine))
        return known[1]


def _refuse_unproven(sut: StoreUnderTest, collection: Collection, workload: Workload) -> None:
    """No speed without proof: what was not correct in this run is not measured."""
    operations = list(dict.fromkeys(called(mix) for mix in workload.mix))
    for operation in operations:
        if not supports(collection, operation):
            raise EndCase(Outcome.UNSUPPORTED, f"{operation} on {workload.model}: the store's adapter does not offer it")
    if workload.model not in sut.target.store.claims.models:  # random histories try what is claimed
        raise EndCase(Outcome.UNSUPPORTED, f"the store does not claim {workload.model}, and it is not measured")
    for operation in operations:
        if reason := sut.record.unproven(workload.model, operation):
            raise EndCase(Outcome.NOT_RUN, f"{reason}; run the correctness stage with it")


def _refuse_unsupported(collection: Collection, layout: Layout, workload: Workload) -> None:
    """A store may answer requests, and still not those of this workload: each is asked once, with stand-ins for what will be drawn."""
    for mix in workload.mix:
        if mix.request is None:
            continue
        asked = arguments_from(layout.model, mix.operation, (fill_in(mix.request, lambda _name: "word"),))
        try:
            call(collection, layout, mix.operation, *asked)
        except Unsupported as reason:
            raise EndCase(Outcome.UNSUPPORTED, f"{label(mix)}: {reason}") from None
