"""What several results show of one store and variant, joined.

Results are joined where they are of the same server: its version, its settings and, where both know it, its program. The latest result says
which server that is; one of another server is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from storeproof.outcome import Outcome
from storeproof.result.compare import Side
from storeproof.result.model import OutcomeRecord, Result, StoreResult
from storeproof.spec import Spec, Store

_NO_EVIDENCE = (Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.INCONCLUSIVE, Outcome.ERROR)
"""Outcomes that say nothing about the store: an earlier result may say more."""


@dataclass(frozen=True)
class ReadResult:
    """A result, and the file that it was read from."""

    path: Path
    result: Result


@dataclass(frozen=True)
class Source:
    """One store of one result."""

    file: Path
    side: Side

    @property
    def store(self) -> StoreResult:
        """What the result says of the store."""
        return self.side.store

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.side.result.run.id

    @cached_property
    def cases(self) -> Mapping[str, OutcomeRecord]:
        """The outcomes that say something about the store, by case id."""
        return {each.id: each for each in self.store.outcomes if each.outcome not in _NO_EVIDENCE}


@dataclass(frozen=True)
class Evidence:
    """All that is known of one store and variant."""

    target: str
    """`store:variant`."""
    title: str
    sources: tuple[Source, ...]
    """The latest first; all of one server."""
    left_out: tuple[str, ...] = ()
    """Results that were not joined, each with the reason."""
    models: frozenset[str] | None = None
    """Models that the store's file claims; None where the project has no file of it."""

    @property
    def version(self) -> str:
        """As the server reports it."""
        return self.sources[0].store.version or "unknown version"

    def case(self, name: str) -> tuple[Source, OutcomeRecord] | None:
        """The latest outcome of a case that says something."""
        return next(((source, found) for source in self.sources if (found := source.cases.get(name)) is not None), None)


def join(results: Iterable[ReadResult], spec: Spec) -> dict[str, Evidence]:
    """The evidence for each store and variant, by `store:variant`, in the order of their names."""
    found: dict[str, list[Source]] = {}
    for read in sorted(results, key=lambda each: each.result.run.started, reverse=True):
        for store in read.result.stores:
            side = Side(read.result, store)
            found.setdefault(side.name, []).append(Source(read.path, side))
    files = {name: spec.store(name)[0] for name in {target.partition(":")[0] for target in found} & spec.store_files.keys()}
    joined = (_of_one_server(target, sources, files.get(target.partition(":")[0])) for target, sources in sorted(found.items()))
    return {each.target: each for each in joined if each is not None}


def _of_one_server(target: str, sources: Sequence[Source], file: Store | None) -> Evidence | None:
    """None where no run reached the server."""
    reached = [each for each in sources if each.store.version is not None]
    if not reached:
        return None
    # The size of the cache is the scale's, so one store has several.
    ignored = frozenset({file.cache.setting}) if file is not None and file.cache is not None else frozenset[str]()
    latest, kept, left_out = reached[0], list[Source](), list[str]()
    for each in reached:
        if unlike := list(_unlike(each.store, latest.store, ignored)):
            left_out.append(f"run {each.run} of {each.side.result.run.started[:10]}: {'; '.join(unlike)}")
        else:
            kept.append(each)
    models = None if file is None else frozenset(file.claims.models)
    return Evidence(target, latest.store.title, tuple(kept), tuple(left_out), models)


def _unlike(there: StoreResult, latest: StoreResult, ignored: frozenset[str]) -> Iterator[str]:
    if there.version != latest.version:
        yield f"its version is {there.version}, not {latest.version}"
    for name in sorted({*there.settings, *latest.settings} - ignored):
        one, other = there.settings.get(name), latest.settings.get(name)
        if one != other and None not in (one, other):  # results of earlier formats list fewer settings
            yield f"its setting {name} is {one}, not {other}"
    for what, one, other in (
        ("image", there.image_digest, latest.image_digest),
        ("binary", there.binary_digest, latest.binary_digest),
    ):
        if one != other and None not in (one, other):
            yield f"it is another {what}"
