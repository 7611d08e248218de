"""The owner of a directory or container: noted in its marker or label, so that a later run knows which process made it."""

from __future__ import annotations

import os
import socket
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

from storeproof.machine.process_tree import read_stat


@dataclass(frozen=True)
class Owner:
    """The process of a run, distinguished from all others that ever had the same process id."""

    pid: int
    start: int
    """Start time of the process in clock ticks since boot: field 22 of /proc/PID/stat."""
    namespace: str
    """The pid namespace: in another container the same pid is another process."""
    boot: str
    """The kernel's boot id."""
    host: str

    def __str__(self) -> str:
        return ":".join(str(part) for part in astuple(self))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse the result of `str`; None for any other text."""
        parts = text.split(":")
        if len(parts) != 5 or not (parts[0].isdigit() and parts[1].isdigit()):
            return None
        return cls(int(parts[0]), int(parts[1]), parts[2], parts[3], parts[4])

    def dead(self) -> bool:
        """Whether it has certainly ended. False for an owner that cannot be seen from here (on another machine, in another container): a
        disk or a Docker engine may be shared, and what a live owner made must never be touched."""
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
    """This process, as the owner of what it makes."""
    own = read_stat(os.getpid())
    assert own is not None, "/proc is not mounted"
    return Owner(
        pid=own.pid,
        start=own.start,
        namespace=str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]"),
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        host=socket.gethostname().replace(":", "-"),
    )
