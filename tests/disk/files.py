"""What is done to a disk and looked for afterwards."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storeproof.disk.fuse import FuseDisk
from storeproof.disk.methods import Disk
from tests.launch.small import eventually

Make = Callable[..., FuseDisk]
"""Makes a disk in memory on the test's own directory; all are closed when it ends."""


def write(path: Path, text: str, *, sync: bool) -> None:
    with path.open("w") as file:
        file.write(text)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def cut(made: Disk) -> None:
    made.cut()
    made.remount()


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


def mounts() -> str:
    return Path("/proc/self/mounts").read_text()


@contextmanager
def mount_copied(at: Path) -> Iterator[None]:
    """Meanwhile, a process has a copy of the mount at `at` in a mount namespace of its own, as every container has that starts."""
    own = Path("/proc/self/ns/mnt").readlink()
    other = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sleep", "600"])
    try:
        assert eventually(lambda: Path(f"/proc/{other.pid}/ns/mnt").readlink() != own)
        assert eventually(lambda: str(at) in Path(f"/proc/{other.pid}/mounts").read_text())
        yield
    finally:
        other.kill()
        other.wait()
