"""Ends a run that a signal should have ended: its main thread may wait in a client library, which no exception reaches.

Python runs a signal's handler in the main thread, once that is back from what it waits for. The number of a signal is written to a pipe
at once, whatever the main thread does, and read here by another thread.
"""

from __future__ import annotations

import math
import os
import select
import signal
import threading
import time
from collections.abc import Callable

from storeproof.cleanup.registry import SIGNALS

_PATIENCE = 6.0
"""Seconds that the main thread has to come to its end after a signal."""
_IMPATIENCE = 1.0
"""And after a second one."""


class LastResort:
    """Waits for signals as long as the process runs."""

    def __init__(self, end: Callable[[], None]) -> None:
        """`end`: ends the process; it is called in another thread than the main one."""
        self._end = end
        self._told, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="storeproof-last-resort", daemon=True).start()

    def _watch(self) -> None:
        deadline = math.inf
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._told], [], [], None if left == math.inf else left)[0]:
                for number in os.read(self._told, 512):
                    if number in SIGNALS:
                        deadline = min(deadline, time.monotonic() + (_PATIENCE if deadline == math.inf else _IMPATIENCE))
        self._end()
