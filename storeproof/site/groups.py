"""The files of the specification that the capabilities are from, for the pages that show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.spec import CapabilityGroup
from storeproof.spec.reading.source import read

_CAPABILITY: Final = re.compile(r"\s*- capability: (\S+)\s*")


@dataclass(frozen=True)
class Line:
    """One line of YAML."""

    text: str
    capability: str
    """The capability that begins here, without its group; empty in all other lines."""


@dataclass(frozen=True)
class Group:
    """One file of `spec/capabilities/`."""

    name: str
    title: str
    file: str
    lines: tuple[Line, ...]


def read_groups(root: Path) -> Mapping[str, Group]:
    """All groups under the root of a specification, by name. Raises `SpecError`: a file breaks a rule."""
    groups = {}
    for path in sorted((root / "capabilities").glob("*.yaml")):
        found = read(path, CapabilityGroup)
        groups[found.group] = Group(found.group, found.title, f"spec/capabilities/{path.name}", _lines(path.read_text(encoding="utf-8")))
    return groups


def _lines(text: str) -> tuple[Line, ...]:
    found = []
    for line in text.splitlines():
        match = _CAPABILITY.fullmatch(line)
        found.append(Line(line, match[1] if match else ""))
    return tuple(found)
