"""The mark on directories and containers that tells a later run which process made them."""

from __future__ import annotations

import os
import socket
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

from storeproof.machine.process_tree import read_stat


@dataclass(frozen=True)
class Owner:
    """A run, distinguished from any other that ever had its process id."""

    pid: int
    start: int
    """Clock ticks from the boot to the process's start: field 22 of /proc/PID/stat."""
    namespace: str
    """The process id namespace: the same number means another process in another container."""
    boot: str
    """The kernel's boot id."""
    host: str

    def __str__(self) -> str:
        return ":".join(str(part) for part in astuple(self))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """An owner as `str` wrote it, or None for anything else."""
        parts = text.split(":")
        if len(parts) != 5 or not (parts[0].isdigit() and parts[1].isdigit()):
            return None
        return cls(int(parts[0]), int(parts[1]), parts[2], parts[3], parts[4])

    def dead(self) -> bool:
        """Whether it has certainly ended. An owner that cannot be seen from here (another machine, another container) is not dead:
        a disk or a Docker engine may be shared, and a live owner's things must never be touched."""
        here = this_process()
        if self.host != here.host:
            return False
        if self.boot != here.boot:
            return True
        if self.namespace != here.namespace:
            return False
        found = read_stat(self.pid)
        return found is None or found.start != self.start or found.ended


def this_process() -> Owner:
    """The owner of what this process makes."""
    own = read_stat(os.getpid())
    assert own is not None, "/proc is not mounted"
    return Owner(
        pid=own.pid,
        start=own.start,
        namespace=str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]"),
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        host=socket.gethostname().replace(":", "-"),
    )
