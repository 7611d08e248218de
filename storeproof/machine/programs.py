"""Finds the programs of a server on this machine."""

from __future__ import annotations

import functools
import glob
import shutil
import subprocess
import sys
from pathlib import Path

from storeproof.errors import NotAvailable
from storeproof.spec.store import ProcessLaunch


def find_program(name: str, launch: ProcessLaunch, store: str) -> str:
    """The path of the server's binary, or of another of its programs.

    Raises:
        NotAvailable: it is not installed, or only as another product of the same name; the remedy is the command that installs it.
    """
    if name == "${python}":
        return sys.executable
    # Debian has a directory per version for some servers: take the newest.
    directories = sorted((each for pattern in launch.search for each in glob.glob(pattern)), key=_by_number, reverse=True)  # noqa: PTH207
    found = [path for path in (shutil.which(name), *(shutil.which(name, path=each) for each in directories)) if path is not None]
    ours = [path for path in found if launch.reject_version_containing is None or launch.reject_version_containing not in _version(path)]
    if ours:
        return ours[0]
    if found:
        raise NotAvailable(f"{store}: {found[0]} is {launch.reject_version_containing}", launch.install)
    places = ", ".join(("PATH", *launch.search))
    raise NotAvailable(f"{store}: the program {name} was not found in {places}", launch.install)


@functools.cache
def _version(path: str) -> str:
    """The output of `--version`; empty if there is none within five seconds."""
    try:
        return subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _by_number(path: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else -1, part) for part in Path(path).parts]


def check_traversable(base: Path, user: str) -> None:
    """Check that a server that does not run as root may enter its directory. Raises `NotAvailable`."""
    for directory in (base, *base.parents):
        if not directory.exists() or directory.stat().st_mode & 0o001:
            continue
        raise NotAvailable(
            f"the server refuses to run as root, and the user {user} has no access to {directory}",
            f"chmod o+x {directory}, or name another directory with --data-dir",
        )
