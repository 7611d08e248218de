"""Freezes the draft: its demands are copied, and recorded with their hash."""

from __future__ import annotations

import datetime
import re
import shutil
from pathlib import Path

import yaml

from storeproof.errors import UsageError
from storeproof.regular_file import exists
from storeproof.spec.base import SpecFile
from storeproof.spec.edition import DEMANDS, FROZEN_PATTERN, edition_of
from storeproof.spec.editions.frozen import frozen_editions, load_edition
from storeproof.spec.editions.records import EDITIONS, FrozenEdition
from storeproof.spec.loader import Spec


def freeze(draft: Spec, name: str, storeproof: str) -> FrozenEdition:
    """Keep the demands of a draft under its root, as the edition of that name. Nothing that exists is changed.

    Args:
        draft: the specification.
        name: YEAR.MONTH, later than all frozen editions.
        storeproof: the version that freezes it.

    Raises:
        UsageError: the name is none or is taken, or the folder cannot be written.
    """
    if not re.fullmatch(FROZEN_PATTERN, name):
        raise UsageError(f"invalid name of an edition: {name!r}; allowed: YEAR.MONTH, such as 2026.12")
    frozen = frozen_editions(draft.root)
    if frozen and name <= max(frozen):
        raise UsageError(f"edition {max(frozen)} is frozen, and {name} is not later; a frozen edition stays as it is: take a later name")
    folder, record_file = draft.root / EDITIONS / name, record_path(draft.root, name)
    for path in (folder, record_file):
        if exists(path):
            raise UsageError(f"{path} exists already, and would be overwritten; take another name, or remove it")
    try:
        for demand in DEMANDS:
            (folder / demand).mkdir(parents=True)
            for path in sorted((draft.root / demand).glob("*.yaml")):
                shutil.copyfile(path, folder / demand / path.name)
        hashed = edition_of(folder, name, draft.suite_cases).hash
        record = FrozenEdition(
            format="1.0",
            edition=name,
            hash=hashed,
            frozen=datetime.datetime.now(datetime.UTC).date(),
            storeproof=storeproof,
            suite_cases=tuple(sorted(draft.suite_cases)),
        )
        write_record(record, record_file)
    except OSError as reason:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(f"{folder} cannot be written: {reason}") from None
    load_edition(name, draft.root)
    return record


def record_path(root: Path, name: str) -> Path:
    return root / EDITIONS / f"{name}.yaml"


def write_record(record: SpecFile, path: Path) -> None:
    """Write a record as YAML. Raises `OSError`; `FileExistsError` where there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        yaml.safe_dump(record.model_dump(mode="json"), file, sort_keys=False, allow_unicode=True, width=140)
