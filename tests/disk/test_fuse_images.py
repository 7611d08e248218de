"""The two images of the disk in memory: what was synced is there after the cut, and nothing that was not; on the real mount."""

from __future__ import annotations

import fcntl
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.disk import fuse
from tests.disk.files import Make, cut, names, sync_directory, write
from tests.launch.small import eventually

pytestmark = pytest.mark.usefixtures("memory_disks")


def test_a_cut_takes_what_was_not_synced_and_nothing_else(make: Make, data: Path) -> None:
    """After a cut, synced data is there, unsynced data is not, and the disk works again."""
    made = make()
    write(data / "settled", "old", sync=False)
    made.sync()
    write(data / "unsynced", "lost", sync=False)
    write(data / "synced", "kept", sync=True)
    write(data / "late", "lost", sync=False)
    made.cut()
    assert made.off
    with pytest.raises(OSError, match="Input/output error"):
        write(data / "after", "never", sync=False)
    made.remount()
    assert (data / "settled").read_text() == "old"
    assert (data / "synced").read_text() == "kept"
    assert (data / "unsynced").read_text() == ""  # the journal has its name, which came before the sync, and no byte of it
    assert not (data / "late").exists()
    write(data / "again", "works", sync=True)


def test_an_overwritten_file_is_as_it_was_synced(make: Make, data: Path) -> None:
    """Unsynced overwrites and growth are undone."""
    made = make()
    write(data / "file", "a" * 10_000, sync=True)
    with (data / "file").open("r+") as file:
        file.seek(5_000)
        file.write("b" * 10_000)
    assert (data / "file").stat().st_size == 15_000
    cut(made)
    assert (data / "file").read_text() == "a" * 10_000


def test_data_alone_can_be_synced(make: Make, data: Path) -> None:
    """fdatasync keeps what the file needs to be read, and is no commit of other names where it needs none."""
    made = make()
    write(data / "file", "0123456789", sync=True)
    write(data / "other", "", sync=False)
    with (data / "file").open("r+") as file:
        file.write("abc")
        file.flush()
        os.fdatasync(file.fileno())
        cut_names = names(data)
    made.cut()
    made.remount()
    assert cut_names == ["file", "other"]
    assert names(data) == ["file"]
    assert (data / "file").read_text() == "abc3456789"
    with (data / "file").open("a") as file:
        file.write("more")
        file.flush()
        os.fdatasync(file.fileno())
    cut(made)
    assert (data / "file").read_text() == "abc3456789more"


@pytest.mark.parametrize("flag", [os.O_SYNC, os.O_DSYNC], ids=["O_SYNC", "O_DSYNC"])
def test_a_write_to_a_synced_descriptor_is_durable_when_it_returns(make: Make, data: Path, flag: int) -> None:
    """Tarantool's way: there is no fsync at all."""
    made = make()
    descriptor = os.open(data / "log", os.O_WRONLY | os.O_CREAT | flag)
    os.write(descriptor, b"kept")
    made.cut()
    os.close(descriptor)
    made.remount()
    assert (data / "log").read_text() == "kept"


def test_what_is_changed_through_a_mapping_counts_when_it_is_synced(make: Make, data: Path) -> None:
    """A page changed by mmap is durable after msync, and lost without."""
    made = make()
    with (data / "map").open("w+b") as file:
        file.truncate(3 * 4096)
        os.fsync(file.fileno())
        with mmap.mmap(file.fileno(), 3 * 4096) as memory:
            memory[10:14] = b"kept"
            memory.flush()
            memory[4096:4100] = b"lost"
            assert (data / "map").read_bytes()[4096:4100] == b"lost"  # one cache for both ways
            made.cut()
    made.remount()
    assert (data / "map").read_bytes()[10:14] == b"kept"
    assert (data / "map").read_bytes()[4096:4100] == bytes(4)


def test_the_journal_commits_earlier_names_with_any_sync(make: Make, data: Path) -> None:
    """As in ext4, a sync of one file commits earlier changes of names, not later ones."""
    made = make()
    write(data / "old", "content", sync=True)
    (data / "folder").mkdir()
    (data / "old").rename(data / "folder" / "new")
    write(data / "other", "", sync=True)
    write(data / "later", "", sync=False)
    cut(made)
    assert names(data) == ["folder", "other"]
    assert (data / "folder" / "new").read_text() == "content"


