"""What a server uses is what it was seen to use: a process that burns, writes and syncs known amounts, and its children."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable
from storeproof.machine import sync_counter as module
from storeproof.machine import usage
from storeproof.machine.mounts import mount_of
from storeproof.machine.sync_counter import sync_counter
from storeproof.machine.usage import UsageMeter, allocated_bytes

SERVER = """
import os, sys, threading, time

def burn(seconds):
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass

def write(count, size, sync):
    file = os.open(sys.argv[1] + "/file", os.O_CREAT | os.O_RDWR | os.O_APPEND | (os.O_DSYNC if sync == "dsync" else 0))
    for _ in range(count):
        os.write(file, b"x" * size)
        if sync in ("fsync", "fdatasync"):
            getattr(os, sync)(file)
    os.close(file)

def forked(do):
    child = os.fork()
    if child == 0:
        do()
        os._exit(0)
    os.waitpid(child, 0)

def threaded(do):
    thread = threading.Thread(target=do)
    thread.start()
    thread.join()

for line in sys.stdin:
    eval(line)
    print("done", flush=True)
"""
"""Does what it is told, line by line."""


class Server:
    """One, in a directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.do("None")

    def do(self, what: str) -> None:
        """Wait until it has."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(what + "\n")
        assert self.process.stdout.readline() == "done\n"


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


@pytest.fixture
def on_disk(tmp_path: Path) -> Path:
    """A directory on a block device."""
    if mount_of(tmp_path).filesystem in ("tmpfs", "ramfs", "overlay"):
        pytest.skip("temporary files lie in memory here")
    return tmp_path


@pytest.mark.parametrize("how", ["burn(0.3)", "threaded(lambda: burn(0.3))", "forked(lambda: burn(0.3))"])
def test_processor_time(tmp_path: Path, how: str) -> None:
    """Of the process, of a thread that has ended, and of a child that has ended: what was burnt, and little more."""
    with serving(tmp_path) as server:
        meter = UsageMeter([server.process.pid], tmp_path)
        server.do("burn(0.1)")
        meter.begin()
        server.do(how)
        assert 0.29 <= meter.end().cpu_seconds < 0.4


@pytest.mark.parametrize("wrap", ["{}", "threaded(lambda: {})", "forked(lambda: {})"])
@pytest.mark.parametrize("sync", ["fsync", "fdatasync", "dsync"])
def test_bytes_and_syncs(on_disk: Path, wrap: str, sync: str) -> None:
    """Every sync is counted, and the pages that were written, by whichever thread or child."""
    with serving(on_disk) as server:
        meter = UsageMeter([server.process.pid], on_disk)
        if "syncs" in meter.unknown:
            pytest.skip(meter.unknown["syncs"])
        server.do(wrap.format(f"write(5, 8192, '{sync}')"))
        meter.begin()
        server.do(wrap.format(f"write(20, 8192, '{sync}')"))
        found = meter.end()
        server.do(wrap.format(f"write(5, 8192, '{sync}')"))
        assert found.syncs == 20
        meter.unknown.pop("written_bytes", None)  # of small writes at the end of a file every kernel counts the right pages
        meter.begin()
        server.do(wrap.format(f"write(20, 8192, '{sync}')"))
        found = meter.end()
        assert found.written_bytes is not None
        assert 20 * 8192 <= found.written_bytes <= 20 * 8192 + 65536


def test_what_others_do_is_not_counted(on_disk: Path) -> None:
    """Neither our own syncs, nor those of another server on the same disk."""
    with serving(on_disk) as server, serving(on_disk) as other:
        meter = UsageMeter([server.process.pid], on_disk)
        meter.begin()
        other.do("write(5, 4096, 'fsync')")
        with (on_disk / "ours").open("w") as file:
            file.write("x")
            file.flush()
            os.fsync(file.fileno())
        found = meter.end()
        assert found.written_bytes == (None if "written_bytes" in meter.unknown else 0)
        assert found.syncs == (None if "syncs" in meter.unknown else 0)


def test_threads_that_run_already_are_counted(on_disk: Path) -> None:
    """A server has its threads before it is looked at."""
    with serving(on_disk) as server:
        server.do("globals().update(go=threading.Event(), there=threading.Event())")
        server.do("threading.Thread(target=lambda: (go.wait(), write(3, 4096, 'fsync'), there.set())).start()")
        meter = UsageMeter([server.process.pid], on_disk)
        if "syncs" in meter.unknown:
            pytest.skip(meter.unknown["syncs"])
        meter.begin()
        server.do("(go.set(), there.wait())")
        assert meter.end().syncs == 3


def test_data_in_memory_has_no_device() -> None:
    """Nothing is written to one, and that is told rather than a zero."""
    folder = Path("/dev/shm")
    meter = UsageMeter([os.getpid()], folder)
    meter.begin()
    found = meter.end()
    assert (found.written_bytes, found.syncs) == (None, None)
    assert meter.unknown == dict.fromkeys(("written_bytes", "syncs"), "its data lies in memory (tmpfs)")


def test_data_that_is_out_of_reach() -> None:
    """Processor time and memory are known all the same."""
    meter = UsageMeter([os.getpid()], None)
    meter.begin()
    assert meter.end().cpu_seconds > 0
    assert meter.footprint().disk_bytes is None
    assert set(meter.unknown) == {"syncs", "disk_bytes"}


def test_no_processes_are_told() -> None:
    """An empty list is not a server that costs nothing."""
    with pytest.raises(NotAvailable, match="cannot be seen"):
        UsageMeter([], None)


def test_a_process_that_took_over_a_number_is_not_the_server(tmp_path: Path) -> None:
    """A process is known by its number and its start."""
    with serving(tmp_path) as server:
        meter = UsageMeter([server.process.pid], None)
        meter._roots[server.process.pid] -= 1
        meter.begin()
        server.do("burn(0.05)")
        assert meter.end().cpu_seconds == 0


def test_what_this_user_may_not_see_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes written and memory of another user's processes: unknown, with the reason, and the rest is known."""

    def refused(_pid: object) -> int:
        raise PermissionError

    monkeypatch.setattr(usage, "_miscounted", lambda _folder: "")
    monkeypatch.setattr(usage, "_written_bytes", refused)
    monkeypatch.setattr(usage, "_resident_bytes", refused)
    meter = UsageMeter([os.getpid()], tmp_path)
    meter.begin()
    found = meter.end()
    assert found.written_bytes is None
    assert found.cpu_seconds > 0
    assert meter.footprint().resident_bytes is None
    assert meter.unknown["written_bytes"] == meter.unknown["resident_bytes"]
    assert "root" in meter.unknown["resident_bytes"]


