"""The I/O of a process, seen by the kernel: every byte and every sync, by the kind of the file that it is for at that moment."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from storeproof.anatomy import watch as module
from storeproof.anatomy.watch import PAGES, IoWatch, WatchedIo, check_available
from storeproof.errors import NotAvailable
from storeproof.machine.tracepoints import cores
from storeproof.spec.store.files import FileRule
from storeproof.stats.latency import decode

pytestmark = pytest.mark.slow

RULES = (
    FileRule(kind="journal", paths=("*.wal",)),
    FileRule(kind="merge", paths=("*.db",), thread="merger*"),
    FileRule(kind="save", paths=("*.db",)),
    FileRule(kind="catalogue", paths=(".",)),
    FileRule(kind="log", paths=("never",)),
)


def seen(folder: Path, work: Callable[[], object], pages: int = PAGES) -> WatchedIo:
    """What this process does in `work`. Other tests use the same disk meanwhile: of a ring that their records fill some are lost."""
    watch = IoWatch(folder, [os.getpid()], RULES, pages)
    watch.begin()
    try:
        work()
    finally:
        found = watch.end()
    assert pages < PAGES or not found.lost
    return found


def write(path: Path, size: int, times: int = 1, flags: int = os.O_WRONLY | os.O_CREAT | os.O_APPEND) -> None:
    """Each time synced."""
    file = os.open(path, flags, 0o600)
    for _ in range(times):
        os.write(file, bytes(size))
        os.fdatasync(file)
    os.close(file)


def test_bytes_and_syncs_are_told_apart_by_file(watched: Path) -> None:
    """Files that were there before, files that appear meanwhile, files below directories that do, and the directory itself."""
    write(watched / "old.wal", 1)

    def work() -> None:
        write(watched / "old.wal", 600, times=20)
        (watched / "sub").mkdir()
        write(watched / "sub" / "new.db", 10_000)
        folder = os.open(watched, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    found = seen(watched, work)
    journal, save, catalogue = found.kinds["journal"], found.kinds["save"], found.kinds["catalogue"]
    assert (journal.written_bytes, journal.syncs, decode(journal.waits).get_total_count()) == (12_000, 20, 20)
    assert (save.written_bytes, save.syncs, catalogue.syncs) == (10_000, 1, 1)
    assert 0 < journal.busy_ns == journal.wait_ns < found.nanoseconds, "one thread waits for one sync at a time"
    assert "other" not in found.kinds
    assert "unnamed" not in found.kinds
    assert found.matched == {0, 2, 3}
    assert found.device.flushes > 0


def test_a_name_is_that_of_the_moment(watched: Path) -> None:
    """Inode numbers are used again at once: of two files that take turns each has its own bytes."""

    def work() -> None:
        for number in range(100):
            for suffix, size in (("wal", 10), ("db", 20)):
                path = watched / f"{number}.{suffix}"
                write(path, size)
                path.unlink()

    found = seen(watched, work)
    assert (found.kinds["journal"].written_bytes, found.kinds["journal"].syncs) == (1000, 100)
    assert (found.kinds["save"].written_bytes, found.kinds["save"].syncs) == (2000, 100)


def test_a_file_without_a_name_is_not_guessed(watched: Path) -> None:
    """One that was never in a directory (O_TMPFILE) is `unnamed`, also where its number was another file's; one elsewhere is `other`."""
    folder, elsewhere = watched / "data", watched / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()

    def work() -> None:
        write(folder / "a.wal", 5)
        (folder / "a.wal").unlink()
        write(folder, 7, flags=os.O_TMPFILE | os.O_RDWR)
        write(elsewhere / "x", 9)

    found = seen(folder, work)
    assert {name: io.written_bytes for name, io in found.kinds.items() if name != "elsewhere"} == {"journal": 5, "unnamed": 7, "other": 9}


def test_direct_writes_are_waits(watched: Path) -> None:
    """Of one that is synced before it ends the sync is within its wait, and not a wait of its own; direct reads are none."""
    page = mmap.mmap(-1, 4096)

    def work() -> None:
        file = os.open(watched / "a.db", os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_DSYNC)
        for place in range(10):
            os.pwrite(file, page, 4096 * place)
        for place in range(10):
            os.preadv(file, [page], 4096 * place)
        os.close(file)

    save = seen(watched, work).kinds["save"]
    assert (save.direct_writes, save.direct_bytes, save.syncs) == (10, 40_960, 10)
    assert decode(save.waits).get_total_count() == 10


