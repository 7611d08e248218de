"""What file systems of the kernel leave of changes that were written back in parts, with a commit and without.

A kernel writes a page back when it likes, and commits its journal when it likes. `sync_file_range` does the first for a chosen page, a sync
of another file the second; then the power is cut.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Final, Literal

import pytest

from storeproof.disk import ext4
from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.loop import Loop
from storeproof.errors import NotAvailable
from tests.disk.files import cut, names, write
from tests.disk.test_ext4_model import begun, in_words
from tests.disk.unsynced_changes import CHANGES, RACES, Change

PAGE: Final = 4096
SECTOR: Final = 512
_WRITE_AND_WAIT: Final = 0b111  # linux/fs.h: SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE, _WAIT_AFTER
_FIBMAP: Final = 1  # linux/fs.h
_libc = ctypes.CDLL(None, use_errno=True)

Left = Mapping[str, set[str]]
"""What may be left of each change, in words."""
ALL: Final[Mapping[str, Change]] = {**CHANGES, **RACES}
GIVES_BLOCKS_BACK: Final = (
    "cut_short",
    "cut_short_and_append",
    "cut_short_at_a_block_and_append",
    "cut_to_nothing_and_append",
    "hole_punched",
    "hole_punched_at_the_end",
    "hole_punched_and_written",
    "new_file_of_an_old_name",
    "renamed_over_another",
    "renamed_over_another_and_append",
    "written_anew",
    "written_anew_and_append",
)
"""Changes after which another file may have blocks that this one had."""
_IN_ORDER: Final = sorted(ALL, key=lambda name: name != "append_after_a_sync")
"""One that syncs commits what was done before."""

MOUNTS: Final = {
    "ordered": "",
    "writeback": ",data=writeback",
    "writeback at once": ",data=writeback,nodelalloc,dioread_lock",
    "at once": ",nodelalloc",
    "journal": ",data=journal",
    "no flush": ",noauto_da_alloc",
    "locked reads": ",dioread_lock",
    "xfs": "",
}
"""By name, how each is mounted; ext4 but for one."""
_OPTIONS: Final = ext4._OPTIONS


class XfsDisk(Ext4Disk):
    """XFS, which is told in the same way to shut down."""

    def _mount(self, loop: Loop) -> None:
        subprocess.run(["mount", "-t", "xfs", "-o", "nosuid,nodev", loop.path, self._at], check=True, capture_output=True)
        self._mounted_at = loop.written()
        (self._at / "lost+found").mkdir(exist_ok=True)


def make_disk(system: str, folder: Path, patch: pytest.MonkeyPatch) -> Ext4Disk:
    """One of `MOUNTS`. Skips the test where it cannot be had."""
    (folder / "data").mkdir()
    patch.setattr(ext4, "_OPTIONS", _OPTIONS + MOUNTS[system])
    made: Callable[[Path, Path], Ext4Disk] = Ext4Disk
    if system == "xfs":
        if (program := shutil.which("mkfs.xfs", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")) is None:
            pytest.skip("mkfs.xfs is missing")
        patch.setattr(ext4, "make_file_system", lambda device, _what: subprocess.run([program, "-q", "-f", device], check=True))
        made = XfsDisk
    try:
        return made(folder / "data", folder / "image")
    except (NotAvailable, subprocess.CalledProcessError) as reason:  # the latter: a kernel without XFS
        pytest.skip(str(reason))


def write_back(file: Path, first: int, last: int) -> None:
    """Have the kernel write these pages of a file, and nothing else."""
    descriptor = os.open(file, os.O_RDWR)
    try:
        begin, size = ctypes.c_int64(first * PAGE), ctypes.c_int64((last - first) * PAGE)
        if last > first and _libc.sync_file_range(descriptor, begin, size, _WRITE_AND_WAIT):
            raise OSError(ctypes.get_errno(), "sync_file_range")
    finally:
        os.close(descriptor)


def pages_of(file: Path) -> int:
    return -(-file.stat().st_size // PAGE) if file.exists() else 0


class Part:
    """Which pages are written back: of each file the first ones, or of those that it had before one alone, or all but one.

    The kernel writes a file from its beginning; which of the pages that have their blocks a device has kept when its power goes is open.
    """

    def __init__(self, kind: Literal["first", "alone", "but"], page: int, *, new: bool = False) -> None:
        """`new`: pages that it did not have before are alone, or missing, too: which of them a device has kept is open where a commit does
        not wait for them."""
        self.name = f"{kind}-{page}"
        self._kind, self._page, self._new = kind, page, new
        self._had = 0

    def look(self, folder: Path) -> None:
        """Before the change."""
        self._had = pages_of(folder / "file")

    def write_back(self, folder: Path) -> None:
        """After it."""
        for name in names(folder):
            file, pages = folder / name, pages_of(folder / name)
            kept = name == "file" and folder.name.partition(" ")[2] != "hole_punched_and_written"
            chosen = self._page < (pages if self._new else min(self._had, pages) * kept)
            if self._kind == "first":
                write_back(file, 0, min(self._page, pages))
            elif self._kind == "alone" and chosen:
                write_back(file, self._page, self._page + 1)
            elif self._kind == "but":
                write_back(file, 0, self._page if chosen else pages)
                write_back(file, self._page + 1, pages)


def parts(*, new: bool = False) -> list[Part]:
    return [*(Part("first", page) for page in range(9)), *(Part(kind, page, new=new) for kind in ("alone", "but") for page in range(5))]


def what_is_left(make: Callable[[], tuple[Ext4Disk, Path]], of: Sequence[Part]) -> Left:
    """Of each change, with any part of it written back, and with or without a commit. `make`: a disk, and the folder that has its image.

    Those that give blocks back have a disk of their own: a file of another change would have what they left there.
    """
    found: dict[str, set[str]] = {name: set() for name in ALL}
    for commits, gives_back in product((True, False), (True, False)):
        disk, folder = make()
        at = folder / "data"
        try:
            changes = [name for name in _IN_ORDER if (name in GIVES_BLOCKS_BACK) == gives_back]
            under_way = [(name, part, at / f"{part.name} {name}") for name in changes for part in of]
            running = [begun(ALL[name], where) for name, _, where in under_way]
            disk.sync()
            for (_, part, where), change in zip(under_way, running, strict=True):
                part.look(where)
                assert next(change, "over") == "over"
                part.write_back(where)
            if commits:
                write(at / "other", "commits the journal", sync=True)
            cut(disk)
            for name, _, where in under_way:
                found[name].add(in_words(where))
        finally:
            disk.close()
    return found


def what_is_torn(make: Callable[[], tuple[Ext4Disk, Path]]) -> Left:
    """Of each change, where the device has written only the first sectors of one page that has its block.

    What else is there: nothing, what a commit leaves, or all of it. The page is written last, and its last sectors are put back.
    """
    found: dict[str, set[str]] = {name: set() for name in ALL}
    for rest in ("nothing", "commit", "all"):
        disk, folder = make()
        at = folder / "data"
        try:
            torn = [(page, sectors) for page in range(5) for sectors in range(1, PAGE // SECTOR)]
            under_way = [(name, page, sectors, at / f"{page}-{sectors} {name}") for name in _IN_ORDER for page, sectors in torn]
            running = [begun(ALL[name], where) for name, *_, where in under_way]
            disk.sync()
            blocks = [_block(where / "file", page) for _, page, _, where in under_way]
            for (_, page, _, where), change in zip(under_way, running, strict=True):
                others = Part("but", page)
                others.look(where)
                assert next(change, "over") == "over"
                if rest == "all":
                    others.write_back(where)
            if rest != "nothing":
                write(at / "other", "commits the journal", sync=True)
            with (folder / "image").open("r+b") as image:
                for (_, page, sectors, where), block in zip(under_way, blocks, strict=True):
                    if block and page < pages_of(where / "file"):
                        _tear(image.fileno(), where / "file", page, block * PAGE, sectors * SECTOR)
            cut(disk)
            for name, *_, where in under_way:
                found[name].add(in_words(where))
        finally:
            disk.close()
    return found


def _block(file: Path, page: int) -> int:
    """Where a page of it is on the device; 0 where there is none."""
    if page >= pages_of(file):
        return 0
    with file.open("rb") as opened:
        return int(struct.unpack("i", fcntl.ioctl(opened, _FIBMAP, struct.pack("i", page)))[0])


def _tear(image: int, file: Path, page: int, place: int, written: int) -> None:
    """Have a page written back, and take all but its first bytes off the device."""
    before = os.pread(image, PAGE, place)
    write_back(file, page, page + 1)
    if os.pread(image, PAGE, place) != before:
        os.pwrite(image, before[written:], place + written)
