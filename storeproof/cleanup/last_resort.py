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
from storeproof.machine.pressure import machine_is_busy

_PATIENCE = 6.0
"""Seconds that the main thread has to come to its end after a signal."""
_BUSY = 3
"""Times as long on a busy machine."""
_IMPATIENCE = 1.0
"""After a second signal, on any machine."""


class LastResort:
    """Waits for signals as long as the process runs."""

    def __init__(self, end: Callable[[], None]) -> None:
        """`end`: ends the process; it is called in another thread than the main one."""
        self._end = end
        self._told, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="storeproof-last-resort", daemon=True).start()

    def _watch(self) -> None:
        self._hear(None)
        began = time.monotonic()
        if self._hear(_PATIENCE) or (machine_is_busy() and self._hear(began + _BUSY * _PATIENCE - time.monotonic())):
            time.sleep(_IMPATIENCE)
        self._end()

    def _hear(self, seconds: float | None) -> bool:
        """Wait for a signal, as long as it takes if there is no time limit; whether one came."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            heard, _, _ = select.select([self._told], [], [], None if left == math.inf else left)
            if heard and os.read(self._told, 1)[0] in SIGNALS:
                return True
        return False