def test_threads_are_told_apart(watched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their names: what one of them writes is a merge, and what another writes to the same file is not; of one that has ended before
    its name could be read it is not known."""
    monkeypatch.setattr(module, "_EVERY", 30.0)  # no look before the end
    over = threading.Event()
    written = threading.Event()

    def merge() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("merger-1")
        write(watched / "a.db", 70)
        written.set()
        over.wait(30)

    threads = [threading.Thread(target=merge), threading.Thread(target=write, args=(watched / "a.db", 11))]

    def work() -> None:
        write(watched / "a.db", 30)
        for thread in threads:
            thread.start()
        written.wait(30)
        while Path(f"/proc/self/task/{threads[1].native_id}").exists():
            time.sleep(0.001)

    watch = IoWatch(watched, [os.getpid()], RULES)
    watch.begin()
    work()
    found = watch.end()
    over.set()
    threads[0].join(30)
    assert (found.kinds["save"].written_bytes, found.kinds["merge"].written_bytes) == (30, 70)
    assert found.kinds["unnamed"].written_bytes == 11


@pytest.fixture
def busy_cores() -> Iterator[None]:
    """Keeps every core busy: on one that is idle a kernel may record nothing (seen with Linux 6.18), not even that a request has ended.

    What spins ends with the process that started it, however that ends.
    """
    spins = "import os\nparent = os.getppid()\nos.sched_setaffinity(0, [{}])\nprint(flush=True)\nwhile os.getppid() == parent: pass"
    with ExitStack() as stack:
        for core in cores():
            each = stack.enter_context(Popen([sys.executable, "-c", spins.format(core)], stdout=PIPE))
            stack.callback(each.kill)
            assert each.stdout is not None
            assert each.stdout.readline()
        yield


@pytest.mark.usefixtures("busy_cores")
def test_reads_of_the_device_are_seen(watched: Path) -> None:
    """What is not in the page cache, by the thread that asks for it."""
    write(watched / "a.db", 1 << 20)

    def work() -> None:
        file = os.open(watched / "a.db", os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.read(file, 1 << 20)
        os.close(file)

    read = seen(watched, work).kinds["read"]
    assert read.read_bytes >= 1 << 20
    assert decode(read.read_waits).get_total_count() == read.reads


def test_others_on_the_same_disk_are_set_apart(watched: Path) -> None:
    """What another program writes there is in no kind of the store's."""
    folder, others = watched / "data", watched / "others"
    folder.mkdir()
    others.mkdir()

    def work() -> None:
        write(folder / "a.wal", 5)
        if not (child := os.fork()):
            os.setsid()
            write(others / "x.wal", 123_457)
            os._exit(0)
        os.waitpid(child, 0)

    watch = IoWatch(folder, [1 << 22], RULES)  # a server that is not this process
    watch.begin()
    work()
    found = watch.end()
    assert found.kinds["journal"].written_bytes == 5
    assert found.kinds["elsewhere"].written_bytes >= 123_457
    assert not {"other", "unnamed"} & found.kinds.keys()


def test_a_ring_that_is_too_small_loses_records_and_says_so(watched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is counted; nothing is told as if it were all."""
    monkeypatch.setattr(module, "_EVERY", 30.0)  # no look before the end
    found = seen(watched, lambda: write(watched / "a.wal", 1, times=400), pages=1)
    assert found.lost > 0
    assert "journal" not in found.kinds or found.kinds["journal"].syncs < 400


def test_a_watch_that_breaks_raises(watched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its end, and not unseen in a thread."""
    watch = IoWatch(watched, [os.getpid()], RULES)
    monkeypatch.setattr(watch._names, "path", lambda _inode: 1 / 0)
    watch.begin()
    write(watched / "a.wal", 1)
    with pytest.raises(ZeroDivisionError):
        watch.end()


def test_nothing_is_left_behind(watched: Path) -> None:
    """Neither descriptors nor threads."""
    seen(watched, lambda: None)
    before = (sorted(Path("/proc/self/fd").iterdir()), threading.active_count())
    seen(watched, lambda: write(watched / "a.wal", 1))
    IoWatch(watched, [os.getpid()], RULES).close()
    assert (sorted(Path("/proc/self/fd").iterdir()), threading.active_count()) == before


@pytest.mark.parametrize(
    "what", ["storeproof.anatomy.file_names.call", "storeproof.anatomy.watch.format_of", "storeproof.anatomy.watch.Ring.record"]
)
def test_without_root_nothing_is_watched(watched: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Whichever of the kernel's doors is closed, the reason is said, and nothing stays open."""

    def refused(*_arguments: object, **_named: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    before = sorted(Path("/proc/self/fd").iterdir())
    monkeypatch.setattr(what, refused)
    with pytest.raises(NotAvailable, match=r"cannot be read: .*Operation not permitted; run as root"):
        IoWatch(watched, [os.getpid()], RULES)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize(
    ("folder", "rules", "reason"),
    [
        (Path("/tmp"), (), "does not say what its files are for"),
        (Path("/dev/shm"), RULES, "its data is on tmpfs, and I/O is watched on ext4 alone"),
    ],
)
def test_what_cannot_be_watched_says_why(folder: Path, rules: tuple[FileRule, ...], reason: str) -> None:
    """Never an empty table."""
    with pytest.raises(NotAvailable, match=reason):
        check_available(folder, rules)
