"""How long to wait for a server: as its file says, and up to three times as long while it makes progress on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from storeproof.machine.pressure import machine_is_busy

_EXTENDED: Final = 3.0
"""The factor by which the limit is extended at most."""
_LOOK_SECONDS: Final = 1.0

Progress = Callable[[], int | None]
"""A number that grows while the server works or waits for a core; None where that cannot be seen."""


class Deadline:
    """One wait, polled by `has_passed`."""

    def __init__(self, seconds: float, progress: Progress, busy: Callable[[], str] | None = None) -> None:
        self.busy = ""
        """Why the machine may be to blame, once the limit was reached; empty on a quiet machine."""
        self._seconds = seconds
        self._progress = progress
        self._machine = busy or machine_is_busy
        self._began = time.monotonic()
        self._next = self._began + seconds
        self._last = self._began + _EXTENDED * seconds
        self._done: int | None = None

    @property
    def waited(self) -> float:
        """Seconds: the limit, or how long it was extended to."""
        return self._seconds if self._done is None else round(time.monotonic() - self._began)

    def has_passed(self) -> bool:
        """Whether to give up."""
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
    """CPU time, time spent waiting for a core, and bytes of I/O of the processes, as one number: only its growth has a meaning."""
    done = 0
    for pid in pids:
        with suppress(OSError, ValueError):  # by hand: psutil does not have the time spent waiting for a core
            done += sum(map(int, Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[:2]))
        with suppress(OSError, RuntimeError, ValueError, psutil.Error):
            done += sum(psutil.Process(pid).io_counters())
    return done
