"""The disks whose power can be cut, by method, and the first of them that this machine offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.errors import NotAvailable

Method = Literal["auto", "ext4", "fuse", "fuse:strict", "fuse:torn", "fuse:sync", "strace"]
"""What `--power-cut` says."""

WITHOUT_DISK: Final = "strace"
"""The method that cuts nothing and only records syncs."""

_TORN: Final = 0.5
"""Fraction of unsynced sectors that survive on a torn disk: half, so that most pages are torn."""


class Disk(Protocol):
    """A mounted file system under the data."""

    method: str
    """How its power is cut, for the report."""

    def sync(self) -> None:
        """Make all that was written so far durable."""

    def cut(self) -> None:
        """Cut the power: all writes fail from now on, and the next `remount` has only what was synced."""

    def remount(self) -> None:
        """Restore the power: mount what is durable. Raises `MachineFailed` when it cannot be mounted."""

    def close(self) -> None:
        """Unmount it and drop its contents. May be called twice."""


@dataclass(frozen=True)
class PowerCut:
    """How the power is to be cut."""

    method: Method = "auto"
    seed: int = 0
    """Selects the sectors that survive on a torn disk, and the sync that a cut replaces."""


def make_disk(wanted: PowerCut, at: Path, image: Path) -> Disk:
    """Mount one on the empty directory `at`. `auto` takes ext4 on a loop device where possible, else FUSE.

    Args:
        wanted: how.
        at: where; `ext4.unmount` ends that, in this process or a later one.
        image: the file for its contents, if the method needs one.

    Raises:
        NotAvailable: none is possible here; with every reason and remedy.
    """
    if wanted.method == WITHOUT_DISK:
        raise NotAvailable("strace only records syncs and cuts nothing", "leave out --power-cut=strace")
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
    raise NotAvailable("; ".join(each.reason for each in missing), ", or ".join(remedies))
