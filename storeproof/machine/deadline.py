"""The time limit for a server: the one in its file, extended up to threefold while it makes progress on a machine so busy that this alone
may be the reason for its delay."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

_SHARE: Final = {"cpu": 40.0, "io": 40.0, "memory": 10.0}
"""Limits: percentage of the last ten seconds in which some task had to wait for the resource (PSI, /proc/pressure)."""
_LOAD: Final = 1.5
"""Limit: load average per core."""


def machine_is_busy() -> str:
    """Evidence that the machine is busy, for messages; empty if it has capacity to spare."""
    some = {}
    for kind in _SHARE:
        with suppress(OSError, LookupError, ValueError):  # not every kernel reports it
            some[kind] = _avg10(Path(f"/proc/pressure/{kind}").read_text(encoding="ascii"))
    return busy(some, os.getloadavg()[0], os.cpu_count() or 1)


def busy(some: Mapping[str, float], load: float, cores: int) -> str:
    """The same as `machine_is_busy`, for given numbers.

    Args:
        some: for "cpu", "io" and "memory", as far as known, the percentage of time in which some task waited for it.
        load: the load average over the last minute.
        cores: the number of cores of the machine.
    """
    found = [f"tasks waited for {kind} {some[kind]:.0f} % of the time" for kind, limit in _SHARE.items() if some.get(kind, 0.0) >= limit]
    if load > _LOAD * cores:
        found.append(f"load {load:.1f} on {cores} cores")
    return ", ".join(found)


def _avg10(text: str) -> float:
    some = text.splitlines()[0]  # "some avg10=0.00 avg60=..."; "full" follows
    return float(dict(word.split("=") for word in some.split()[1:])["avg10"])


_EXTENDED: Final = 3.0
"""The largest factor by which the limit is extended."""
_LOOK_SECONDS: Final = 1.0

Progress = Callable[[], int | None]
"""Returns a number that grows while the server works or waits for a core; None if that cannot be seen."""


class Deadline:
    """The time limit of one wait, polled by `has_passed`."""

    def __init__(self, seconds: float, progress: Progress, busy: Callable[[], str] | None = None) -> None:
        self.busy = ""
        """Evidence, once the limit was reached, that the machine is busy; empty if it is not."""
        self._seconds = seconds
        self._progress = progress
        self._machine = busy or machine_is_busy
        self._began = time.monotonic()
        self._next = self._began + seconds
        self._last = self._began + _EXTENDED * seconds
        self._done: int | None = None

    @property
    def waited(self) -> float:
        """Seconds waited: the limit, or the time until now if it was extended."""
        return self._seconds if self._done is None else round(time.monotonic() - self._began)

    def has_passed(self) -> bool:
        """Whether to give up. On a busy machine the limit is extended while the server makes progress, or if its progress is unknown."""
        now = time.monotonic()
        if now <= self._next:
            return False
        self.busy = self._machine()
        done, before = self._progress(), self._done
        if not self.busy or now > self._last or (done is not None and done == before):
            return True
        self._done = done or 0
        self._next = now + _LOOK_SECONDS
        return False


def progress_of(pids: Iterable[int]) -> int:
    """The sum of CPU time, time spent waiting for a core, and bytes of I/O of the processes: only its growth has a meaning."""
    done = 0
    for pid in pids:
        with suppress(OSError, ValueError):  # psutil does not report the time spent waiting for a core
            done += sum(map(int, Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[:2]))
        with suppress(OSError, RuntimeError, ValueError, psutil.Error):
            done += sum(psutil.Process(pid).io_counters())
    return done
