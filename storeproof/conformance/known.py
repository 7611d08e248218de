"""What a claim is held against: the edition of this installation, and the files that judge in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import storeproof
from storeproof.conformance.expected_cases import ExpectedCase, expected_cases
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.result.model import EditionUsed
from storeproof.result.sources import digests, digests_of_run, sources_of
from storeproof.spec import Scale, Spec, Target, load_spec


@dataclass(frozen=True)
class Known:
    """The specification that a claim is judged by, and the digests of what may have judged."""

    spec: Spec
    storeproof: str
    """The version of storeproof."""
    of_run: Mapping[str, str]
    """SHA-256 of the machinery, the suites and the compiled part, by name."""

    @classmethod
    def here(cls) -> Known:
        """This installation."""
        return cls(load_spec(), storeproof.__version__, digests_of_run())

    @cached_property
    def edition(self) -> EditionUsed:
        """As a result names it."""
        return EditionUsed(version=self.spec.edition.version, hash=self.spec.edition.hash)

    def scale(self, name: str) -> Scale:
        """Raises `ClaimRefused`: there is none of this name."""
        if name not in self.spec.scales:
            raise ClaimRefused(Reason.RUN, f"there is no scale {name[:20]!r}")
        return self.spec.scales[name]

    def cases(self, scale: Scale, target: Target) -> dict[str, ExpectedCase]:
        """Those that a run of the store at this scale has."""
        return expected_cases(self.spec, scale, composite=bool(target.parts))

    def target(self, store: str, variant: str) -> Target:
        """A store of the project.

        Raises:
            ClaimRefused: there is none of this name, or it has no such variant.
        """
        if store not in self.spec.store_files:
            raise ClaimRefused(Reason.STORE_FILE, f"{in_one_line(store, 40)} is no store of the project, and the bundle has no file of it")
        return self._target(store, variant)

    def own_target(self, file: Path, variant: str) -> Target:
        """A store that a vendor's file describes. Raises as `target` does, and where the file has errors."""
        return self._target(str(file), variant)

    def _target(self, named: str, variant: str) -> Target:
        try:
            store, file = self.spec.store(named)
            parts = self.spec.parts_of(store, file)
        except UsageError as reason:
            raise ClaimRefused(Reason.STORE_FILE, in_one_line(str(reason))) from None
        if variant not in store.variants:
            raise ClaimRefused(Reason.STORE_FILE, f"{store.name} has no variant {in_one_line(variant, 40)}")
        return Target(store, variant, file, parts)

    def sources(self, target: Target) -> Mapping[str, str]:
        """SHA-256 of what judges a store here, by name. Raises `OSError`: a file is not here."""
        return digests(sources_of(target))
