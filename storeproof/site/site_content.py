"""All that a site shows, before it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from storeproof.errors import UsageError
from storeproof.report.parts.roles import profiles_in
from storeproof.result.needs.decision import Decision
from storeproof.site.answers import SiteAnswer, answers_of
from storeproof.site.isolation_levels import LevelShown, levels_of
from storeproof.site.joined_results import SiteVariant, join
from storeproof.site.paced import PacedTimes, paced_times
from storeproof.site.sources import SourceResult
from storeproof.site.speeds import SpeedTable, speed_tables, widest
from storeproof.spec import Capability, CapabilityGroup, Spec, Store
from storeproof.spec.editions.dispute import Dispute, read_disputes
from storeproof.spec.reading.source import read

_CAPABILITY: Final = re.compile(r"\s*- capability: (\S+)\s*")


@dataclass(frozen=True)
class YamlLine:
    text: str
    capability: str
    """The capability that begins here, without its group; empty in all other lines."""


@dataclass(frozen=True)
class CapabilityFile:
    name: str
    title: str
    file: str
    lines: tuple[YamlLine, ...]


def read_groups(root: Path) -> Mapping[str, CapabilityFile]:
    """All groups under the root of a specification, by name. Raises `SpecError`: a file breaks a rule."""
    groups = {}
    for path in sorted((root / "capabilities").glob("*.yaml")):
        found = read(path, CapabilityGroup)
        groups[found.group] = CapabilityFile(
            found.group, found.title, f"spec/capabilities/{path.name}", _lines(path.read_text(encoding="utf-8"))
        )
    return groups


def _lines(text: str) -> tuple[YamlLine, ...]:
    found = []
    for line in text.splitlines():
        match = _CAPABILITY.fullmatch(line)
        found.append(YamlLine(line, match[1] if match else ""))
    return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)  # in words it would be gigabytes, which pytest makes of what a failed test was given
class SiteContent:
    """Results joined, with the specification that explains them."""

    sources: Sequence[SourceResult]
    """The preferred ones first."""
    variants: Sequence[SiteVariant]
    spec: Spec
    groups: Mapping[str, CapabilityFile]
    tables: Sequence[SpeedTable]
    stores: Mapping[str, Store]
    """The files of the stores that occur, where the specification has them."""
    decisions: Sequence[Decision] = ()
    """On the same results."""
    disputes: Sequence[Dispute] = ()

    @cached_property
    def main(self) -> SpeedTable | None:
        return widest(self.tables)

    @cached_property
    def paced(self) -> PacedTimes:
        return paced_times(self.sources, self.variants)

    @cached_property
    def profiles(self) -> list[str]:
        return profiles_in(each for variant in self.variants if variant.answers for each in variant.answers.store.profiles)

    @property
    def role_editions(self) -> list[str]:
        """The editions whose profiles judged the roles: those of the runs, which are not judged again."""
        return sorted({each.answers.source.result.edition.name for each in self.variants if each.roles and each.answers})

    @cached_property
    def capabilities(self) -> list[str]:
        """Capabilities in the results, in the order of the specification; capabilities that it no longer has are last."""
        found = dict.fromkeys(name for variant in self.variants for name in self.answers[variant.name])
        return [
            *(name for name in self.spec.capabilities if name in found),
            *(name for name in found if name not in self.spec.capabilities),
        ]

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, SiteAnswer]]:
        """By variant and capability; empty where none was tried."""
        return {each.name: answers_of(each.answers.store) if each.answers else {} for each in self.variants}

    @cached_property
    def levels(self) -> Mapping[str, Sequence[LevelShown]]:
        """By variant, the isolation levels that it claims or was tried at."""
        apart = {name for name, mix in self.spec.mixes.items() if mix.of_a_cluster}
        return {each.name: levels_of(each, self.stores.get(each.store), apart) for each in self.variants}

    def of_store(self, store: str) -> list[SiteVariant]:
        return [each for each in self.variants if each.store == store]

    def demand(self, capability: str) -> Capability | None:
        """What the specification says of it; None where it no longer has it."""
        return self.spec.capabilities.get(capability)

    def title(self, capability: str) -> str:
        """In plain words; its name where the specification no longer has it."""
        found = self.demand(capability)
        return found.title if found else capability


def gather(sources: Sequence[SourceResult], spec: Spec, decisions: Sequence[Decision] = ()) -> SiteContent:
    """Join results.

    Raises:
        UsageError: they hold no store.
        SpecError: a file of the specification breaks a rule.
    """
    names = {store.store for source in sources for store in source.result.stores} & spec.store_files.keys()
    stores = {name: spec.store(name)[0] for name in sorted(names)}
    variants = join(sources, stores)
    if not variants:
        raise UsageError("the results hold no store: there is nothing to show; run `pytest suites/` and give its result")
    groups, disputes = read_groups(spec.root), read_disputes(spec.root)
    return SiteContent(sources, variants, spec, groups, speed_tables(sources, variants), stores, decisions, disputes)
