"""What is done to a disk in memory is recorded, with marks in the same order, and each listed state can be had again."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.disk.fuse import FuseDisk
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.spec.guarantee import CrashModel
from tests.disk.files import cut, names, sync_directory, write

pytestmark = pytest.mark.usefixtures("memory_disks")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FuseDisk]:
    made = FuseDisk(tmp_path)
    yield made
    made.close()


def left(disk: FuseDisk, at: Path, model: CrashModel) -> dict[str, set[str]]:
    """The files of each state, with their content, and the numbers of the marks before it became impossible."""
    recording = disk.recorded()
    found: dict[str, set[str]] = {}
    for state in disk.states(model)[0]:
        disk.restore(state)
        cut(disk)
        content = ", ".join(f"{name} {(at / name).read_text()}" for name in names(at))
        found.setdefault(content.replace("\0", "0"), set()).add(str(recording.last_mark(state.until)))
    return found


def test_after_a_sync_nothing_else_is_possible(disk: FuseDisk, tmp_path: Path) -> None:
    """The first mark is of the request, the second of the reply."""
    disk.record()
    disk.mark(1)
    write(tmp_path / "log", "one", sync=True)
    disk.mark(2)
    assert left(disk, tmp_path, "ext4") == {"": {"1"}, "log ": {"1"}, "log one": {"2"}}


def test_a_name_that_was_not_synced_may_be_missing(disk: FuseDisk, tmp_path: Path) -> None:
    """A file that replaces another is written out before, as ext4 does."""
    write(tmp_path / "old", "one", sync=True)
    sync_directory(tmp_path)
    disk.record()
    write(tmp_path / "new", "two", sync=True)
    (tmp_path / "new").replace(tmp_path / "old")
    disk.mark(1)
    assert left(disk, tmp_path, "ext4") == {"old one": {"0"}, "new , old one": {"0"}, "new two, old one": {"1"}, "old two": {"1"}}


def test_a_size_may_be_there_without_what_was_appended(disk: FuseDisk, tmp_path: Path) -> None:
    """Within the block that the file has already."""
    write(tmp_path / "log", "one", sync=True)
    disk.record()
    with (tmp_path / "log").open("a") as file:
        file.write("two")
    disk.mark(1)
    assert left(disk, tmp_path, "ext4") == {"log one": {"1"}, "log one000": {"1"}, "log onetwo": {"1"}}


def test_a_killed_process_leaves_all_that_it_wrote(disk: FuseDisk, tmp_path: Path) -> None:
    """And no part of a later write."""
    write(tmp_path / "log", "one", sync=True)
    disk.record()
    with (tmp_path / "log").open("r+") as file:
        file.write("two")
        file.flush()
        disk.mark(1)
        file.write("three")
    assert left(disk, tmp_path, "kernel") == {"log one": {"0"}, "log two": {"1"}, "log twothree": {"1"}}


@pytest.mark.parametrize(("model", "torn"), [("ext4", False), ("torn", True)])
def test_a_page_is_torn_by_its_model_alone(disk: FuseDisk, tmp_path: Path, model: CrashModel, torn: bool) -> None:
    """Its first sectors are new, and never its last ones alone."""
    write(tmp_path / "page", "a" * 4096, sync=True)
    disk.record()
    with (tmp_path / "page").open("r+") as file:
        file.write("b" * 4096)
    found = left(disk, tmp_path, model)
    assert {"page " + "a" * 4096, "page " + "b" * 4096} <= found.keys()
    assert any("ba" in each for each in found) is torn
    assert not any("ab" in each for each in found)


@pytest.mark.parametrize(("model", "lacks"), [("ext4", False), ("writeback", True)])
def test_a_size_without_its_new_pages_is_one_of_writeback(disk: FuseDisk, tmp_path: Path, model: CrashModel, lacks: bool) -> None:
    """In the order of `data=ordered` the pages come first."""
    write(tmp_path / "log", "", sync=True)
    disk.record()
    with (tmp_path / "log").open("a") as file:
        file.write("a" * 5000)
    assert ("log " + "0" * 5000 in left(disk, tmp_path, model)) is lacks


def test_a_file_without_a_name_is_still_written(disk: FuseDisk, tmp_path: Path) -> None:
    """Its sync commits the journal, as any does."""
    disk.record()
    descriptor = os.open(tmp_path / "gone", os.O_CREAT | os.O_RDWR)
    (tmp_path / "gone").unlink()
    write(tmp_path / "kept", "", sync=False)
    os.write(descriptor, b"data")
    os.fsync(descriptor)
    os.close(descriptor)
    disk.mark(1)
    assert [content for content, marks in left(disk, tmp_path, "ext4").items() if "1" in marks] == ["kept "]


def test_a_state_of_nothing_is_refused(disk: FuseDisk) -> None:
    """With a reason."""
    with pytest.raises(MachineFailed, match="nothing is recorded"):
        disk.recorded()
    with pytest.raises(MachineFailed, match="nothing was recorded"):
        disk.states("ext4")


def mapped(file: Path, *, flush: bool) -> None:
    """Write to two pages of a file through a memory mapping."""
    with file.open("w+b") as opened:
        opened.truncate(3 * mmap.PAGESIZE)
        with mmap.mmap(opened.fileno(), 0) as pages:
            pages[0] = pages[2 * mmap.PAGESIZE] = 1
            if flush:
                pages.flush()


def test_writes_through_a_memory_mapping_are_counted(disk: FuseDisk, tmp_path: Path) -> None:
    """At the end of the recording at the latest, and not those before it. Of files that were synced, nothing follows."""
    mapped(tmp_path / "before", flush=True)
    disk.record()
    mapped(tmp_path / "locks", flush=False)
    write(tmp_path / "log", "one", sync=True)
    assert disk.recorded().mapped == 2
    disk.record()
    mapped(tmp_path / "data", flush=True)
    with pytest.raises(NotAvailable, match="it wrote 2 pages through memory mappings"):
        disk.recorded()


def test_mappings_are_counted_on_a_disk_that_takes_no_changes(disk: FuseDisk, tmp_path: Path) -> None:
    """Its journal is aborted, as a sync of a name failed: what is still in a mapping does not reach it any more."""
    disk.record()
    with (tmp_path / "locks").open("w+b") as opened:
        opened.truncate(mmap.PAGESIZE)
        with mmap.mmap(opened.fileno(), 0) as pages:
            pages[0] = 1
            disk.fail("eio_sync", 1, lasting=False)
            with pytest.raises(OSError, match="Input/output error"):
                sync_directory(tmp_path)
            disk.failures()
            assert disk.mapped() == 0


def test_a_write_past_the_page_cache_is_seen_as_it_is_asked_for(disk: FuseDisk, tmp_path: Path) -> None:
    """In order, and it is no mapping's."""
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        disk.record()
        file = os.open(tmp_path / "log", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
        for place in range(2):
            page[0] = 1 + place
            disk.mark(place)
            os.pwrite(file, page, place * mmap.PAGESIZE)
        os.close(file)
    recording = disk.recorded()
    assert recording.mapped == 0
    assert recording.places == (1, 3), "each write is between two marks"
    assert recording.written == 2 * mmap.PAGESIZE
