"""Records with strace which syncs of its files a store waits for: evidence, not proof, since no data is lost."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from storeproof.errors import NotAvailable
from storeproof.outcome import Lack

_SYNCS: Final = ("fsync", "fdatasync", "msync", "syncfs", "sync")
"""System calls that return when the data is on disk. Not sync_file_range: it omits file size, names, and the disk's own cache."""
_WRITES: Final = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
"""System calls that do so if the file was opened with O_SYNC or O_DSYNC."""
_UNSEEN: Final = "io_uring_enter"
"""The system call that submits I/O which strace cannot see."""
_ATTACH_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.01

_WHOLE: Final = re.compile(r"(\d+) +(\d+\.\d+) (\w+)\((.*)\) += (-?\d+|\?).*?(?: <(\d+\.\d+)>)?$")
_BEGUN: Final = re.compile(r"(\d+) +(\d+\.\d+) (\w+)\((.*?) <unfinished \.\.\.>$")
_ENDED: Final = re.compile(r"(\d+) +(\d+\.\d+) <\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)")
_FILE: Final = re.compile(r"(\d+)<([^>]*)>")


@dataclass(frozen=True)
class Call:
    """One successful system call. Times are seconds since the epoch."""

    thread: int
    name: str
    arguments: str
    began: float
    ended: float

    @property
    def file(self) -> tuple[int, str] | None:
        """The descriptor in its first argument, and the path of the file; None if that argument is no descriptor."""
        found = _FILE.match(self.arguments)
        return (int(found[1]), found[2]) if found else None


@dataclass(frozen=True)
class SyncTrace:
    """The syncs that a store waited for, as far as strace sees them."""

    syncs: list[tuple[float, float]]
    """Start and end of each sync of its data, in nanoseconds of the monotonic clock."""
    hidden: bool
    """Whether it also uses io_uring, whose I/O strace cannot see."""


class SyncWatch:
    """A strace attached to the processes of a store, until the end of its `with` block."""

    def __init__(self, pids: Sequence[int], data: Path) -> None:
        """Attach to the processes, their threads, and everything that they start from now on.

        Args:
            pids: the store's processes.
            data: the directory of its files; calls for other files are ignored.

        Raises:
            NotAvailable: strace is not installed, or may not attach.
        """
        program = shutil.which("strace")
        if program is None:
            raise NotAvailable("tracing the syncs of a store needs the program strace", "apt-get install strace", Lack.DISK)
        self._data = data.resolve()
        self._folder = tempfile.TemporaryDirectory(prefix="storeproof-strace-")
        self._log = Path(self._folder.name) / "calls"
        self._ahead = time.time() - time.monotonic()
        wanted = ",".join((*_SYNCS, *_WRITES, _UNSEEN))
        options = ["-f", "-q", "-y", "-ttt", "-T", "-s", "0", "-e", f"trace={wanted}", "-e", "signal=none", "-o", str(self._log)]
        self._strace = subprocess.Popen(
            [program, *options, *(word for pid in pids for word in ("-p", str(pid)))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        deadline = time.monotonic() + _ATTACH_SECONDS
        while not all(map(_is_traced, pids)):
            if self._strace.poll() is not None or time.monotonic() > deadline:
                self._strace.kill()
                said = self._strace.communicate()[1].strip().partition("\n")[0]
                self._folder.cleanup()
                remedy = "run it as root, or sysctl kernel.yama.ptrace_scope=0"
                raise NotAvailable(f"strace cannot attach to the store: {said or 'it did not attach in time'}", remedy, Lack.DISK)
            time.sleep(_LOOK_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        self._folder.cleanup()

    def collect(self) -> SyncTrace:
        """Detach, and return the syncs until now. Call it while the store is still running, since its open descriptors are inspected."""
        open_files = _synchronous(self._calls())
        self._end()
        syncs, hidden = [], False
        for call in self._calls():
            hidden |= call.name == _UNSEEN
            if brings_to_disk(call, self._data, open_files):
                syncs.append(((call.began - self._ahead) * 1e9, (call.ended - self._ahead) * 1e9))
        return SyncTrace(syncs, hidden)

    def _calls(self) -> list[Call]:
        return parse(self._log.read_text(encoding="utf-8", errors="replace").splitlines())

    def _end(self) -> None:
        if self._strace.returncode is None:
            self._strace.send_signal(signal.SIGINT)  # strace detaches; the store keeps running
            self._strace.communicate()


def parse(lines: Iterable[str]) -> list[Call]:
    """Parse the successful calls in the output of `strace -f -y -ttt -T -s 0`; join those that other threads' lines interrupt."""
    flying: dict[int, tuple[float, str]] = {}
    calls = []
    for line in lines:
        if found := _BEGUN.match(line):
            flying[int(found[1])] = (float(found[2]), found[4])
        elif found := _ENDED.match(line):
            began, arguments = flying.pop(int(found[1]), (None, ""))
            if began is not None and _has_succeeded(found[5]):
                calls.append(Call(int(found[1]), found[3], arguments + found[4], began, float(found[2])))
        elif (found := _WHOLE.match(line)) and _has_succeeded(found[5]):
            began = float(found[2])
            calls.append(Call(int(found[1]), found[3], found[4], began, began + float(found[6] or 0)))
    return calls


def brings_to_disk(call: Call, data: Path, synchronous: frozenset[tuple[int, int, str]]) -> bool:
    """Whether the data that the store wrote before or with this call is on disk when it returns.

    `synchronous`: (thread, descriptor, path) of files that were opened with O_SYNC or O_DSYNC.
    """
    if call.name == "sync":
        return True
    if call.name == "msync":  # it names a mapping, not a file
        return "MS_SYNC" in call.arguments
    file = call.file
    if file is None or not Path(file[1]).is_relative_to(data):
        return False
    if call.name in _WRITES:
        return (call.thread, *file) in synchronous or "RWF_DSYNC" in call.arguments or "RWF_SYNC" in call.arguments
    return call.name in _SYNCS


def count_synced(requests: Iterable[tuple[int, int]], syncs: Iterable[tuple[float, float]]) -> int:
    """Number of requests with a sync that began after the request was sent and ended before its reply. All times in nanoseconds."""
    done = list(syncs)
    return sum(any(asked <= began and ended <= answered for began, ended in done) for asked, answered in requests)


def _synchronous(calls: Iterable[Call]) -> frozenset[tuple[int, int, str]]:
    """The descriptors written to that were opened with O_DSYNC, whose bit O_SYNC includes. fdinfo shows the flags in octal."""
    found = set()
    for thread, file in {(call.thread, call.file) for call in calls if call.name in _WRITES}:
        if file is None:
            continue
        try:
            text = Path(f"/proc/{thread}/fdinfo/{file[0]}").read_text(encoding="ascii")
        except OSError:  # closed, or the thread has ended
            continue
        flags = re.search(r"^flags:\s*([0-7]+)", text, re.MULTILINE)
        if flags and int(flags[1], 8) & os.O_DSYNC:
            found.add((thread, *file))
    return frozenset(found)


def _has_succeeded(answer: str) -> bool:
    return answer.isdigit()


def _is_traced(pid: int) -> bool:
    try:
        return "\nTracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended meanwhile: nothing to wait for
        return True
