"""Records of frozen editions and of known judges. They demand nothing of a store."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import Field, Strict, StringConstraints

from storeproof.errors import SpecError
from storeproof.spec.base import Name, SpecFile
from storeproof.spec.edition import FROZEN_PATTERN
from storeproof.spec.reading.source import at, read

FrozenName = Annotated[str, StringConstraints(pattern=FROZEN_PATTERN)]
Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]

EDITIONS: Final = "editions"
"""The folder of the records; the demands of an edition are in a folder of its name beside its record."""
JUDGES: Final = "judges"

R = TypeVar("R", bound=SpecFile)


class FrozenEdition(SpecFile):
    """One frozen edition: `editions/NAME.yaml`, with its demands in `editions/NAME/`."""

    edition: FrozenName
    """Its name, YEAR.MONTH."""
    hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
    """Of its demands and its suite cases: an edition that was edited is refused."""
    frozen: Annotated[datetime.date, Strict(False)]
    """The day on which it was frozen."""
    storeproof: str
    """The release that froze it, which can run all of its cases."""
    suite_cases: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
    """The ids of the cases that the suites defined by themselves when it was frozen."""


class Judge(SpecFile):
    """An installation of storeproof whose verdicts are known: `judges/NAME.yaml`. Later ones verify what it judged."""

    judge: Name
    """The release, or a name for one commit."""
    storeproof: str
    """Its version."""
    machinery: Sha256
    """Of `storeproof/`, without adapters, suites and specification."""
    suites: Sha256
    """Of `suites/`."""
    files: dict[str, Sha256]
    """Of each of the project's store files, and of each adapter as a whole, by their names in a checkout."""
    reach: bool = False
    """Whether it shows of each fault that it struck the files of what clients wrote: releases up to 2026-11-27 did not."""
    parts: bool = False
    """Whether it keeps the histories of a composite store whose servers are killed one by one: releases up to 2026-11-28 did not."""
    workloads: bool = False
    """Whether it keeps the histories of transfers, sessions and contended keys: releases up to 2026-11-28 did not."""


def read_records(folder: Path, kind: type[R], named: str) -> list[R]:
    """All records in a folder, by name. `named`: the field with a record's name, as its file is called.
    Raises `SpecError`: a record breaks a rule, or its file is called otherwise."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        record = read(path, kind)
        if (name := getattr(record, named)) != path.stem:
            raise SpecError([f"{at(path, named)}: found '{name}'; allowed: {path.stem}, as the file is called"])
        found.append(record)
    return found
