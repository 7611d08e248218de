"""Finds the file system of a directory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UNKNOWN: Final = "unknown"


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo."""

    device: str
    """`major:minor`."""
    source: str
    filesystem: str
    options: str


def mount_of(directory: Path) -> Mount:
    """The mount that contains a directory: the one with the longest mount point, or the last if several are stacked there."""
    target = directory.resolve()
    best, length = Mount("", UNKNOWN, UNKNOWN, UNKNOWN), -1
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return best
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, (filesystem, source, *_) = left.split(), right.split()
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if target.is_relative_to(point) and len(point.parts) >= length:
            best, length = Mount(fields[2], source, filesystem, fields[5]), len(point.parts)
    return best
