"""Joins results: for each variant the preferred result on capabilities, on each fault, on outages, and all results with its speed.

Nothing is taken from another variant or another version without saying so: each part keeps the result that it is from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storeproof.outcome import IDLE
from storeproof.result.model import Durability, StoreResult
from storeproof.report.parts.losses import Loss, losses_of
from storeproof.report.parts.roles import Role, role_of
from storeproof.site.sources import Source


@dataclass(frozen=True, eq=False)
class Found:
    """One variant in one result."""

    source: Source
    store: StoreResult

    @property
    def tried(self) -> int:
        """Capabilities of which a case ran."""
        return sum(each.outcome not in IDLE for each in self.store.capabilities)


@dataclass(frozen=True, eq=False)
class Variant:
    """All that the results say of one store in one variant."""

    store: str
    variant: str
    found: tuple[Found, ...]
    """The results that hold it, the preferred ones first."""
    answers: Found | None
    """The result that its capabilities and roles are from; None where none was tried."""
    losses: Mapping[str, tuple[Loss, Found]]
    """By guarantee, of the faults that struck."""
    outages: Found | None
    """The result that has its outages."""

    @property
    def name(self) -> str:
        """`store:variant`."""
        return f"{self.store}:{self.variant}"

    @property
    def best(self) -> Found:
        """The result that says most of what it is: that of its capabilities, else the preferred one."""
        return self.answers or self.found[0]

    @property
    def title(self) -> str:
        """The product's name."""
        return self.best.store.title

    @property
    def version(self) -> str | None:
        """As the server reported it; None if it was never reached."""
        return self.best.store.version

    @property
    def kept(self) -> Found:
        """The result that says which guarantee was proven: the preferred one in which a fault struck, else that of its capabilities."""
        return next((each for each in self.found if losses_of(each.store)), self.best)

    @property
    def durability(self) -> Durability:
        """What it claims, and what was proven."""
        return self.kept.store.durability

    @property
    def roles(self) -> dict[str, Role]:
        """By profile."""
        return {each.profile: role_of(each) for each in self.answers.store.profiles} if self.answers else {}

    @property
    def measured(self) -> list[Found]:
        """The results that have its speed."""
        return [each for each in self.found if each.store.measurements]


def join(sources: Sequence[Source]) -> list[Variant]:
    """All variants, those with capabilities first, in the order of the sources, which are in their order of preference."""
    found: dict[tuple[str, str], list[Found]] = {}
    for source in sources:
        for store in source.result.stores:
            found.setdefault((store.store, store.variant), []).append(Found(source, store))
    variants = [_variant(store, variant, tuple(each)) for (store, variant), each in found.items()]
    return sorted(variants, key=lambda each: each.answers is None)


def _variant(store: str, variant: str, found: tuple[Found, ...]) -> Variant:
    losses: dict[str, tuple[Loss, Found]] = {}
    for each in found:
        for guarantee, loss in losses_of(each.store).items():
            losses.setdefault(guarantee, (loss, each))
    outages = next((each for each in found if each.store.outages), None)
    return Variant(store, variant, found, _answers(found), losses, outages)


def _answers(found: Iterable[Found]) -> Found | None:
    """A run of a few cases does not hide one of all: the first that tried half of its capabilities, else the one that tried most."""
    tried = [each for each in found if each.tried]
    whole = next((each for each in tried if 2 * each.tried >= len(each.store.capabilities)), None)
    return whole or max(tried, key=lambda each: each.tried, default=None)
