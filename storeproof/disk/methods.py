"""What a store's data lies on, so that its power can be cut: the methods, and the first of them that can be had here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from storeproof.disk.ext4 import Volume
from storeproof.disk.fuse import MemoryDisk
from storeproof.errors import NotAvailable

Method = Literal["auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"]
"""What `--power-cut` says."""

WITHOUT_DISK: Final = "strace"
"""The method that cuts nothing, and only looks at what is synced."""

_TORN: Final = 0.5
"""The share of unsynced sectors that survive on a torn disk: as many as are lost, so that most pages hold both."""


class Disk(Protocol):
    """A mounted file system under the data."""

    method: str
    """How its power is cut, in words for the report."""

    def sync(self) -> None:
        """Make all that was written so far durable."""

    def cut(self) -> None:
        """From now on all writes fail, and what was not synced is gone with the next `remount`."""

    def remount(self) -> None:
        """Mount what is durable: the power is back. Raises `MachineFailed` when it cannot be mounted."""

    def close(self) -> None:
        """Give it up, with all that is on it. May be called twice."""


@dataclass(frozen=True)
class PowerCut:
    """How the power is to be cut."""

    method: Method = "auto"
    seed: int = 0
    """Of what survives on a torn disk, and of the sync that a cut takes the place of."""


def make_disk(wanted: PowerCut, at: Path, image: Path) -> Disk:
    """Mount one on the empty directory `at`. `auto` takes the kernel's own file system if it can be had, else the one in memory.

    Args:
        wanted: how.
        at: where; `ext4.unmount` ends that, in this process or a later one.
        image: the file that it lies in, where it lies in one.

    Raises:
        NotAvailable: none can be had; with every reason and remedy.
    """
    if wanted.method == WITHOUT_DISK:
        raise NotAvailable("strace only looks at what is synced, and cuts nothing", "leave out --power-cut=strace")
    ways: dict[Method, Callable[[], Disk]] = {
        "ext4": lambda: Volume(at, image),
        "fuse": lambda: MemoryDisk(
            at,
            strict=wanted.method == "fuse:strict",
            torn=_TORN if wanted.method == "fuse:torn" else 0.0,
            at_sync=wanted.method == "fuse:sync",
            seed=wanted.seed,
        ),
    }
    missing: list[NotAvailable] = []
    for name, way in ways.items():
        if wanted.method != "auto" and not wanted.method.startswith(name):
            continue
        try:
            return way()
        except NotAvailable as reason:
            image.unlink(missing_ok=True)
            missing.append(reason)
    remedies = [each.remedy for each in missing if each.remedy]
    raise NotAvailable("; ".join(each.reason for each in missing), ", or ".join(remedies))
