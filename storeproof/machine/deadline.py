"""The time limit for a server: the one in its file, extended up to threefold while it makes progress on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from storeproof.machine.pressure import machine_is_busy

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
