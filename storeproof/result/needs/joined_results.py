"""What several results show of one store and variant, joined where they are of one server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from storeproof.outcome import Outcome
from storeproof.result.compare import Side
from storeproof.result.json_file import digest_of
from storeproof.result.machine import Environment
from storeproof.result.model import GuaranteeRecord, OutcomeRecord, Result, StoreResult
from storeproof.result.needs.bounds import struck_by
from storeproof.result.needs.servers import of_one_server, preference
from storeproof.spec import Spec, Store
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import LevelClaim
from storeproof.spec.store import Topology

NO_EVIDENCE = (Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.INCONCLUSIVE, Outcome.ERROR)
"""Outcomes that say nothing about the store: an earlier result may say more."""


@dataclass(frozen=True)
class ReadResult:
    """A result, and the file that it was read from."""

    path: Path
    result: Result
    known_digest: str = ""
    """The SHA-256 of its content, where an index has it."""

    @cached_property
    def digest(self) -> str:
        return self.known_digest or digest_of(self.path)


@dataclass(frozen=True)
class JoinedPart:
    """One store of one result."""

    read: ReadResult
    side: Side

    @property
    def store(self) -> StoreResult:
        return self.side.store

    @property
    def run(self) -> str:
        return self.side.result.run.id

    @property
    def environment(self) -> Environment:
        return self.side.result.environment

    @cached_property
    def cases(self) -> Mapping[str, OutcomeRecord]:
        """The outcomes that say something about the store, by case id."""
        return {each.id: each for each in self.store.outcomes if each.outcome not in NO_EVIDENCE}


@dataclass(frozen=True)
class Evidence:
    """All that is known of one store and variant."""

    target: str
    """`store:variant`."""
    title: str
    sources: tuple[JoinedPart, ...]
    """The preferred first; all of one server."""
    left_out: tuple[str, ...] = ()
    """Results that were not joined, each with the reason."""
    models: frozenset[str] | None = None
    """Models that the store's file claims; None where the project has no file of it."""
    levels: Mapping[Isolation, LevelClaim] | None = None
    """What the store's file claims of its isolation levels; None where the project has no file of the store, or none of the variant."""
    topology: Topology | None = None
    """The cluster that it runs as; None of one server, and where the project has no file of the variant."""

    @property
    def version(self) -> str:
        return self.sources[0].store.product

    def case(self, name: str) -> tuple[JoinedPart, OutcomeRecord] | None:
        """Of a case, the outcome in the preferred result that says something."""
        return next(((source, found) for source in self.sources if (found := source.cases.get(name)) is not None), None)

    def struck(self, fault: str) -> tuple[JoinedPart, GuaranteeRecord] | None:
        """What a fault did, in the preferred result in which it struck at all; `fault`: the guarantee that it tests."""
        found = ((source, struck_by(source.store.durability.guarantees, fault)) for source in self.sources)
        return next(((source, record) for source, record in found if record is not None), None)


def join(results: Iterable[ReadResult], spec: Spec) -> dict[str, Evidence]:
    """The evidence for each store and variant whose server was reached, by `store:variant`, in the order of their names."""
    found: dict[str, list[JoinedPart]] = {}
    for read in sorted(results, key=lambda each: preference(each.result), reverse=True):
        for store in read.result.stores:
            side = Side(read.result, store)
            found.setdefault(side.name, []).append(JoinedPart(read, side))
    files = {name: spec.store(name)[0] for name in {target.partition(":")[0] for target in found} & spec.store_files.keys()}
    joined = (_of_one_server(target, sources, files.get(target.partition(":")[0])) for target, sources in sorted(found.items()))
    return {each.target: each for each in joined if each.sources}


def _of_one_server(target: str, sources: Sequence[JoinedPart], file: Store | None) -> Evidence:
    kept, others = of_one_server(sources, file)
    left_out = tuple(f"run {each.run} of {each.side.result.run.started[:10]}: {why}" for each, why in others)
    models = None if file is None else frozenset(file.claims.models)
    variant = sources[0].store.variant
    if file is None or variant not in file.variants:
        return Evidence(target, sources[0].store.title, tuple(kept), left_out, models)
    topology = file.topologies.get(file.variants[variant].topology or "")
    return Evidence(target, sources[0].store.title, tuple(kept), left_out, models, file.levels_of(variant), topology)
