"""Finds the files that a server writes to outside its directories: no fault of ours reaches what is in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.machine.process_tree import link, mappings


@dataclass(frozen=True)
class Place:
    """A directory, or one file, that a server may write to."""

    path: str
    """As the server's processes see it: in a container, the path there."""
    device: int | None = None
    """The device (st_dev) that it must be on, so that nothing mounted within it passes for it; None: any."""

    def holds(self, path: str, device: int) -> bool:
        """Whether a file is this one, or in this directory."""
        return self.device in (None, device) and (path == self.path or path.startswith(f"{self.path.rstrip('/')}/"))


SHARED_MEMORY: Final = Place("/dev/shm")  # noqa: S108 - nothing is created there
"""The directory of shm_open(3)."""
RUN_OF_CONTAINER: Final = (*map(Place, ("/run", "/var/run", "/tmp")), SHARED_MEMORY)  # noqa: S108 - as above
"""What a container has in place of `${run}`."""


def written_outside(pids: Iterable[int], places: Sequence[Place]) -> list[str]:
    """The regular files outside `places` that one of the processes has open for writing, or maps so that writes reach them; sorted.

    Not among them is a file without a name: no process can open it again, so it ends with this one. Processes that have ended, or whose
    files this user may not see, have none.
    """
    found = {(path, device) for pid in pids for path, device in (*_open_for_writing(pid), *_mapped_shared(pid))}
    return sorted({path for path, device in found if not any(place.holds(path, device) for place in places)})


def _open_for_writing(pid: int) -> Iterator[tuple[str, int]]:
    """Path and device of each."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208 - called under load: a path object takes longer than the call
    except OSError:
        return
    for name in names:
        try:
            if not stat.S_ISREG((file := os.stat(f"{folder}/{name}")).st_mode) or not file.st_nlink:  # noqa: PTH116
                continue
            info = Path(f"/proc/{pid}/fdinfo/{name}").read_text(encoding="ascii")
        except OSError:
            continue  # closed meanwhile
        flags = int(next(line for line in info.splitlines() if line.startswith("flags:")).split()[1], 8)
        if flags & os.O_ACCMODE != os.O_RDONLY:
            yield link(pid, f"fd/{name}"), file.st_dev


def _mapped_shared(pid: int) -> Iterator[tuple[str, int]]:
    """Path and device of each file of which it maps a page for writing and shares it."""
    for _, permissions, _, device, _, path in mappings(pid):
        if permissions == "rw-s" and path.startswith("/") and not path.endswith(" (deleted)"):
            major, minor = (int(number, 16) for number in device.split(":"))
            yield path, os.makedev(major, minor)
