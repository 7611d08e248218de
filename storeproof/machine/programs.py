"""Finds the programs of a server on this machine, and their SHA-256, so that results show whether two runs used the same one."""

from __future__ import annotations

import functools
import glob
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from storeproof.errors import NotAvailable
from storeproof.spec.store import ProcessLaunch


def find_programs(launch: ProcessLaunch, store: str) -> dict[str, str]:
    """Paths of the programs that start a store, by their names in its file, the server first.

    Where an installation has the server and all `programs`, they are of that one, even if PATH has another version of the server first: a
    program of one version does not copy the data of another.

    Raises:
        NotAvailable: as `find_program`.
    """
    servers = _found(launch.binary, launch, store)
    server = next((each for each in servers if all(_beside(each, name) for name in launch.programs)), servers[0])
    others = (*launch.programs, *launch.servers, *(command[0] for command in (*launch.initialise, *launch.before_start)))
    return {launch.binary: server} | {name: _beside(server, name) or find_program(name, launch, store) for name in others}


def find_program(name: str, launch: ProcessLaunch, store: str) -> str:
    """The path of the server's binary, or of another of its programs.
    Raises `NotAvailable`: it is not installed, or only as another product of the same name; the remedy is the command that installs it."""
    return _found(name, launch, store)[0]


def _beside(server: str, name: str) -> str | None:
    return shutil.which(name, path=str(Path(server).parent))


def _found(name: str, launch: ProcessLaunch, store: str) -> list[str]:
    """All of that name, the one to be preferred first. Raises `NotAvailable`: there is none."""
    if name == "${python}":
        return [sys.executable]
    # Debian has a directory per version for some servers: take the newest.
    directories = sorted((each for pattern in launch.search for each in glob.glob(pattern)), key=_by_number, reverse=True)  # noqa: PTH207
    found = [path for path in (shutil.which(name), *(shutil.which(name, path=each) for each in directories)) if path is not None]
    ours = [path for path in found if launch.reject_version_containing is None or launch.reject_version_containing not in _version(path)]
    if ours:
        return ours
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


def digest_of(path: str) -> str | None:
    """`sha256:` and 64 hexadecimal digits; None if the file cannot be read. Cached until the file changes: the largest servers have a
    hundred megabytes, which take a third of a second."""
    try:
        state = Path(path).stat()
        return _digest(path, state.st_ino, state.st_size, state.st_mtime_ns)
    except OSError:
        return None


@functools.cache
def _digest(path: str, _inode: int, _size: int, _changed: int) -> str:
    with Path(path).open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
