"""What a claim is held against: the editions that are known here, and the files that judge in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from pathlib import Path

import storeproof
from storeproof.conformance.archive import SOURCES, Archive
from storeproof.conformance.expected_cases import ExpectedCase, expected_cases
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.result.model import EditionUsed
from storeproof.result.sources import INSTALLED, MACHINERY, SUITES, digests, digests_of_run, project_files, sources_of
from storeproof.spec import SPEC_ROOT, Scale, Spec, Target, load_spec
from storeproof.spec.editions.dispute import Dispute, read_disputes, withdrawn_cases
from storeproof.spec.editions.frozen import EXPIRES_AFTER, frozen_editions, known_judges, load_edition
from storeproof.spec.editions.records import FrozenEdition, Judge
from storeproof.spec.reading.reader import HeldReader, reader

HERE = "this-installation"
"""As a judge."""


def judge_here(name: str = HERE) -> Judge:
    """This installation, as a judge of that name."""
    of_run = digests_of_run()
    return Judge(
        format="1.0",
        judge=name,
        storeproof=storeproof.__version__,
        machinery=of_run[MACHINERY],
        suites=of_run[SUITES],
        files=project_files(),
        reach=True,
        parts=True,
        workloads=True,
    )


_loaded = cache(load_edition)


@dataclass(frozen=True)
class KnownJudges:
    """The specification that a claim is judged by, and the digests of what may have judged."""

    spec: Spec
    """Of the draft; of another edition after `in_edition`."""
    installation: Judge
    """This installation."""
    judges: Sequence[Judge] = ()
    """Others, whose verdicts are computed again here."""
    disputes: Sequence[Dispute] = ()
    root: Path = SPEC_ROOT
    """Of the specification, with the frozen editions."""

    @classmethod
    def here(cls) -> KnownJudges:
        """This installation."""
        return cls(load_spec(), judge_here(), known_judges(), read_disputes(SPEC_ROOT))

    @cached_property
    def edition(self) -> EditionUsed:
        """As a result names it."""
        return EditionUsed(version=self.spec.edition.version, hash=self.spec.edition.hash)

    @cached_property
    def frozen(self) -> Mapping[str, FrozenEdition]:
        """The frozen editions, from the oldest on."""
        return frozen_editions(self.root)

    def in_edition(self, used: EditionUsed) -> KnownJudges:
        """The same in the edition that a claim was made in.

        Raises:
            ClaimRefused: it is not known here, is not as it was frozen, or can no longer be read.
        """
        if used == self.edition:
            return self._without_withdrawn(self.spec)
        record = self.frozen.get(used.version)
        if record is None:
            there = in_one_line(f"{used.version} ({used.hash})", 60)
            here = [*self.frozen, f"the draft {self.edition.version} ({self.edition.hash})"]
            raise ClaimRefused(Reason.EDITION, f"it is of edition {there}, and only {', '.join(here)} is known here")
        if used.hash != record.hash:
            found = in_one_line(used.hash, 20)
            raise ClaimRefused(
                Reason.EDITION, f"its edition {used.version} was edited: it has the hash {found}, and the frozen one {record.hash}"
            )
        try:
            return self._without_withdrawn(_loaded(used.version, self.root))
        except UsageError as reason:
            raise ClaimRefused(Reason.EDITION, in_one_line(str(reason))) from None

    def _without_withdrawn(self, spec: Spec) -> KnownJudges:
        """The same with a specification in which the cases do not decide that were withdrawn."""
        return replace(self, spec=replace(spec, withdrawn=withdrawn_cases(self.disputes, spec.edition.version)))

    @property
    def disputed(self) -> frozenset[str]:
        """The cases of the edition whose disputes are open."""
        return frozenset(each.case for each in self.disputes if each.case and each.state == "open" and each.concerns(self.edition.version))

    @property
    def frozen_on(self) -> date | None:
        """The day on which the edition was frozen; None for a draft."""
        return self.frozen[self.edition.version].frozen if self.spec.edition.frozen else None

    @property
    def later(self) -> list[str]:
        """The frozen editions that came after this one; none after a draft."""
        return [name for name in self.frozen if name > self.edition.version] if self.spec.edition.frozen else []

    @property
    def expired_by(self) -> str | None:
        """The frozen edition with which claims in this one expired."""
        return self.later[EXPIRES_AFTER - 1] if len(self.later) >= EXPIRES_AFTER else None

    def reading(self, archive: Archive) -> HeldReader:
        """Reads the parts of a bundle, its sources under their names in the result, and this installation; and no other file."""
        held = {name.removeprefix(SOURCES): name for name in archive.places}
        return HeldReader(held, lambda name: archive.read(held[name]), (*INSTALLED, self.root.resolve()))

    def scale(self, name: str) -> Scale:
        """Raises `ClaimRefused`: there is none of this name."""
        if name not in self.spec.scales:
            raise ClaimRefused(Reason.RUN, f"there is no scale {name[:20]!r}")
        return self.spec.scales[name]

    def cases(self, scale: Scale, target: Target) -> dict[str, ExpectedCase]:
        """Those that a run of the store at this scale has."""
        return expected_cases(self.spec, scale, composite=bool(target.parts))

    def with_stores(self, folder: Path) -> KnownJudges:
        """The same with the project's store files of another release, which are in a folder."""
        files = {path.stem: path for path in reader().listed(folder)}
        return replace(self, spec=replace(self.spec, store_files=files, bases=folder))

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
