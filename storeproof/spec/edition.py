"""Names the whole specification, so that two results can be known to stand on the same one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

VERSION = "2026.11.12"
"""Raised whenever a demand changes; date-like, so that its age can be seen."""

_DEMANDS = ("models", "guarantees", "capabilities", "datasets", "scaling", "workloads", "profiles", "scales")


@dataclass(frozen=True)
class Edition:
    """The version people say, and the hash that proves it."""

    version: str
    hash: str


def edition_of(root: Path) -> Edition:
    """The edition of the demands under `root`. Stores are not part of it: adding one changes no demand."""
    digest = hashlib.sha256()
    for folder in _DEMANDS:
        for path in sorted((root / folder).glob("*.yaml")):
            digest.update(f"{folder}/{path.name}\0".encode())
            digest.update(path.read_bytes())
    return Edition(VERSION, digest.hexdigest()[:16])
