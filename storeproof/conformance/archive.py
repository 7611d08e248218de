"""The file of a bundle: a tar archive, not compressed, with nothing in it but its parts.

Nothing in it grows while it is read, and each of its bytes is a header, a part or padding. Headers are compared with those that are written
here: so there is one archive for given parts, and any other byte is found. It is walked header by header, within limits, and nothing is
extracted.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import EVIDENCE
from storeproof.printable import in_one_line
from storeproof.regular_file import open_regular
from storeproof.result.json_file import NAME

MANIFEST: Final = "manifest.json"
PRODUCT: Final = "product.yaml"
RESULT: Final = NAME
SOURCES: Final = "sources/"
"""The folder of the store's file and those that it extends, and of a vendor's own adapter."""

YAML: Final = (".yaml", ".yml")
"""How the name of a store's file ends."""

MOST_BYTES: Final = 48 << 20
MOST_PARTS: Final = 40
LIMITS: Final[Mapping[str, int]] = {
    MANIFEST: 1 << 18,
    PRODUCT: 1 << 16,
    RESULT: 4 << 20,
    EVIDENCE: 24 << 20,
}
"""Bytes of each part."""
_OWN_YAML: Final = 1 << 16
"""Bytes of a vendor's own file in YAML; the project's have seven thousand. It takes long to read."""
_OWN: Final = 1 << 20
"""Bytes of any other file of a vendor."""

_BLOCK: Final = tarfile.BLOCKSIZE
_END: Final = b"\0" * (2 * _BLOCK)
_NAME: Final = re.compile(r"sources/(?:own|spec/stores)(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)+")
_LONGEST: Final = tarfile.LENGTH_NAME
_KINDS: Final = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a link to another entry",
    tarfile.DIRTYPE: "a directory",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}


def archive_of(parts: Mapping[str, bytes]) -> bytes:
    """The archive of these parts. Raises `ClaimRefused`: one has no name of a part, or is too large."""
    found = []
    for name in _ordered(parts):
        content = parts[name]
        _check(name, len(content))
        found += [_header(name, len(content)), content, _padding(len(content))]
    whole = b"".join([*found, _END])
    _limit(len(whole))
    return whole


@dataclass(frozen=True)
class Archive:
    """An archive whose every header was read."""

    file: BinaryIO
    places: Mapping[str, tuple[int, int]]
    """Where each part begins, and how long it is, in bytes."""

    def read(self, name: str) -> bytes:
        """The content of a part."""
        begin, size = self.places[name]
        self.file.seek(begin)
        return self.file.read(size)

    def digest(self, name: str) -> str:
        """The SHA-256 of a part."""
        begin, size = self.places[name]
        self.file.seek(begin)
        found = hashlib.sha256()
        while size:
            some = self.file.read(min(size, 1 << 20))
            if not some:
                break
            found.update(some)
            size -= len(some)
        return found.hexdigest()


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive in a file.

    Raises:
        Unreadable: it is not there, or is no regular file.
        ClaimRefused: it is not an archive as it is written here.
    """
    with open_regular(path) as file:
        yield read_archive(file)


def read_archive(file: BinaryIO) -> Archive:
    """The archive in an open file. Raises `ClaimRefused` as `open_archive` does."""
    size = file.seek(0, os.SEEK_END)
    _limit(size)
    file.seek(0)
    return Archive(file, _walk(file, size))


def _walk(file: BinaryIO, size: int) -> dict[str, tuple[int, int]]:
    places: dict[str, tuple[int, int]] = {}
    at = 0
    while True:
        header = file.read(_BLOCK)
        if header == _END[:_BLOCK]:
            break
        if places and len(header) < _BLOCK:
            raise ClaimRefused(Reason.ARCHIVE, f"it is cut off after part {len(places)}")
        found = _entry(header, len(places))
        name = found.name
        if name in places:
            raise ClaimRefused(Reason.DUPLICATE, f"the archive has {in_one_line(name, 60)} twice")
        _check(name, found.size)
        if header != _header(name, found.size):
            raise ClaimRefused(Reason.ARCHIVE, f"the header of {name} is not as `storeproof bundle` writes it")
        places[name] = (at + _BLOCK, found.size)
        padding = _padding(found.size)
        at += _BLOCK + found.size
        file.seek(at)
        if at > size or file.read(len(padding)) != padding:
            raise ClaimRefused(Reason.ARCHIVE, f"{name} is cut off, or is followed by something")
        at += len(padding)
    if at + len(_END) != size or file.read() != _END[_BLOCK:]:
        raise ClaimRefused(Reason.ARCHIVE, "something follows the last part")
    if list(places) != _ordered(places):
        raise ClaimRefused(Reason.ARCHIVE, "the parts are not in the order in which `storeproof bundle` writes them")
    return places


def _entry(header: bytes, number: int) -> tarfile.TarInfo:
    """One header. Raises `ClaimRefused`: it is none, or of something other than a file."""
    if number >= MOST_PARTS:
        raise ClaimRefused(Reason.SIZE, f"the archive has more than {MOST_PARTS} parts")
    try:
        found = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
    except (tarfile.TarError, ValueError):
        what = "it is not a tar archive" if number == 0 else f"what follows part {number} is no header"
        raise ClaimRefused(Reason.ARCHIVE, f"{what}; a bundle is the file that `storeproof bundle` writes") from None
    if found.size < 0:
        raise ClaimRefused(Reason.ARCHIVE, f"{in_one_line(found.name, 60)} has a size below zero")
    if found.type != tarfile.REGTYPE:
        kind = _KINDS.get(found.type, "an extension of the format")
        raise ClaimRefused(Reason.LINK, f"{in_one_line(found.name, 60)} is {kind}, and no regular file")
    return found


def _check(name: str, size: int) -> None:
    """Raises `ClaimRefused`: no part has this name, or none of this name is so large."""
    shown = in_one_line(name, 60)
    if name.startswith("/") or "\\" in name or ".." in name.split("/") or "\0" in name:
        raise ClaimRefused(Reason.PATH, f"{shown} leads out of the archive")
    own = _NAME.fullmatch(name) is not None and len(name) <= _LONGEST
    if not own and name not in LIMITS:
        raise ClaimRefused(
            Reason.PART, f"{shown} is not a part of a bundle; allowed: {', '.join(LIMITS)}, {SOURCES}own/..., {SOURCES}spec/stores/..."
        )
    most = most_of(name)
    if size > most:
        raise ClaimRefused(Reason.SIZE, f"{shown} has {size:,} bytes; a bundle has at most {most:,} there")


def most_of(name: str) -> int:
    """The bytes that a part may have."""
    return LIMITS.get(name, _OWN_YAML if name.endswith(YAML) else _OWN)


def _limit(size: int) -> None:
    if size > MOST_BYTES:
        raise ClaimRefused(Reason.SIZE, f"it has {size:,} bytes; a bundle has at most {MOST_BYTES:,}")


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)  # owned by root, of 1970, with the permissions 0644
    entry.size = size
    return entry.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")


def _padding(size: int) -> bytes:
    return b"\0" * (-size % _BLOCK)


def _ordered(names: Mapping[str, object]) -> list[str]:
    """The manifest first, so that it can be read without the rest."""
    return sorted(names, key=lambda name: (name != MANIFEST, name))
