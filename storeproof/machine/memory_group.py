"""A control group (cgroup) that limits the memory of one server.

With cgroup version 2 it is made beside the group of this process, since a group that contains processes may not enable controllers for
child groups; with version 1, inside it. Either way the limits of the groups above apply to the server too.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable

_REMOVE_SECONDS: Final = 2.0
"""How long to retry a removal: a group whose processes were just killed is busy for a moment."""
_REMEDY: Final = "run it as root on a machine with control groups, or by --launch=container, or leave out --memory"


@dataclass(frozen=True)
class Hierarchy:
    """The directory in which groups can be made, and the cgroup version."""

    parent: Path
    version: int


class MemoryGroup:
    """One control group; `path` is its directory."""

    def __init__(self, path: Path, limit: int) -> None:
        """The group is not made yet.

        Args:
            limit: bytes. Swap is disabled, so that memory is measured and not the disk.
        """
        self.path = path
        self.limit = limit

    def make(self, version: int) -> None:
        """Make the group. Raises `NotAvailable`."""
        try:
            if version == 2:
                self._enable()
            self.path.mkdir()
            limits = _LIMITS[version]
            (self.path / limits[0]).write_text(str(self.limit), encoding="ascii")
            for swap, value in limits[1].items():
                with contextlib.suppress(OSError):  # the file does not exist if the kernel does not account for swap
                    (self.path / swap).write_text(value.format(limit=self.limit), encoding="ascii")
        except OSError as reason:
            self.remove()
            raise NotAvailable(f"the memory of a process cannot be limited in {self.path.parent}: {reason.strerror}", _REMEDY) from None

    def add(self, pid: int) -> None:
        """Move a process into the group; what it starts from now on is in it too. Ignores one that has ended. Raises `NotAvailable`."""
        with contextlib.suppress(ProcessLookupError):
            try:
                (self.path / "cgroup.procs").write_text(str(pid), encoding="ascii")
            except ProcessLookupError:
                raise
            except OSError as reason:
                raise NotAvailable(f"process {pid} cannot be put into {self.path}: {reason.strerror}", _REMEDY) from None

    def pids(self) -> set[int]:
        """The ids of the processes in the group."""
        with contextlib.suppress(OSError):
            return {int(line) for line in (self.path / "cgroup.procs").read_text(encoding="ascii").split()}
        return set()

    def kills(self) -> int:
        """Number of its processes that the kernel has killed for exceeding a limit of memory."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError, ValueError):
                for line in (self.path / name).read_text(encoding="ascii").splitlines():
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """Remove the group, waiting a moment until it is empty; never raises, and may be called twice."""
        end = time.monotonic() + _REMOVE_SECONDS
        while True:
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.01)
            else:
                return

    def _enable(self) -> None:
        """Enable the memory controller for the children of the parent group."""
        control = self.path.parent / "cgroup.subtree_control"
        if "memory" not in control.read_text(encoding="ascii").split():
            control.write_text("+memory", encoding="ascii")


_LIMITS: Final[dict[int, tuple[str, dict[str, str]]]] = {
    2: ("memory.max", {"memory.swap.max": "0"}),
    1: ("memory.limit_in_bytes", {"memory.memsw.limit_in_bytes": "{limit}", "memory.swappiness": "0"}),
}


def find_hierarchy(mountinfo: str, own: str) -> Hierarchy:
    """Find where a group that limits memory can be made.

    Args:
        mountinfo: the text of /proc/self/mountinfo.
        own: the text of /proc/self/cgroup.

    Raises:
        NotAvailable: this machine has no memory controller.
    """
    paths = {controllers: path for _, controllers, path in (line.split(":", 2) for line in own.splitlines())}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, _source, options) = left.split(), right.split()
        point = Path(fields[4])
        if kind == "cgroup" and "memory" in options.split(","):
            mine = next((path for controllers, path in paths.items() if "memory" in controllers.split(",")), "/")
            return Hierarchy(_inside(point, mine, fields[3]), 1)
        if kind == "cgroup2" and "memory" in _controllers(point):
            group = _inside(point, paths.get("", "/"), fields[3])
            return Hierarchy(point if group == point else group.parent, 2)
    raise NotAvailable("no control group of this machine limits memory", _REMEDY)


def hierarchy() -> Hierarchy:
    """The hierarchy for groups made by this process. Raises `NotAvailable`."""
    return find_hierarchy(Path("/proc/self/mountinfo").read_text(encoding="utf-8"), Path("/proc/self/cgroup").read_text(encoding="utf-8"))


def _inside(point: Path, path: str, root: str) -> Path:
    """The directory of the group `path` under a mount point; `root`: the group that is mounted there."""
    inner = path.removeprefix(root) if root != "/" else path
    return point / inner.lstrip("/")


def _controllers(point: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return (point / "cgroup.controllers").read_text(encoding="ascii").split()
    return []
