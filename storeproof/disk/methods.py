"""The methods of cutting the power, and the choice of the first that works on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.errors import NotAvailable
from storeproof.outcome import Lack

Method = Literal["auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"]
"""Values of `--power-cut`."""

WITHOUT_DISK: Final = "strace"
"""The method that only records syncs and cuts nothing."""

_TORN: Final = 0.5
"""Fraction of unsynced sectors that survive on a torn disk: half, so that most pages are torn."""


class Disk(Protocol):
    """A mounted file system for a store's data, whose power can be cut."""

    method: str
    """How its power is cut, for the report."""

    def written(self) -> int:
        """Bytes of the writes that it received so far, and not after a cut. What mounting it writes is not counted."""

    def sync(self) -> None:
        """Make everything that was written so far durable."""

    def cut(self) -> None:
        """Cut the power: from now on all writes fail, and after the next `remount` only what was synced is there."""

    def remount(self) -> None:
        """Mount the file system again after a cut, with what was synced. Raises `MachineFailed` if it cannot be mounted."""

    def close(self) -> None:
        """Unmount it and drop its contents. May be called twice."""


@dataclass(frozen=True)
class PowerCutMethod:
    method: Method = "auto"
    seed: int = 0
    """Selects the sectors that survive a cut with `fuse:torn`, and the sync that a cut replaces with `fuse:sync`."""


def make_disk(wanted: PowerCutMethod, at: Path, image: Path) -> Disk:
    """Mount a disk on the empty directory `at`. `auto` chooses ext4 on a loop device if possible, else FUSE.

    Args:
        wanted: the method and its seed.
        at: the directory; `ext4.unmount` unmounts it, in this process or a later one.
        image: the path of its image file, if the method needs one.

    Raises:
        NotAvailable: the method, or with `auto` every method, does not work here; with every reason and remedy.
    """
    if wanted.method == WITHOUT_DISK:
        raise NotAvailable("strace only records syncs and cuts nothing", "leave out --power-cut=strace", Lack.DISK)
    ways: dict[Method, Callable[[], Disk]] = {
        "ext4": lambda: Ext4Disk(at, image),
        "fuse": lambda: FuseDisk(
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
    raise NotAvailable("; ".join(each.reason for each in missing), ", or ".join(remedies), Lack.DISK)
