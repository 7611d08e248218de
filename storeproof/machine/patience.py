"""How long a server is waited for: so long as its file says, and longer where it works and the machine is busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from storeproof.machine.pressure import machine_is_busy

_TIMES: Final = 3.0
"""As long again and again, for one that gets on."""
_LOOK_SECONDS: Final = 1.0

Work = Callable[[], int | None]
"""A number that grows as long as the server gets on, or waits for its turn; None where that cannot be seen."""


class Patience:
    """One wait. Ask `is_over` again and again."""

    def __init__(self, seconds: float, work: Work, busy: Callable[[], str] | None = None) -> None:
        self.busy = ""
        """Afterwards: why the machine may be to blame; empty on a quiet one."""
        self._seconds = seconds
        self._work = work
        self._machine = busy or machine_is_busy
        self._began = time.monotonic()
        self._next = self._began + seconds
        self._last = self._began + _TIMES * seconds
        self._done: int | None = None

    @property
    def waited(self) -> float:
        """Seconds: the limit, or as long as it was extended to."""
        return self._seconds if self._done is None else round(time.monotonic() - self._began)

    def is_over(self) -> bool:
        """Whether it has lasted long enough."""
        now = time.monotonic()
        if now <= self._next:
            return False
        self.busy = self._machine()
        done, before = self._work(), self._done
        if not self.busy or now > self._last or (done is not None and done == before):
            return True
        self._done = done or 0
        self._next = now + _LOOK_SECONDS
        return False


def work_of(pids: Iterable[int]) -> int:
    """What processes have done so far, or waited for a core to do: time and bytes in one number, which means nothing but by its growth."""
    done = 0
    for pid in pids:
        with suppress(OSError, ValueError):  # by hand: psutil does not have the time that it waited for a core
            done += sum(map(int, Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[:2]))
        with suppress(OSError, psutil.Error):
            done += sum(psutil.Process(pid).io_counters())
    return done
