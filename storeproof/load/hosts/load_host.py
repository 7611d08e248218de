"""What one host does: its engine puts on a share of the load.

A worker of Dask keeps it as an actor, so that it stays where it was made: another worker would never carry on with it, and no load is put
on twice. Each method answers at once. What takes time goes on in a thread, and `news` says how far it is, so that a host that says nothing
is known to be gone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

from storeproof.contract.address import Address
from storeproof.contract.values import Layout
from storeproof.load.choose_engine import Engines
from storeproof.load.driver.driver_engine import usable_cores
from storeproof.load.engine import Engine, EngineName, EngineWanted, Plan, RunningRound, RunResult
from storeproof.load.quality.ceiling import Ceiling, Ceilings
from storeproof.machine.user_environment import UserEnvironment
from storeproof.spec.store import Target


@dataclass(frozen=True)
class Chosen:
    """The engine that a host chose for a plan, and why it is not the wire engine."""

    name: EngineName
    fixed_numbers: bool
    reason: str


@dataclass(frozen=True)
class Ran:
    result: RunResult
    begins_ns: int
    """When the load begins, in nanoseconds of the host's monotonic clock."""


@dataclass(frozen=True)
class News:
    """What a host says of the order that it got last."""

    done: bool
    found: Chosen | Ceiling | Ran | None = None
    """The result, once it is done."""
    failure: Exception | None = None
    """What it ended with instead."""


class LoadHost:
    def __init__(self, target: Target, address: Address, wanted: EngineWanted) -> None:
        """Raises `NotAvailable`: the wanted engine is not on this host."""
        self._environment = UserEnvironment()  # of the user who started the worker
        self._environment.hide()
        self._engines = Engines(target, address, wanted)
        self._ceilings = Ceilings()
        self._engine: Engine | None = None
        self._run: RunningRound | None = None
        self._at_work = ThreadPoolExecutor(1)
        self._ordered: Future[Chosen | Ceiling | Ran | None] | None = None

    def clock(self) -> int:
        """This host's monotonic clock, in nanoseconds."""
        return monotonic_ns()

    def cores(self) -> int:
        return usable_cores()

    def choose(self, plan: Plan) -> None:
        """Begin to choose the engine of a plan: a `Chosen`."""
        self._begin(lambda: self._choose(plan))

    def fill(self, layout: Layout, records: int, article_store: Path | None, fixed_numbers: bool) -> None:
        """Begin to write the records 0 to records - 1: None."""
        self._begin(lambda: self._chosen.fill(layout, records, article_store, fixed_numbers))

    def ceiling(self, plan: Plan) -> None:
        """Begin to measure what its engine reaches against a server that does nothing: a `Ceiling`."""
        self._begin(lambda: self._ceilings.of(self._chosen, plan))

    def go(self, plan: Plan) -> None:
        """Begin its share of a round: a `Ran`."""
        self._run = None
        self._begin(lambda: self._go(plan))

    def news(self) -> News:
        ordered = self._ordered
        if ordered is None:
            return News(done=True)
        if not ordered.done():
            return News(done=False)
        failure = ordered.exception()
        if failure is None:
            return News(done=True, found=ordered.result())
        if not isinstance(failure, Exception):
            raise failure
        return News(done=True, failure=failure)

    def stop(self) -> None:
        """End the round before its deadline."""
        if self._run is not None:
            self._run.stop()

    def close(self) -> None:
        self.stop()
        self._engines.close()
        self._ceilings.close()
        self._environment.show()

    def _begin(self, work: Callable[[], Chosen | Ceiling | Ran | None]) -> None:
        self._ordered = self._at_work.submit(work)

    @property
    def _chosen(self) -> Engine:
        assert self._engine is not None, "an engine is chosen first"
        return self._engine

    def _choose(self, plan: Plan) -> Chosen:
        self._engine, reason = self._engines.choose(plan)
        return Chosen(self._engine.name, self._engine.fixed_numbers, reason)

    def _go(self, plan: Plan) -> Ran:
        run = self._run = self._chosen.start(plan)
        return Ran(run.join(), run.begins_ns)
