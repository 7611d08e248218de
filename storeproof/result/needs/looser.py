"""Looser alternatives of a need. Profiles say which capabilities stand for one demand, the strictest first: what a profile takes instead of
a capability, a reader may take too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from storeproof.result.needs.need import Need, title_of
from storeproof.spec import Spec
from storeproof.spec.profile import AnyOf


@dataclass(frozen=True)
class Looser:
    """A need in place of another, with which some candidates would meet all."""

    need: Need
    instead: Need
    """What they meet in its place."""
    candidates: tuple[str, ...]


def looser_needs(need: Need, spec: Spec) -> Iterator[Need]:
    """What could stand in place of a need, the strictest first: nothing where no profile has an alternative to it."""
    for name in dict.fromkeys(_after(need, spec)):
        yield replace(need, name=name, alternatives=(name,), capabilities=((name,),), title=title_of((name,), spec))


def _after(need: Need, spec: Spec) -> Iterator[str]:
    for profile in spec.profiles.values():
        for wanted in profile.capabilities:
            if isinstance(wanted, AnyOf) and set(need.alternatives) & set(wanted.any_of):
                loosest = max(wanted.any_of.index(name) for name in need.alternatives if name in wanted.any_of)
                yield from wanted.any_of[loosest + 1 :]
