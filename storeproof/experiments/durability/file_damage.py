"""Damages files of a data directory, as an ageing disk, a bad cable or an interrupted copy does."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol

from storeproof.errors import StoreDied

DamageKind = Literal["flip", "truncate"]

_BLOCK: Final = 512
_NEWEST: Final = 3
"""One of this many most recently written files is chosen."""
_FLIPS: Final = (1, 1, 2, 8)
"""Numbers of changed bytes; a single one is the hardest to detect."""
_KEYS: Final = re.compile(rb"p[12]:(?:c[0-9]|shared):")
"""The beginning of the written keys: a file with such keys has records, or an index of records."""


@dataclass(frozen=True)
class Damage:
    """What was done to a file."""

    file: str
    """Relative to the data directory."""
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


class Deed(Protocol):
    """Damages one file."""

    def __call__(self, file: Path, rng: random.Random, *, records: bool = False) -> str:
        """Damage the file and return a description. `records`: only where records are, as far as they can be recognized."""


def flip(file: Path, rng: random.Random, *, records: bool = False) -> str:
    """Change a few bytes. Bytes that are zero are not changed, since they may be preallocated and unused."""
    content = bytearray(file.read_bytes())
    used = _used(content, records=records)
    places = []
    for _ in range(rng.choice(_FLIPS)):
        block = rng.choice(used) * _BLOCK
        place = rng.choice([block + each for each, byte in enumerate(content[block : block + _BLOCK]) if byte])
        content[place] ^= rng.randint(1, 255)
        places.append(place)
    with file.open("r+b") as opened:  # in place, which keeps owner and permissions
        for place in places:
            opened.seek(place)
            opened.write(content[place : place + 1])
    return f"changed the bytes {', '.join(map(str, sorted(places)))} of {len(content)}"


def truncate(file: Path, rng: random.Random, *, records: bool = False) -> str:
    """Truncate the file somewhere in its used part."""
    content = file.read_bytes()
    end = rng.choice(_used(content, records=records)) * _BLOCK + rng.randrange(_BLOCK)
    end = min(end, len(content) - 1)
    os.truncate(file, end)
    return f"ends after {end} of {len(content)} bytes"


DEEDS: Mapping[DamageKind, Deed] = MappingProxyType({"flip": flip, "truncate": truncate})


def damage(data: Path, since: float, kind: DamageKind, rng: random.Random, *, records: bool = False) -> Damage | None:
    """Damage one of the most recently written files or, with `records`, one that contains records; None if there is no such file.

    `since`: the start of the load, as a file time; older files have none of its data.
    """
    files = [each for each in data.rglob("*") if each.is_file() and not each.is_symlink() and each.stat().st_mtime >= since]
    newest = sorted((each for each in files if _worth(each)), key=lambda each: each.stat().st_mtime_ns, reverse=True)
    holding = [each for each in newest if _KEYS.search(each.read_bytes())] if records else []
    chosen = holding or newest[:_NEWEST]
    if not chosen:
        return None
    file = rng.choice(chosen)
    return Damage(str(file.relative_to(data)), DEEDS[kind](file, rng, records=bool(holding)))


class Copy:
    """A copy of a data directory, to restore it. Owners, permissions and holes are kept."""

    def __init__(self, data: Path, at: Path) -> None:
        """`at`: a directory that does not exist yet, next to the data."""
        self._data = data
        self._at = at
        _run("cp", "-a", "--sparse=always", str(data), str(at))

    def put_back(self) -> None:
        """Restore the contents; the directory itself stays, since a file system may be mounted there."""
        _run("find", str(self._data), "-mindepth", "1", "-delete")
        _run("cp", "-a", "--sparse=always", f"{self._at}/.", str(self._data))

    def remove(self) -> None:
        """Remove the copy."""
        _run("rm", "-rf", str(self._at))


def _worth(file: Path) -> bool:
    """Whether a file has data, unlike lock files, process ids and the like."""
    return file.stat().st_size >= _BLOCK and bool(_used(file.read_bytes()))


def _used(content: bytes | bytearray, *, records: bool = False) -> list[int]:
    """The numbers of the blocks that are not all zero; `records`: in which a key begins."""
    if records:
        return sorted({found.start() // _BLOCK for found in _KEYS.finditer(content)})
    return [number for number in range((len(content) + _BLOCK - 1) // _BLOCK) if any(content[number * _BLOCK : (number + 1) * _BLOCK])]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StoreDied(f"the data directory cannot be copied: {done.stderr.strip()[:200]}")