def test_strict_a_file_is_lost_until_its_directory_is_synced(make: Make, data: Path) -> None:
    """In strict mode a file needs a sync of its directory."""
    made = make(strict=True)
    write(data / "file", "content", sync=True)
    cut(made)
    assert names(data) == []
    write(data / "file", "content", sync=True)
    sync_directory(data)
    (data / "file").rename(data / "renamed")
    write(data / "unrelated", "", sync=True)
    cut(made)
    assert names(data) == ["file"]
    assert (data / "file").read_text() == "content"


def test_strict_a_name_is_durable_and_the_content_is_not(make: Make, data: Path) -> None:
    """In strict mode a synced directory has the name of an unsynced file, without its content."""
    made = make(strict=True)
    write(data / "file", "content", sync=False)
    sync_directory(data)
    cut(made)
    assert (data / "file").read_text() == ""


def test_strict_a_rename_across_directories_is_whole_or_not_at_all(make: Make, data: Path) -> None:
    """In strict mode a rename never leaves a file in both directories or in none."""
    made = make(strict=True)
    for name in ("from", "to"):
        (data / name).mkdir()
    write(data / "from" / "file", "content", sync=True)
    made.sync()
    (data / "from" / "file").rename(data / "to" / "file")
    sync_directory(data / "from")
    cut(made)
    assert (names(data / "from"), names(data / "to")) == ([], ["file"])
    assert (data / "to" / "file").read_text() == "content"


def test_a_replacing_rename_leaves_the_old_or_the_new(make: Make, data: Path) -> None:
    """An unsynced replacing rename is undone whole."""
    made = make()
    write(data / "file", "old", sync=True)
    write(data / "new", "new", sync=True)
    (data / "new").replace(data / "file")
    assert (data / "file").read_text() == "new"
    cut(made)
    assert {name: (data / name).read_text() for name in names(data)} == {"file": "old", "new": "new"}
    (data / "new").replace(data / "file")
    sync_directory(data)
    cut(made)
    assert {name: (data / name).read_text() for name in names(data)} == {"file": "new"}


def test_a_removed_file_is_back_until_the_removal_is_synced(make: Make, data: Path) -> None:
    """An unsynced removal is undone."""
    made = make()
    write(data / "file", "content", sync=True)
    (data / "file").unlink()
    assert names(data) == []
    cut(made)
    assert (data / "file").read_text() == "content"
    (data / "file").unlink()
    sync_directory(data)
    cut(made)
    assert names(data) == []


def test_sizes_are_names_to_the_journal_and_bytes_are_not(make: Make, data: Path) -> None:
    """Another file's sync commits sizes, but not data."""
    made = make()
    write(data / "cut", "x" * 5_000, sync=True)
    write(data / "made", "", sync=True)
    os.truncate(data / "cut", 3)
    with (data / "made").open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 9_000)
        file.write(b"bytes")
    write(data / "other", "", sync=True)
    cut(made)
    assert (data / "cut").read_text() == "xxx"
    assert (data / "made").read_bytes() == bytes(9_000)


def test_a_file_that_was_cut_short_and_grew_again_shows_nothing_old(make: Make, data: Path) -> None:
    """Bytes beyond a truncation are zero, also after a cut."""
    made = make()
    write(data / "file", "x" * 5_000, sync=True)
    os.truncate(data / "file", 3)
    os.truncate(data / "file", 5_000)
    assert (data / "file").read_bytes() == b"xxx" + bytes(4_997)
    with (data / "file").open("rb") as file:
        os.fsync(file.fileno())
    cut(made)
    assert (data / "file").read_bytes() == b"xxx" + bytes(4_997)


def test_links_modes_and_empty_directories_are_as_on_any_file_system(make: Make, data: Path) -> None:
    """Hard links, symbolic links, modes and directories follow POSIX, also after a cut."""
    made = make()
    write(data / "file", "content", sync=True)
    os.link(data / "file", data / "second")
    (data / "symbolic").symlink_to("file")
    (data / "file").chmod(0o640)
    (data / "folder").mkdir(0o750)
    write(data / "folder" / "inside", "", sync=False)
    assert (data / "file").stat().st_nlink == 2
    with pytest.raises(OSError, match="not empty"):
        (data / "folder").rmdir()
    with pytest.raises(FileExistsError):
        (data / "folder").mkdir()
    (data / "file").unlink()
    assert (data / "second").stat().st_nlink == 1
    sync_directory(data)
    cut(made)
    assert names(data) == ["folder", "second", "symbolic"]
    assert (data / "second").stat().st_mode & 0o777 == 0o640
    assert (data / "second").stat().st_nlink == 1
    assert (data / "symbolic").readlink() == Path("file")
    assert (data / "folder").stat().st_mode & 0o777 == 0o750
    for name in ("folder/inside", "second", "symbolic"):
        (data / name).unlink()
    (data / "folder").rmdir()
    assert names(data) == []


