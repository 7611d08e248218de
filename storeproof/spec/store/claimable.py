"""What a store's file may name: capabilities, models and cases of an edition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from storeproof.errors import SpecError
from storeproof.spec.capability import Capability
from storeproof.spec.cases import CaseIds
from storeproof.spec.reading.explain import unknown
from storeproof.spec.reading.source import at
from storeproof.spec.store.store import Store


@dataclass(frozen=True)
class Claimable:
    capabilities: Mapping[str, Capability]
    """By full name, `group.capability`."""
    models: Collection[str]
    cases: CaseIds

    def check(self, store: Store, path: Path) -> None:
        """Raises `SpecError`: the store's file, at the path, names something else."""
        stated = store.claims.capabilities
        claims: list[tuple[str, ...]] = [("claims", "capabilities", name) for name in stated]
        for variant, described in store.variants.items():
            claims += [("variants", variant, "capabilities", name) for name in described.capabilities]
        problems = [
            f"{at(path, *place)}: {unknown('capability', place[-1], known)}"
            for place in claims
            if (known := self._like(place[-1])) is not None
        ]
        problems += [
            f"{at(path, 'claims', 'models', position)}: {unknown('model', name, self.models)}"
            for position, name in enumerate(store.claims.models)
            if name not in self.models
        ]
        problems += [
            f"{at(path, 'known_failures', case)}: {wrong}" for case in store.known_failures if (wrong := self.cases.wrong(case)) is not None
        ]
        if problems:
            raise SpecError(problems)

    def asked(self, store: Store, draft: Callable[[], Claimable] | None) -> Store:
        """The store as a frozen edition sees it: without what its file says about demands that came after the edition.

        Args:
            store: as its file describes it.
            draft: the names of the draft; it is read only where a name is unknown. None: all of them are the draft's, as in the project's
                own files.
        """
        claims, variants = store.claims, store.variants
        stated = {*claims.capabilities, *(name for each in variants.values() for name in each.capabilities)}
        capabilities = {name for name in stated if self._like(name) is not None}
        models = {name for name in claims.models if name not in self.models}
        cases = {case for case in store.known_failures if case not in self.cases}
        if not (capabilities or models or cases):
            return store
        if draft is not None:
            later = draft()
            capabilities = {name for name in capabilities if later._like(name) is None}
            models = {name for name in models if name in later.models}
            cases = {case for case in cases if case in later.cases}

        def kept(claimed: Mapping[str, bool]) -> dict[str, bool]:
            return {name: claim for name, claim in claimed.items() if name not in capabilities}

        asked = {"models": tuple(name for name in claims.models if name not in models), "capabilities": kept(claims.capabilities)}
        return store.model_copy(
            update={
                "claims": claims.model_copy(update=asked),
                "variants": {name: each.model_copy(update={"capabilities": kept(each.capabilities)}) for name, each in variants.items()},
                "known_failures": {case: known for case, known in store.known_failures.items() if case not in cases},
            }
        )

    @cached_property
    def _groups(self) -> Collection[str]:
        return {name.partition(".")[0] for name in self.capabilities}

    def _like(self, claimed: str) -> Iterable[str] | None:
        """Valid claims in place of an unknown one: cases, capabilities or groups; None if it exists."""
        capability, slash, _ = claimed.partition("/")
        if slash and capability in self.capabilities:
            cases = [f"{capability}/{case.id}" for case in self.capabilities[capability].cases]
            return None if claimed in cases else cases
        group, dot, _ = claimed.partition(".")
        if claimed in self.capabilities or claimed in self._groups:
            return None
        return [name for name in self.capabilities if name.startswith(f"{group}.")] if dot and group in self._groups else self._groups
