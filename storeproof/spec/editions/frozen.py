"""Reads frozen editions, which are kept beside the draft, and makes sure that they are as they were frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from storeproof.errors import SpecError, UsageError
from storeproof.spec import loader
from storeproof.spec.cases import suite_cases
from storeproof.spec.edition import VERSION, edition_of
from storeproof.spec.editions.dispute import read_disputes, withdrawn_cases
from storeproof.spec.editions.records import EDITIONS, JUDGES, FrozenEdition, Judge, read_records
from storeproof.spec.loader import Spec, load_spec, shipped

EXPIRES_AFTER = 2
"""Frozen editions after its own, the last of which makes a claim expire."""

_SHOWN = 3
_GENERATED = ("articles", "essays")
"""Datasets from which the suites generate records: those of this release."""


def frozen_editions(root: Path | None = None) -> Mapping[str, FrozenEdition]:
    """The records of all frozen editions, from the oldest on. `root`: of the specification (default: this installation's).
    Raises `SpecError`: a record breaks a rule, or is not called as its edition."""
    return {each.edition: each for each in read_records((root or loader.SPEC_ROOT) / EDITIONS, FrozenEdition, "edition")}


def known_judges(root: Path | None = None) -> Sequence[Judge]:
    """All known judges. Raises as `frozen_editions` does."""
    return read_records((root or loader.SPEC_ROOT) / JUDGES, Judge, "judge")


def load_edition(name: str, root: Path | None = None) -> Spec:
    """A frozen edition, with the store files of this installation; or the draft, by its version.
    Raises `UsageError`: there is none of this name, it was edited, or this release cannot read it."""
    root = root or loader.SPEC_ROOT
    if name == VERSION:
        return load_spec(root)
    records = frozen_editions(root)
    if name not in records:
        known = f"known: {', '.join(records)}" if records else "none is frozen yet"
        raise UsageError(f"unknown edition `{name}`; {known}; the draft of this installation is {VERSION}, the default")
    record, folder = records[name], root / EDITIONS / name
    found = edition_of(folder, name, record.suite_cases)
    if found.hash != record.hash:
        raise UsageError(
            f"edition {name} was changed after it was frozen: {folder} has the hash {found.hash}, and its record {record.hash}; "
            "restore the folder, or install storeproof again"
        )
    try:
        spec = load_spec(folder, edition=found, suite_cases=frozenset(record.suite_cases), stores=root / "stores")
        return replace(spec, withdrawn=withdrawn_cases(read_disputes(root), name))
    except SpecError as breach:
        raise UsageError(_cannot(record, f"{len(breach.problems)} of its demands cannot be read, such as {breach.problems[0]}")) from None


def edition_to_try(name: str | None) -> Spec:
    """The edition that a run judges by: a frozen one, of which the suites of this release can try all; without a name the draft.
    Raises `UsageError`: there is none of this name, or the suites no longer have all of its cases, or have other texts."""
    if name is None:
        return shipped()
    spec = load_edition(name)
    if not spec.edition.frozen:
        return spec
    record = frozen_editions()[name]
    if gone := sorted(spec.suite_cases - suite_cases(spec.capabilities, spec.models, spec.scaling, spec.mixes)):
        raise UsageError(_cannot(record, f"the suites no longer have {len(gone)} of its cases, such as {', '.join(gone[:_SHOWN])}"))
    for dataset in _GENERATED:
        own, here = (folder / "datasets" / f"{dataset}.yaml" for folder in (spec.root, loader.SPEC_ROOT))
        if own.exists() and (not here.exists() or own.read_bytes() != here.read_bytes()):
            raise UsageError(_cannot(record, f"its records are generated from the dataset `{dataset}`, which has changed"))
    return spec


def _cannot(record: FrozenEdition, why: str) -> str:
    return f"storeproof cannot try edition {record.edition}: {why}; use storeproof {record.storeproof}, which froze it, or a later edition"
