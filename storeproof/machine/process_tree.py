"""Finds and signals all processes of a server, including those that left its session or lost their parent.

Process groups are not enough: every PostgreSQL backend starts its own session, and is reparented to init when the postmaster is killed.

/proc is read directly: psutil reports neither session nor flags of a process, and its start by the wall clock, which may be changed before
a later run compares it. psutil also takes ten times as long for the whole table, while a server that is being killed still runs.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_EXITING = 4
"""PF_EXITING: include/linux/sched.h."""
_NO_INODE = 1
"""What the kernel says of a directory that it cannot look at now; 0 is none either."""
_READ_BYTES = 65536
"""Of one read: most files of /proc are shorter."""


@dataclass(frozen=True)
class Stat:
    """A process, from /proc/PID/stat."""

    pid: int
    state: str
    parent: int
    session: int
    start: int
    """Start time in clock ticks since boot; together with the pid it identifies the process."""
    name: str
    used: int
    """Processor time so far, in clock ticks."""

    @property
    def ended(self) -> bool:
        """Whether it is a zombie, which holds no file, socket or memory, or dead."""
        return self.state in "ZX"


Find = Callable[[], list[Stat]]
"""Returns the running processes of one server."""


def read_stat(pid: int) -> Stat | None:
    """The process with this pid; None if there is none."""
    text = process_file(pid, "stat")
    if not text:
        return None
    # The program's name is in parentheses and may itself contain spaces and parentheses.
    end = text.rindex(")")
    fields = text[end + 2 :].split()
    name, used = text[text.index("(") + 1 : end], int(fields[11]) + int(fields[12])
    return Stat(pid, fields[0], int(fields[1]), int(fields[3]), int(fields[19]), name, used)


def exiting(pid: int) -> bool:
    """Whether the kernel is ending the process: its connections may already be closed, but it is not a zombie yet."""
    text = process_file(pid, "stat")
    return bool(text) and bool(int(text[text.rindex(")") + 2 :].split()[6]) & _EXITING)


def ending(pid: int) -> bool:
    """Whether the process has ended, or the kernel is ending it."""
    stat = read_stat(pid)
    return stat is None or stat.ended or exiting(pid)


def process_file(pid: int | str, name: str) -> str:
    """The text of /proc/PID/NAME; empty if the process has ended. `pid` may be "thread-self".

    Without a file object, for speed: `members` reads all processes.
    """
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        return b"".join(iter(lambda: os.read(descriptor, _READ_BYTES), b"")).decode("utf-8", "replace")
    except ProcessLookupError:
        return ""
    finally:
        os.close(descriptor)


def link(pid: int, name: str) -> str:
    """Where a link in /proc/PID points to, such as `cwd`; empty if there is none, or this user may not see it."""
    try:
        return os.readlink(f"/proc/{pid}/{name}").removesuffix(" (deleted)")  # noqa: PTH115 - a path object takes longer than the call
    except OSError:
        return ""


def mappings(pid: int) -> Iterator[list[str]]:
    """The named mappings of a process, each as its fields: addresses, permissions, offset, device, inode, path; see proc_pid_maps(5).

    There are none if it has ended, or this user may not see them.
    """
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        if len(fields := line.split(maxsplit=5)) == 6:
            yield fields


def members(root: Path, leaders: Collection[tuple[int, int]], programs: Collection[str]) -> list[Stat]:
    """The running processes of the server whose directory is `root`, leaders first.

    A process belongs to the server if it is one of `leaders` (pid, start) or descends from one; or if its working directory is under
    `root` and it is in a leader's session or runs one of `programs` (resolved paths). A user's shell there does not belong.
    """
    # None is older than the first leader, so most processes of the machine need no further look. Before the first leader is recorded, its
    # program and directory alone tell what belongs to the server.
    oldest = min((start for _, start in leaders), default=0)
    table = {stat.pid: stat for stat in not_older(oldest) if not stat.ended}
    found = [pid for pid, start in leaders if pid in table and table[pid].start == start]
    sessions = {pid for pid, _ in leaders}
    inside = str(root) + os.sep
    found.extend(
        stat.pid
        for stat in table.values()
        if (link(stat.pid, "cwd") + os.sep).startswith(inside) and (stat.session in sessions or link(stat.pid, "exe") in programs)
    )
    children: dict[int, list[int]] = {}
    for stat in table.values():
        children.setdefault(stat.parent, []).append(stat.pid)
    whole: dict[int, Stat] = {}
    while found:
        pid = found.pop(0)
        if pid not in whole and pid != os.getpid():
            whole[pid] = table[pid]
            found.extend(children.get(pid, ()))
    return list(whole.values())


_starts: dict[int, tuple[int, int]] = {}
"""Inode of /proc/PID, and start, of each process that was seen."""


def not_older(oldest: int) -> Iterator[Stat]:
    """The processes that did not start before `oldest`.

    Most have been there for long, and are not read again: the directory /proc/PID keeps its inode as long as the kernel has it in memory,
    and that of another process, or of the same one later, has a new one.
    """
    with os.scandir("/proc") as entries:
        found = [(int(entry.name), entry.inode()) for entry in entries if entry.name.isdecimal()]
    for pid, inode in found:
        known, start = _starts.get(pid, (0, 0))
        if known == inode and start < oldest:
            continue
        stat = read_stat(pid)
        if stat is None:
            continue
        if inode > _NO_INODE:
            _starts[pid] = (inode, stat.start)
        if stat.start >= oldest:
            yield stat


def send(processes: Iterable[Stat], number: signal.Signals) -> None:
    """Send a signal to each process; ignore those that have ended."""
    for process in processes:
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            continue


def freeze(find: Find) -> list[Stat]:
    """Send SIGSTOP to all, and repeat until none is new, since a process may fork before it stops; return them."""
    stopped: dict[int, Stat] = {}
    while fresh := [stat for stat in find() if stat.pid not in stopped]:
        send(fresh, signal.SIGSTOP)
        stopped.update((stat.pid, stat) for stat in fresh)
    return list(stopped.values())


def destroy(find: Find, seconds: float = 30) -> bool:
    """Send SIGKILL to all at once and wait until they are gone; return False if some remain after `seconds`."""
    deadline = time.monotonic() + seconds
    # Freeze them first: a backend that outlives its postmaster by milliseconds could still acknowledge writes.
    waiting = freeze(find)
    while waiting:
        send(waiting, signal.SIGKILL)
        while waiting := [each for each in waiting if _runs(each)]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        waiting = find()
    return True


def _runs(process: Stat) -> bool:
    now = read_stat(process.pid)
    return now is not None and now.start == process.start and not now.ended
