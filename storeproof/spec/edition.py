"""The edition: identifies the whole specification, so that results of different ones are not compared."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSION = "2026.11.27"
"""YEAR.MONTH.NUMBER, raised with every change of a demand."""

FROZEN_PATTERN: Final = r"^20[0-9]{2}\.(0[1-9]|1[0-2])$"
"""The name of a frozen edition: YEAR.MONTH."""

SEEDS: Final = 999_999
"""Seeds are from 1 to this."""

DEMANDS: Final = ("models", "guarantees", "capabilities", "datasets", "scaling", "isolation", "workloads", "profiles", "scales")
"""The folders of the specification that demand something of a store."""


@dataclass(frozen=True)
class Edition:
    """A version for people, and a hash of the demands."""

    version: str
    hash: str

    @property
    def frozen(self) -> bool:
        """Whether it is one that later releases keep, and no draft."""
        return re.fullmatch(FROZEN_PATTERN, self.version) is not None

    @property
    def seed(self) -> int:
        """Of a run by this edition for which no one chose another: no claim need rest on one that suited its maker. It depends on the
        edition alone: who could vary a part of it, such as the server's program, could choose."""
        return int(self.hash, 16) % SEEDS + 1


def edition_of(root: Path, version: str = VERSION, suite_cases: Iterable[str] = ()) -> Edition:
    """The edition of the demands under `root`.

    Store files and published claims are not part of it: adding one changes no demand.

    Args:
        root: the folder with the demands.
        version: its name.
        suite_cases: of a frozen edition, the ids of the cases that the suites define; a draft has those of the suites beside it.
    """
    digest = hashlib.sha256()
    for folder in DEMANDS:
        for path in sorted((root / folder).glob("*.yaml")):
            digest.update(f"{folder}/{path.name}\0".encode())
            digest.update(path.read_bytes())
    for case in sorted(suite_cases):
        digest.update(f"\0{case}\n".encode())
    return Edition(version, digest.hexdigest()[:16])
