"""What counts as a sync of a store's data, and when an acknowledgement waited for one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.disk import strace
from storeproof.disk.strace import Call, SyncWatch, brings_to_disk, count_synced, parse
from storeproof.errors import NotAvailable

DATA = Path("/data")
tracing = pytest.mark.skipif(shutil.which("strace") is None, reason="needs the program strace")

WRITER = """
    import mmap, os, sys
    data, elsewhere = sys.argv[1:]
    plain = os.open(f"{data}/plain", os.O_CREAT | os.O_RDWR)
    synced = os.open(f"{data}/synced", os.O_CREAT | os.O_WRONLY | os.O_DSYNC)
    other = os.open(f"{elsewhere}/other", os.O_CREAT | os.O_RDWR)
    os.truncate(plain, 4096)
    memory = mmap.mmap(plain, 4096)
    def mapped():
        memory[0] = 1
        memory.flush()
    acts = {
        "write": lambda: os.write(plain, b"x"),
        "fsync": lambda: os.fsync(plain),
        "fdatasync": lambda: os.fdatasync(plain),
        "O_DSYNC": lambda: os.write(synced, b"x"),
        "msync": mapped,
        "elsewhere": lambda: os.fsync(other),
    }
    print("ready", flush=True)
    for line in sys.stdin:
        acts[line.strip()]()
        print("done", flush=True)
"""


class Writer:
    """A process that does on request what stores do."""

    def __init__(self, folder: Path) -> None:
        for name in ("data", "elsewhere"):
            (folder / name).mkdir()
        self.data = folder / "data"
        command = [sys.executable, "-c", textwrap.dedent(WRITER), str(self.data), str(folder / "elsewhere")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, act: str) -> tuple[int, int]:
        """Have it done; when it was asked and when it answered."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = time.monotonic_ns()
        self.process.stdin.write(f"{act}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"
        return asked, time.monotonic_ns()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate()


@tracing
@pytest.mark.parametrize(
    ("act", "synced"),
    [("write", False), ("fsync", True), ("fdatasync", True), ("O_DSYNC", True), ("msync", True), ("elsewhere", False)],
)
def test_what_a_live_process_waits_for_is_seen(writer: Writer, act: str, synced: bool) -> None:
    """Each kind of sync is seen on a live process; writes and syncs of other files do not count."""
    with SyncWatch([writer.process.pid], writer.data) as watch:
        requests = [writer.ask(act) for _ in range(5)]
        trace = watch.collect()
    assert count_synced(requests, trace.syncs) == (5 if synced else 0)
    assert not trace.hidden
    writer.ask("write")  # it was let go, and works


def test_a_process_that_may_not_be_looked_at_is_named(writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused attach is `NotAvailable` with strace's own message."""
    refusing = tmp_path / "strace"
    refusing.write_text("#!/bin/sh\necho 'strace: attach: ptrace(PTRACE_SEIZE): Operation not permitted' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(strace.shutil, "which", lambda *_: str(refusing))
    with pytest.raises(NotAvailable, match=r"cannot attach to the store: strace: .*Operation not permitted; run it as root"):
        SyncWatch([writer.process.pid], writer.data)


def test_without_strace_it_is_not_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without strace it is `NotAvailable`, with the line that installs it."""
    monkeypatch.setattr(strace.shutil, "which", lambda *_: None)
    with pytest.raises(NotAvailable, match="needs the program strace; apt-get install strace"):
        SyncWatch([1], tmp_path)


def test_calls_are_read_whole_and_in_parts() -> None:
    """Interrupted lines of strace are joined, and failed and unfinished calls left out."""
    lines = [
        "10 100.000100 fsync(5</data/log>) = 0 <0.000200>",
        "11 100.000300 fdatasync(6</data/a b> <unfinished ...>",
        '10 100.000400 pwrite64(7</data/x>, ""..., 4096, 0) = 4096 <0.000010>',
        "11 100.000900 <... fdatasync resumed>) = 0 <0.000600>",
        "10 100.001000 fsync(5</data/log>) = -1 EIO (Input/output error) <0.000010>",
        "12 100.001100 fsync(8</data/log> <unfinished ...>",
        "12 100.001200 +++ killed by SIGKILL +++",
    ]
    found = parse(lines)
    assert [(call.thread, call.name, call.file) for call in found] == [
        (10, "fsync", (5, "/data/log")),
        (10, "pwrite64", (7, "/data/x")),
        (11, "fdatasync", (6, "/data/a b")),
    ]
    assert [round(call.ended, 6) for call in found] == [100.0003, 100.00041, 100.0009]


@pytest.mark.parametrize(
    ("name", "arguments", "counts"),
    [
        ("fsync", "5</data/log>", True),
        ("fsync", "5</database/log>", False),
        ("syncfs", "5</data>", True),
        ("sync", "", True),
        ("sync_file_range", "5</data/log>, 0, 0, 7", False),
        ("msync", "0x7f0000000000, 4096, MS_SYNC", True),
        ("msync", "0x7f0000000000, 4096, MS_ASYNC", False),
        ("write", '5</data/log>, ""..., 9', True),
        ("write", '6</data/log>, ""..., 9', False),
        ("pwritev2", '6</data/log>, [{iov_base=""..., iov_len=9}], 1, 0, RWF_DSYNC', True),
    ],
)
def test_only_what_ends_on_the_disk_counts(name: str, arguments: str, counts: bool) -> None:
    """Which system calls count as a sync of the store's data."""
    call = Call(10, name, arguments, 0.0, 0.0)
    assert brings_to_disk(call, DATA, frozenset({(10, 5, "/data/log")})) is counts


def test_a_sync_counts_for_a_request_that_it_lies_within() -> None:
    """A sync counts only if it lies between request and reply."""
    requests = [(100, 200), (300, 400), (500, 600), (700, 800)]
    syncs_done = [
        (110.0, 190.0),  # within the first
        (290.0, 350.0),  # begun before the second was asked: its write may have come too late
        (550.0, 650.0),  # done after the third was answered
    ]
    assert count_synced(requests, syncs_done) == 1
