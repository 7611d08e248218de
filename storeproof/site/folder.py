"""The folder that a site is written to. What is in it and not the site's own is never changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from storeproof.errors import UsageError
from storeproof.regular_file import Unreadable, read_text

MARK: Final = "storeproof-site.json"
"""Says that a folder is a site, and which files are its own."""
_LONGEST: Final = 16 << 20


def write_site(files: Mapping[str, str], folder: Path) -> None:
    """Write a site, in place of an older one in the same folder: its files that are no longer written are removed.
    Raises `UsageError`: the folder holds something that is not a site, or cannot be written."""
    try:
        old = _own_files(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _mark(folder, {*old, *files})  # first: a site that was written in part is a site
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in old - files.keys():
            (folder / name).unlink(missing_ok=True)
        _mark(folder, files)
    except OSError as reason:
        raise UsageError(f"{folder} cannot be written: {reason}; name another folder with --out") from None


def check_folder(folder: Path) -> None:
    """Refuse a folder that a site may not be written to, before the work of making one. Raises `UsageError`: as `write_site`."""
    try:
        _own_files(folder)
    except OSError as reason:
        raise UsageError(f"{folder} cannot be read: {reason}; name another folder with --out") from None


def _own_files(folder: Path) -> set[str]:
    """The files that an older site in the folder has; none where the folder is new or empty."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a new or empty folder, or one with an older site, with --out")
    try:
        listed = json.loads(read_text(folder / MARK, _LONGEST))["files"]
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        if any(folder.iterdir()):
            raise UsageError(
                f"{folder} is not empty and not a site of storeproof: it has no valid {MARK}; name a new or empty folder with --out"
            )
        return set()
    return {name for name in listed if _inside(name)}


def _inside(name: object) -> bool:
    """Whether a listed name stays in the folder: the list may have been changed by hand."""
    if not isinstance(name, str) or "\0" in name:
        return False
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _mark(folder: Path, files: Iterable[str]) -> None:
    (folder / MARK).write_text(json.dumps({"format": "1.0", "files": sorted(files)}, indent=0) + "\n", encoding="utf-8")
