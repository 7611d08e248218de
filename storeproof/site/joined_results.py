"""Joins results: for each variant the results of one server, and of these the preferred one on capabilities, on each fault and on outages.

Nothing is taken from another variant or another server: each part keeps the result that it is from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storeproof.report.parts.losses import Loss, losses_of
from storeproof.report.parts.roles import ProfileAnswer, role_of
from storeproof.result.model import Durability, StoreResult
from storeproof.result.needs.servers import of_one_server, tried
from storeproof.site.sources import SourceResult
from storeproof.spec import Store


@dataclass(frozen=True, eq=False)
class JoinedResult:
    source: SourceResult
    store: StoreResult

    @property
    def tried(self) -> int:
        return tried(self.store)


@dataclass(frozen=True, eq=False)
class SiteVariant:
    """All that the results say of one store in one variant."""

    store: str
    variant: str
    found: tuple[JoinedResult, ...]
    """The results that hold it, the preferred ones first."""
    joined: tuple[JoinedResult, ...]
    """Those of one server; all of them where it was never reached."""
    left_out: tuple[tuple[JoinedResult, str], ...]
    """Those of other servers, each with the reason."""
    answers: JoinedResult | None
    """The result that its capabilities and roles are from; None where none was tried."""
    losses: Mapping[str, tuple[Loss, JoinedResult]]
    """By guarantee, of the faults that struck: from the result that its capabilities are from, where they struck there, so that a row is
    of one run as far as it can be."""
    outages: JoinedResult | None
    """The result that has its outages."""

    @property
    def name(self) -> str:
        return f"{self.store}:{self.variant}"

    @property
    def best(self) -> JoinedResult:
        """The result that says most of what it is: that of its capabilities, else the preferred one."""
        return self.answers or self.joined[0]

    @property
    def title(self) -> str:
        return self.best.store.title

    @property
    def version(self) -> str | None:
        """As the server reported it; None if it was never reached."""
        return self.best.store.version

    @property
    def product(self) -> str:
        return self.best.store.product

    @property
    def kept(self) -> JoinedResult:
        """The result that says which guarantee was proven: of those in which a fault struck the one of its capabilities, else the preferred
        one; where none struck, the one of its capabilities."""
        return next((each for each in _first(self.answers, self.joined) if losses_of(each.store)), self.best)

    @property
    def durability(self) -> Durability:
        """What it claims, and what was proven."""
        return self.kept.store.durability

    @property
    def roles(self) -> dict[str, ProfileAnswer]:
        return {each.profile: role_of(each) for each in self.answers.store.profiles} if self.answers else {}

    @property
    def measured(self) -> list[JoinedResult]:
        return [each for each in self.found if each.store.measurements]


def join(sources: Sequence[SourceResult], stores: Mapping[str, Store]) -> list[SiteVariant]:
    """All variants, those with capabilities first, in the order of the sources, which are in their order of preference.

    `stores`: the files of the stores, by name.
    """
    found: dict[tuple[str, str], list[JoinedResult]] = {}
    for source in sources:
        for store in source.result.stores:
            found.setdefault((store.store, store.configuration), []).append(JoinedResult(source, store))
    variants = [_variant(store, variant, each, stores.get(store)) for (store, variant), each in found.items()]
    return sorted(variants, key=lambda each: each.answers is None)


def _variant(store: str, variant: str, found: Sequence[JoinedResult], file: Store | None) -> SiteVariant:
    kept, left_out = of_one_server(found, file)
    joined = kept or found
    answers = _answers(joined)
    losses: dict[str, tuple[Loss, JoinedResult]] = {}
    for each in _first(answers, joined):
        for guarantee, loss in losses_of(each.store).items():
            losses.setdefault(guarantee, (loss, each))
    outages = next((each for each in joined if each.store.outages), None)
    return SiteVariant(store, variant, tuple(found), tuple(joined), tuple(left_out), answers, losses, outages)


def _first(answers: JoinedResult | None, joined: Iterable[JoinedResult]) -> list[JoinedResult]:
    return [*([answers] if answers else []), *(each for each in joined if each is not answers)]


def _answers(found: Iterable[JoinedResult]) -> JoinedResult | None:
    """A run of a few cases does not hide one of all: the first that tried half of its capabilities, else the one that tried most."""
    some = [each for each in found if each.tried]
    whole = next((each for each in some if 2 * each.tried >= len(each.store.capabilities)), None)
    return whole or max(some, key=lambda each: each.tried, default=None)