def test_a_file_that_is_removed_while_it_is_open_can_be_used(make: Make, data: Path) -> None:
    """An open file outlives its name."""
    make()
    with (data / "file").open("w+") as file:
        (data / "file").unlink()
        file.write("still here")
        file.seek(0)
        assert file.read() == "still here"


def test_locks_keep_a_second_server_out(make: Make, data: Path) -> None:
    """flock and POSIX locks exclude a second process."""
    make()
    attempt = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'w')\n"
        "for lock in (fcntl.flock, fcntl.lockf):\n"
        "    try: lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "    except BlockingIOError: print('held')\n"
    )
    with (data / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = subprocess.run([sys.executable, "-c", attempt, str(data / "lock")], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["held", "held"]


def test_many_entries_are_listed_while_they_are_removed(make: Make, data: Path) -> None:
    """A directory can be listed whole while its entries are removed."""
    make()
    for number in range(2_000):
        (data / f"{number:04}").touch()
    with os.scandir(data) as listed:
        for entry in listed:
            Path(entry.path).unlink()
    assert names(data) == []


def test_a_torn_disk_keeps_some_sectors_of_what_was_not_synced_and_the_same_ones_for_a_seed(make: Make, data: Path) -> None:
    """Torn mode keeps some unsynced sectors, the same ones for the same seed."""

    def survivors(seed: int) -> bytes:
        made = make(torn=0.5, seed=seed)
        write(data / "file", "a" * 64 * 512, sync=True)
        with (data / "file").open("r+") as file:
            file.write("b" * 64 * 512)
        cut(made)
        found = (data / "file").read_bytes()
        made.close()
        return found

    found = survivors(1)
    sectors = {found[first : first + 512] for first in range(0, 64 * 512, 512)}
    assert sectors == {b"a" * 512, b"b" * 512}
    assert found == survivors(1)
    assert found != survivors(2)


def test_the_power_goes_at_the_nth_sync(make: Make, data: Path) -> None:
    """The n-th sync fails, and those before it are durable."""
    made = make()
    before = made.syncs
    made.cut_at_sync(3)
    write(data / "first", "kept", sync=True)
    write(data / "second", "kept", sync=True)
    assert not made.off
    with pytest.raises(OSError, match="Input/output error"):
        write(data / "third", "lost", sync=True)
    assert made.off
    assert made.syncs == before + 3
    made.remount()
    assert names(data) == ["first", "second"]
    write(data / "third", "works", sync=True)


def test_what_was_allocated_is_taken_until_it_is_given_back(make: Make, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a disk can be filled without writing it, and a log that was allocated can be written when the disk is full."""
    monkeypatch.setattr(fuse, "_LARGEST", 2**20)
    make()
    with (data / "log").open("wb", buffering=0) as log, (data / "ballast").open("wb") as ballast:
        os.posix_fallocate(log.fileno(), 0, 2**18)
        with pytest.raises(OSError, match="No space left"):
            os.posix_fallocate(ballast.fileno(), 0, 2**20)
        os.posix_fallocate(ballast.fileno(), 0, 2**20 - 2**18)
        assert os.statvfs(data).f_bavail == 0
        log.write(bytes(2**18))
        with pytest.raises(OSError, match="No space left"):
            (data / "more").write_bytes(bytes(4096))
    sync_directory(data)
    (data / "ballast").unlink()
    (data / "more").write_bytes(bytes(4096))
    assert os.statvfs(data).f_bavail * 4096 == 2**20 - 2**18 - 4096


def test_a_full_disk_says_so_and_works_again(make: Make, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes beyond the capacity fail with ENOSPC until space is freed."""
    monkeypatch.setattr(fuse, "_LARGEST", 2**20)
    make()
    with pytest.raises(OSError, match="No space left"):
        (data / "large").write_bytes(bytes(2**21))
    (data / "large").unlink()

    def fits() -> bool:
        try:
            (data / "small").write_bytes(bytes(2**10))
        except OSError:
            return False
        return True

    assert eventually(fits)  # the kernel lets go of a closed file when it gets to it
