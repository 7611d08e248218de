"""TMPDIR, where the stores' data lies, on a small file system that fills up and gets room again."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_MIB = {"sqlite": 24, "redis": 24, "postgresql": 160, "mongodb": 480}
"""Of the file system: not much more than the store needs to start."""
_CHUNK = bytes(2**20)
_TIMES = 5
"""It fills up at most as often in a trial: one that repeats what was spoiled gets through in the end."""


_SOURCE = "storeproof-nuisance"


def sweep() -> None:
    """Unmount what runners that have ended left."""
    for line in Path("/proc/mounts").read_text().splitlines():
        source, at, *_ = line.split()
        name, _, pid = source.rpartition("-")
        if name == _SOURCE and not Path(f"/proc/{pid}").exists():
            subprocess.run(["umount", "--lazy", at], check=False)


def _cannot(_trial: ShortTrial) -> str | None:
    return "only root can mount a small file system" if os.geteuid() else None


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    size = _MIB[sut.store]
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=1777", f"{_SOURCE}-{os.getpid()}", str(sut.temporary)], check=True)
    ballast = sut.temporary / "ballast"

    def work() -> None:
        more = True
        if sut.random.random() < 0.7:  # else it is full before a server was started
            while more and not (sut.servers() or sut.containers()):
                more = sut.until_over(0.05, 0.05)
        more = more and sut.until_over(0, 2)
        for _ in range(_TIMES):
            if not more:
                return
            with sut.act("TMPDIR is full"):
                with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
                    for _ in range(size):
                        file.write(_CHUNK)
                more = sut.until_over(0.5, 4)
            with contextlib.suppress(OSError):
                ballast.unlink()
            more = more and sut.until_over(0.2, 3)

    try:
        with meanwhile(sut, work):
            yield
    finally:
        ballast.unlink(missing_ok=True)
        subprocess.run(["umount", "--lazy", str(sut.temporary)], check=True)


NUISANCE = Nuisance("full TMPDIR", _around, _cannot)
