"""Calls to the disk in memory that fail, and what a failed sync leaves: the same as on ext4 whose device fails."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.errors import MachineFailed, NotAvailable
from tests.disk.files import Make, cut, names, sync_directory, write

pytestmark = pytest.mark.usefixtures("memory_disks")

Parts = tuple[tuple[int, bytes], ...]
"""Where what is written."""


@contextmanager
def opened(path: Path, flags: int = 0) -> Iterator[int]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def failing(number: int) -> Iterator[None]:
    with pytest.raises(OSError, match=r".") as raised:
        yield
    assert raised.value.errno == number


def kept(data: Path, size: int, *, sync: bool = True) -> Path:
    """A file of that many bytes."""
    write(data / "file", "x" * size, sync=sync)
    return data / "file"


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_write_fails(make: Make, data: Path, lasting: bool) -> None:
    """The second write fails and does nothing, and the third if it is from then on; afterwards the disk works."""
    made = make()
    with opened(data / "file") as file:
        made.fail("eio_write", 2, lasting=lasting)
        os.pwrite(file, b"a", 0)
        with failing(errno.EIO):
            os.pwrite(file, b"b", 0)
        if lasting:
            with failing(errno.EIO):
                os.pwrite(file, b"c", 1)
        else:
            os.pwrite(file, b"c", 1)
        assert made.failures() == (3, 2 if lasting else 1)
        os.pwrite(file, b"d", 2)
    assert (data / "file").read_bytes() == (b"a\0d" if lasting else b"acd")


def test_half_of_a_write_is_done(make: Make, data: Path) -> None:
    """Its caller is told how much; a single byte has no half."""
    made = make()
    with opened(data / "file") as file:
        made.fail("short_write", 1, lasting=True)
        assert os.write(file, b"abcdef") == 3
        assert os.write(file, b"g") == 1
        assert made.failures() == (1, 1)
    assert (data / "file").read_bytes() == b"abcg"


def test_only_what_needs_a_block_finds_no_space(make: Make, data: Path) -> None:
    """A write within a block is done; of one that needs several the first is done, and the rest fails. So does an allocation."""
    made, file = make(), kept(data, 1000)
    with opened(file) as descriptor:
        made.fail("enospc", 1, lasting=True)
        assert os.pwrite(descriptor, b"b" * 3096, 1000) == 3096
        assert os.pwrite(descriptor, b"c" * 10_000, 4096) == 4096
        for _ in range(2):
            with failing(errno.ENOSPC):
                os.pwrite(descriptor, b"c" * 5904, 8192)
        with failing(errno.ENOSPC):
            os.posix_fallocate(descriptor, 0, 16384)
        assert made.failures() == (4, 4)
        os.pwrite(descriptor, b"c" * 5904, 8192)
    assert file.read_bytes() == b"x" * 1000 + b"b" * 3096 + b"c" * 10_000


def test_the_rest_of_what_was_begun_finds_no_space(make: Make, data: Path) -> None:
    """Its caller is told once; later there is space."""
    made = make()
    with opened(data / "file") as descriptor:
        made.fail("enospc", 1, lasting=False)
        assert os.pwrite(descriptor, b"c" * 8192, 0) == 4096
        with failing(errno.ENOSPC):
            os.pwrite(descriptor, b"c" * 4096, 4096)
        assert os.pwrite(descriptor, b"c" * 8192, 4096) == 8192
        assert made.failures().failed == 1


def test_a_read_fails(make: Make, data: Path) -> None:
    """What is in the page cache is read all the same, as on any file system."""
    made = make()
    kept(data, 10)
    cut(made)
    made.fail("eio_read", 1, lasting=True)
    with failing(errno.EIO):
        (data / "file").read_bytes()
    assert made.failures().failed
    assert (data / "file").read_bytes() == b"x" * 10
    made.fail("eio_read", 1, lasting=True)
    assert (data / "file").read_bytes() == b"x" * 10
    assert made.failures().failed == 0


def test_an_unknown_error_is_refused(make: Make) -> None:
    """A mistake is told."""
    with pytest.raises(MachineFailed):
        make().fail("eio", 1, lasting=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("flags", [os.O_DSYNC, os.O_SYNC], ids=["O_DSYNC", "O_SYNC"])
def test_a_write_that_syncs_fails_with_its_sync(make: Make, data: Path, flags: int) -> None:
    """The sync that belongs to the write counts, and loses it."""
    made, file = make(), kept(data, 10)
    with opened(file, flags) as descriptor:
        os.pwrite(descriptor, b"a", 0)
        made.fail("eio_sync", 1, lasting=False)
        with failing(errno.EIO):
            os.pwrite(descriptor, b"b", 1)
        assert made.failures().failed == 1
    cut(made)
    assert file.read_bytes() == b"ax" + b"x" * 8


def test_names_wait_when_a_sync_failed(make: Make, data: Path) -> None:
    """They are there with the next commit of the journal, and not before."""
    made = make()
    for committed in (False, True):
        made.fail("eio_sync", 1, lasting=False)
        with opened(data / "new") as file:
            os.write(file, b"lost")
            with failing(errno.EIO):
                os.fsync(file)
        if committed:
            kept(data, 1)
        cut(made)
        assert names(data) == (["file", "new"] if committed else [])


def test_what_went_past_the_page_cache_is_not_lost(make: Make, data: Path) -> None:
    """A failed sync loses pages of the cache alone."""
    made, file = make(), kept(data, 8192)
    page = mmap.mmap(-1, 4096)
    page.write(b"d" * 4096)
    with opened(file, os.O_DIRECT) as direct, opened(file) as cached:
        os.pwrite(direct, page, 0)
        os.pwrite(cached, b"c" * 4096, 4096)
        made.fail("eio_sync", 1, lasting=False)
        with failing(errno.EIO):
            os.fsync(direct)
        os.fsync(direct)
    cut(made)
    assert file.read_bytes() == b"d" * 4096 + b"x" * 4096


def test_a_recorded_sync_that_failed_fails_again(make: Make, data: Path) -> None:
    """The states of a recording are those of the disk as it was: what was lost is in none that came of no page alone."""
    made, file = make(), kept(data, 4096)
    made.record()
    made.fail("eio_sync", 1, lasting=False)
    with opened(file) as descriptor:
        os.pwrite(descriptor, b"c" * 4096, 0)
        with failing(errno.EIO):
            os.fsync(descriptor)
        os.fsync(descriptor)
    end = made.recorded().changes
    states, _ = made.states("ext4")
    found = {}
    for state in states:
        made.restore(state)
        cut(made)
        found[file.read_bytes()[:1]] = state
    assert found[b"x"].until == end
    assert found[b"c"].until < end  # the kernel may have written it before its sync failed; then it stays


_CHANGES: Final[dict[str, tuple[int, Parts, Parts]]] = {
    "new": (0, ((0, b"a" * 5000),), ()),
    "appended within its block": (1000, ((1000, b"b" * 500),), ()),
    "appended beyond its block": (1000, ((1000, b"b" * 9000),), ()),
    "overwritten": (8192, ((0, b"c" * 4096),), ()),
    "overwritten and appended": (4096, ((0, b"c" * 4096), (4096, b"d" * 100)), ()),
    "written again in part": (8192, ((0, b"c" * 8192),), ((10, b"e"),)),
    "appended again": (1000, ((1000, b"b" * 100),), ((1100, b"f" * 100),)),
}
"""The size before, what is written before the sync that fails, and what after it."""


class FailingExt4(Ext4Disk):
    """ext4 whose device is on a disk that fails: a sync of it fails where the device does not take what it writes."""

    def __init__(self, make: Make, folder: Path) -> None:
        (folder / "mounted").mkdir()
        self._device = make()
        self.fail, self.failures = self._device.fail, self._device.failures
        super().__init__(folder / "mounted", folder / "data" / "image")


@contextmanager
def both(make: Make, folder: Path, other: Path) -> Iterator[tuple[tuple[FailingExt4, Path], tuple[FuseDisk, Path]]]:
    """ext4 on a disk in memory that fails, and another such disk. Skips the test where there is no ext4."""
    try:
        real = FailingExt4(make, folder)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    model = FuseDisk(other)
    try:
        yield (real, folder / "mounted"), (model, other)
    finally:
        model.close()
        with suppress(OSError):
            real.close()


def left(disk: FailingExt4 | FuseDisk, data: Path, name: str, again: str) -> tuple[bytes, bytes]:
    """What is read after a sync failed, and what is left of it by a cut: of a file, that is synced again or whose names are."""
    size, before, after = _CHANGES[name]
    file = kept(data, size)
    with opened(file) as descriptor:
        for offset, text in before:
            os.pwrite(descriptor, text, offset)
        disk.fail("eio_write" if isinstance(disk, FailingExt4) else "eio_sync", 1, lasting=True)
        with failing(errno.EIO):
            os.fsync(descriptor)
        assert disk.failures().failed
        seen = file.read_bytes()
        for offset, text in after:
            os.pwrite(descriptor, text, offset)
        if again == "synced":
            os.fsync(descriptor)
    if again == "committed":
        write(data / "other", "commits the journal", sync=True)
    cut(disk)
    return seen, file.read_bytes()


@pytest.mark.serial  # beside programs that write much, the kernel writes out what no one synced
@pytest.mark.parametrize("again", ["synced", "committed", "left alone"])
@pytest.mark.parametrize("name", _CHANGES)
def test_a_failed_sync_leaves_what_it_leaves_on_ext4(
    make: Make, data: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, name: str, again: str
) -> None:
    """What can be read, and what a cut leaves, byte for byte."""
    with both(make, tmp_path, tmp_path_factory.mktemp("memory")) as (real, model):
        assert left(*model, name, again) == left(*real, name, again)


def sync_renamed(data: Path) -> None:
    with opened(data / "old") as file:
        os.fsync(file)


_LATER: Final[dict[str, Callable[[Path, int], object]]] = {
    "another name": lambda data, _: (data / "old").rename(data / "moved"),
    "a second name": lambda data, _: os.link(data / "old", data / "second"),
    "a name removed": lambda data, _: (data / "old").unlink(),
    "a new file": lambda data, _: (data / "made").touch(),
    "a new directory": lambda data, _: (data / "made").mkdir(),
    "what was written": lambda _, file: os.pwrite(file, b"a", 0),
    "what is appended": lambda _, file: os.pwrite(file, b"a", 4096),
    "a size": lambda _, file: os.ftruncate(file, 1),
    "space": lambda _, file: os.posix_fallocate(file, 0, 16384),
    "a mode": lambda _, file: os.fchmod(file, 0o600),
    "a sync of the data": lambda _, file: os.fdatasync(file),
    "a sync": lambda _, file: os.fsync(file),
    "a sync of the directory": lambda data, _: sync_directory(data),
}
"""Changes of a directory, and of a file in it."""


def refused(disk: FailingExt4 | FuseDisk, data: Path, sync: Callable[[Path], None]) -> tuple[dict[str, int | None], object, object]:
    """A name replaces another, and a call of the sync of that fails: how each later change fails, what is read, and what a cut leaves."""
    for name in ("new", "old", "other"):
        write(data / name, name, sync=True)
    sync_directory(data)
    found: dict[str, int | None] = {}
    with opened(data / "other") as other:
        (data / "new").rename(data / "old")
        disk.fail("eio_write" if isinstance(disk, FailingExt4) else "eio_sync", 1, lasting=False)
        with failing(errno.EIO):
            sync(data)
        assert disk.failures().failed == 1
        for name, change in _LATER.items():
            with pytest.raises(OSError, match=r".") as raised:
                change(data, other)
            found[name] = raised.value.errno
        seen = {name: (data / name).read_bytes() for name in names(data)}
    cut(disk)
    write(data / "again", "works again", sync=True)
    return found, seen, {name: (data / name).read_bytes() for name in names(data)}


@pytest.mark.serial
@pytest.mark.parametrize("sync", [sync_directory, sync_renamed])
def test_a_failed_commit_is_the_last_as_on_ext4(
    make: Make, data: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, sync: Callable[[Path], None]
) -> None:
    """A sync that had no page to write has failed with the journal: until the next mount nothing can be changed, and none of it is kept."""
    with both(make, tmp_path, tmp_path_factory.mktemp("memory")) as (real, model):
        on_ext4 = refused(*real, sync)
        assert refused(*model, sync) == on_ext4
    later, seen, left = on_ext4
    assert {*later.values()} == {errno.EROFS}
    assert (seen, left) == ({"old": b"new", "other": b"other"}, {"again": b"works again", "new": b"new", "old": b"old", "other": b"other"})


def test_a_sync_with_nothing_to_commit_fails_alone(make: Make, data: Path) -> None:
    """That of a file whose pages and names are durable only asks the device for a flush: the file system goes on."""
    made, file = make(), kept(data, 10)
    with opened(file) as descriptor:
        made.fail("eio_sync", 1, lasting=False)
        with failing(errno.EIO):
            os.fsync(descriptor)
        os.pwrite(descriptor, b"a", 0)
        os.fsync(descriptor)
    cut(made)
    assert file.read_bytes() == b"a" + b"x" * 9