def test_memory_of_a_process(tmp_path: Path) -> None:
    """What it takes is seen; what it shares with a child is counted once."""
    with serving(tmp_path) as server:
        meter = UsageMeter([server.process.pid], tmp_path)
        before = meter.footprint().resident_bytes or 0
        server.do("globals().update(taken=b'x' * (32 << 20))")
        grown = meter.footprint().resident_bytes or 0
        assert 31 << 20 < grown - before < 40 << 20
        server.do("globals().update(child=os.fork() or time.sleep(60))")
        assert (meter.footprint().resident_bytes or 0) - grown < 8 << 20
        server.do("os.kill(child, 9)")


def test_blocks_on_disk(on_disk: Path) -> None:
    """Allocated ones: not the size of a file with a hole; a file with two names once; and what is in folders."""
    empty = allocated_bytes(on_disk)
    with (on_disk / "hole").open("wb") as file:
        file.truncate(1 << 30)
    (on_disk / "folder").mkdir()
    (on_disk / "folder" / "full").write_bytes(b"x" * 100_000)
    (on_disk / "again").hardlink_to(on_disk / "folder" / "full")
    os.sync()
    assert 100_000 <= allocated_bytes(on_disk) - empty <= 100_000 + 32768


def test_a_reading_takes_at_most_a_millisecond_of_processor_time(tmp_path: Path) -> None:
    """For a server of four processes: it is read twice in each round."""
    with serving(tmp_path) as server:
        server.do("globals().update(children=[os.fork() or time.sleep(60) for _ in range(3)])")
        meter = UsageMeter([server.process.pid], tmp_path)
        begun = time.thread_time()
        for _ in range(50):
            meter.begin()
            meter.end()
        assert (time.thread_time() - begun) / 50 < 0.002
        server.do("[os.kill(each, 9) for each in children]")


def test_syncs_of_a_file_system_that_the_kernel_does_not_count() -> None:
    """Unknown, with the reason; never a guess."""
    with pytest.raises(NotAvailable, match="does not count the syncs of a file system of the kind tmpfs"):
        sync_counter(Path("/dev/shm"))


def test_a_counter_that_misses_our_own_syncs_is_not_believed(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another point of the same kernel stands for one that a later kernel no longer passes."""
    try:
        sync_counter(on_disk)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    monkeypatch.setitem(module._POINTS, mount_of(on_disk).filesystem, "sched/sched_process_exec")
    with pytest.raises(NotAvailable, match="of two syncs of our own the kernel counted 0"):
        sync_counter(on_disk)
    assert list(on_disk.iterdir()) == []
    module._counters.pop("sched/sched_process_exec").close()


def test_more_syncs_than_there_is_room_for_are_not_known(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of them would be a wrong number."""
    try:
        sync_counter(on_disk)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    monkeypatch.setattr(module, "_PAGES", 1)
    small = module.SyncCounter(module._POINTS[mount_of(on_disk).filesystem])
    with serving(on_disk) as server:
        meter = UsageMeter([server.process.pid], on_disk)
        meter._syncs = small
        for count, known in ((10, 10), (2000, None), (10, 10)):
            meter.begin()
            server.do(f"write({count}, 1, 'fsync')")
            assert meter.end().syncs == known
            assert ("syncs" in meter.unknown) == (known is None)
            meter.unknown.clear()
    small.close()


@pytest.mark.parametrize(
    ("counted", "reason"), [(4096, ""), (2**18, "the kernel counts 256 KiB where 4 KiB are written"), (0, "counts 0 B")]
)
def test_a_kernel_that_counts_whole_parts_of_its_cache_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: int, reason: str
) -> None:
    """A page is written into the middle of a large file, and must be counted as one: else bytes written are not known."""
    counts = iter((1000, 1000 + counted * usage._PAGE // 4096))
    monkeypatch.setattr(usage, "_written_bytes", lambda _thread: next(counts))
    found = usage._miscounted(tmp_path)
    assert (reason in found) if reason else not found
    assert list(tmp_path.iterdir()) == []
