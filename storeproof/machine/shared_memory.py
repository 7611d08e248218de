"""Removes the shared memory that a killed server leaves behind: it belongs to no process and is not in the server's directory."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable
from pathlib import Path

from storeproof.machine.process_tree import mappings

_IPC_RMID = 0
_SHM = "/dev/shm/"  # noqa: S108 - the directory of shm_open(3); nothing is created there


def mapped_files(pids: Iterable[int]) -> dict[str, int]:
    """Inode by path of the files under /dev/shm that the processes map; psutil does not report inodes."""
    found = {}
    for pid in pids:
        for *_, inode, path in mappings(pid):
            if path.startswith(_SHM):
                found[path.removesuffix(" (deleted)")] = int(inode)
    return found


def remove_files(files: dict[str, int]) -> None:
    """Remove the files that still have the same inode. Call it after every process that mapped them has ended."""
    for name, inode in files.items():
        path = Path(name)
        with contextlib.suppress(OSError):
            if path.stat().st_ino == inode:
                path.unlink()


def remove_segments(creators: Iterable[int]) -> None:
    """Remove the System V segments that these processes created, if no process is attached to them any more."""
    pids = {str(pid) for pid in creators}
    try:
        lines = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    names = lines[0].split()
    for line in lines[1:]:
        row = dict(zip(names, line.split(), strict=False))
        if row["cpid"] in pids and row["nattch"] == "0":
            ctypes.CDLL(None).shmctl(int(row["shmid"]), _IPC_RMID, None)
