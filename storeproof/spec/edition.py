"""The edition: identifies the whole specification, so that results of different ones are not compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

VERSION = "2026.11.17"
"""YEAR.MONTH.NUMBER, raised with every change of a demand."""

_DEMANDS = ("models", "guarantees", "capabilities", "datasets", "scaling", "workloads", "profiles", "scales")


@dataclass(frozen=True)
class Edition:
    """A version for people, and a hash of the demands."""

    version: str
    hash: str


def edition_of(root: Path) -> Edition:
    """The edition of the demands under `root`. Store files and published claims are not part of it: adding one changes no demand."""
    digest = hashlib.sha256()
    for folder in _DEMANDS:
        for path in sorted((root / folder).glob("*.yaml")):
            digest.update(f"{folder}/{path.name}\0".encode())
            digest.update(path.read_bytes())
    return Edition(VERSION, digest.hexdigest()[:16])
