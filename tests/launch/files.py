"""What is done to a disk and looked for afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from storeproof.launch.memory_disk import MemoryDisk

Make = Callable[..., MemoryDisk]
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


def cut(made: MemoryDisk) -> None:
    made.cut()
    made.renew()


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


def mounts() -> str:
    return Path("/proc/self/mounts").read_text()
