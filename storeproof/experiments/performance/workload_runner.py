"""One workload with one number of clients on a collection: load, warm-up, rounds, audit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from zlib import crc32

from storeproof.anatomy.meter import AnatomyMeter
from storeproof.contract import Layout
from storeproof.contract.values import Key
from storeproof.corpus.articles import articles
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.experiments.performance.benchmark_config import BenchmarkConfig
from storeproof.experiments.performance.loaded_collection import LoadedCollection
from storeproof.experiments.performance.server_cost import CostMeter
from storeproof.experiments.performance.surroundings import Surroundings
from storeproof.load.engine import Engine, Plan, RunningRound, RunResult
from storeproof.load.hosts.hosts_engine import HostsEngine
from storeproof.load.hosts.load_hosts import LoadEngines
from storeproof.load.quality.audit import Audit
from storeproof.load.quality.ceiling import Ceiling, Ceilings
from storeproof.load.quality.generator_threads import choose_threads
from storeproof.load.requests import Asked, requests
from storeproof.outcome import Lack
from storeproof.records.keys import form_of, greatest
from storeproof.records.self_verifying import payload_bytes
from storeproof.spec.scale import PerformanceScale
from storeproof.stats.steady_state import WINDOWS, warm_up


@dataclass
class WorkloadRunner:
    """Runs one workload, round by round, on a collection that is prepared and empty."""

    config: BenchmarkConfig
    layout: Layout
    scale: PerformanceScale
    seed: int
    engines: LoadEngines
    ceilings: Ceilings
    article_store: Path | None
    """Imported articles, for a model whose texts are searched."""
    collection: LoadedCollection
    """Others may run rounds on it, between these."""
    requests: tuple[Asked, ...] = ()
    """For each of the mix, what it asks."""
    most_threads: int = 1
    """That the wire engine may have."""
    threads: int = 0
    """That it has, in all measured rounds; 0: `prepare` chooses. A further lap has those of the first."""
    records: int | None = None
    """Records to preload in place of the scale's number, whatever bytes they have."""
    rounds: list[RunResult] = field(default_factory=list)
    """Rounds that are measured."""
    beside: list[Surroundings] = field(default_factory=list)
    """For each of these what there was beside its block."""
    forgotten: list[Surroundings] = field(default_factory=list)
    """The same for each round that does not count."""
    engine: Engine | None = None
    """Chosen by `prepare`."""
    engine_reason: str = ""
    """Why it is not the wire engine."""
    ceiling: Ceiling | None = None
    """The engine's ceiling, measured by `prepare`."""
    cost: CostMeter = field(default_factory=CostMeter)
    """What the measured rounds cost the server."""
    anatomy: AnatomyMeter = field(default_factory=AnatomyMeter)
    """Where its I/O goes in them, with `--anatomy`."""
    begun: bool = False
    """Whether it has put any load on."""

    @property
    def every(self) -> list[RunResult]:
        """All rounds in the collection's life."""
        return self.collection.every

    @property
    def plan(self) -> Plan:
        number = len(self.every)
        return Plan(
            layout=self.layout,
            mix=self.config.workload.mix,
            clients=self.collection.clients,
            share=tuple(range(self.config.clients)) if self.config.clients < self.collection.clients else (),
            seconds=self.scale.round_seconds,
            seed=crc32(f"{self.seed}:{self.config.name}:{number}".encode()),
            known=self.loaded,
            number=number,
            positions=self._last.positions if self._last else (),
            removed=self._last.removed if self._last else (),
            indeterminate=frozenset(indeterminate for each in self.every for indeterminate in each.indeterminate),
            requests=self.requests,
            greatest=self._greatest,
            article_store=self._article_store,
            fixed_numbers=self.engine is not None and self.engine.fixed_numbers,
            pipeline=self.config.pipeline,
            threads=self.threads or 1,
        )

    @property
    def _last(self) -> RunResult | None:
        """The round before, which says whose new keys are there; None: there was none, or no round adds or removes any."""
        return self.every[-1] if self.every and not self.config.workload.keeps_records else None

    @property
    def _article_store(self) -> Path | None:
        return self.article_store if self.layout.model.text else None

    @cached_property
    def payload_bytes(self) -> int:
        return payload_bytes(self.layout.model, article_store=self._article_store)

    @property
    def _greatest(self) -> Key | None:
        scans = any(mix.operation == "scan" for mix in self.config.workload.mix)
        return greatest(form_of(self.layout.model), self.loaded) if scans else None

    @property
    def loaded(self) -> int:
        """Records that are there before the first request: as many as the workload says itself, or the command line, or the scale."""
        if not self.config.workload.preload:
            return 0
        asked = self.config.workload.preload_records or self.records
        return asked or min(self.scale.records, self.scale.data_bytes // self.payload_bytes)

    @property
    def corpus(self) -> str | None:
        """Origin of the articles, if the model has texts."""
        return articles(self._article_store).name if self.layout.model.text else None

    @property
    def records_left(self) -> int:
        """Records that are there after the last round."""
        return self.loaded + self._added

    @property
    def _added(self) -> int:
        return sum(self._last.positions) - sum(self._last.removed) if self._last else 0

    @property
    def _round_seconds(self) -> float:
        """As the scale says, or less where what is inserted meanwhile would come to more than it allows, also if rounds are run again."""
        added = self._added
        if added <= 0:
            return self.scale.round_seconds
        rate = added / sum(each.elapsed_seconds for each in self.every)
        share = self.scale.data_bytes / (self.scale.rounds.at_most + len(self.forgotten)) / self.payload_bytes
        return min(self.scale.round_seconds, share / rate)

    def prepare(self) -> None:
        """Load the data and warm up. Raises `NotAvailable`: the articles have nothing that the workload could ask for, the engine that is
        wanted cannot do it, or none can that has several requests of a client in flight."""
        model, plan = self.layout.model, self.plan
        if any(mix.request is not None for mix in plan.mix):
            texts = articles(plan.article_store)
            self.requests = tuple(requests(model, mix, texts, plan.known) for mix in plan.mix)
        self.engine, self.engine_reason = self.engines.choose(self.plan)
        if plan.pipeline > 1 and self.engine.name == "driver":
            reason = f"the store's client has one request in flight, and {self.engine_reason or 'no other engine was wanted'}"
            raise NotAvailable(reason, lack=Lack.ENGINE)
        self.ceiling = self._ceiling_of(self.engine, self.plan)
        if self.collection.filled_for is None and self.config.workload.preload:
            self.engine.fill(self.layout, self.loaded, plan.article_store, self.engine.fixed_numbers)
        self.collection.fill_for(self.engine.name)
        # In a closed loop in any case: the store then has done all that it does the first time it is asked to.
        warm_up(lambda seconds: _require_answers(self._run(seconds)).throughput, *self.scale.warm_up_seconds)
        if not self.threads:
            self.threads = self._choose_threads(self.engine) if self.engine.name == "wire" else 1
        if self.threads > 1:
            self.ceiling = self._ceiling_of(self.engine, self.plan)

    def _choose_threads(self, engine: Engine) -> int:
        def ceiling(threads: int) -> float | None:
            return self._ceiling_of(engine, replace(self.plan, threads=threads)).rate

        def run(threads: int) -> RunResult:
            self.threads = threads
            return self._run(self.scale.round_warm_up_seconds)

        return choose_threads(
            self.every[-WINDOWS:],
            run,
            ceiling,
            at_most=min(self.most_threads, self.config.clients),
            pipeline=self.config.pipeline,
            offered=self.config.rate,
        )

    def _ceiling_of(self, engine: Engine, plan: Plan) -> Ceiling:
        return engine.ceiling(plan) if isinstance(engine, HostsEngine) else self.ceilings.of(engine, plan)

    def run_round(self) -> None:
        """One that is measured, after a warm-up that is not, and in which, in an open loop, nothing may be due."""
        self._run(self.scale.round_warm_up_seconds, self.config.rate)
        with self.anatomy.measured_round(), self.cost.measured_round():
            found = self._run(self._round_seconds, self.config.rate)
        self.keep(found)

    def forget_round(self, beside: Surroundings) -> None:
        """The last measured one does not count, for what there was beside its block, and is run again."""
        self.rounds.pop()
        self.cost.forget_round()
        self.anatomy.forget_round()
        self.forgotten.append(beside)

    def start(self, seconds: float, rate: float = 0.0, start_ns: int = 0) -> RunningRound:
        """Begin a round, which `end` waits for before the next one begins. `rate` and `start_ns`: see `Plan`."""
        assert self.engine is not None
        self.begun = True
        return self.engine.start(replace(self.plan, seconds=seconds, rate=rate, start_ns=start_ns))

    def end(self, run: RunningRound) -> RunResult:
        """Wait for the end of a round. Raises as `RunningRound.join`."""
        result = run.join()
        self.every.append(result)
        return result

    def keep(self, found: RunResult) -> None:
        """Count a round among the measured ones."""
        self.rounds.append(_require_answers(found))

    def audit(self) -> Audit:
        """Read the data back. The rounds are over, also those of others. Raises as `audit`."""
        self.cost.end()
        return self.collection.audit(self.plan, self.seed)

    def _run(self, seconds: float, rate: float = 0.0) -> RunResult:
        return self.end(self.start(seconds, rate))


def _require_answers(result: RunResult) -> RunResult:
    if not (result.ok or result.misses or result.errors):
        raise MachineFailed("not one request was answered in a round, and none failed", "repeat the run on a machine that is not busy")
    assert result.ok, f"of {result.misses} loaded records that were asked for, none was found"
    return result
