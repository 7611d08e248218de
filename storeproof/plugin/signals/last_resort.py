"""The end of an interrupted run whose main thread does not come to it: the report is written all the same, and the process ends.

The main thread may wait in a client library, which no exception reaches: Python runs a signal's handler in the main thread, once that is
back from what it waits for. The number of a signal is written to a pipe at once, whatever the main thread does, and read here by another
thread.
"""

from __future__ import annotations

import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from storeproof.cleanup.registry import SIGNALS, registry
from storeproof.machine.deadline import machine_is_busy
from storeproof.plugin.run import Run
from storeproof.plugin.run_end import print_ending

_PATIENCE = 6.0
"""Seconds that the main thread has to come to its end after a signal."""
_BUSY = 3
"""Times as long on a busy machine."""
_IMPATIENCE = 1.0
"""After a second signal, on any machine."""
_WRITING_SECONDS = 60.0
"""For the main thread, which writes the report itself."""


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


def watch_signals(run: Run, reporter: pytest.TerminalReporter | None) -> None:
    """From now on a signal ends the run, whatever its main thread is at. Only the main thread can set that up."""
    if threading.current_thread() is threading.main_thread():
        LastResort(partial(_end, run, reporter))


def _end(run: Run, reporter: pytest.TerminalReporter | None) -> None:
    try:
        if not run.finish_without_main_thread(_place()):
            run.over.wait(_WRITING_SECONDS)
        elif reporter is not None:
            reporter.ensure_newline()
            reporter.write_sep("!", repr(registry.interrupt or KeyboardInterrupt()))
            print_ending(run, reporter)
            reporter.flush()
    finally:  # what is left is removed by the reaper
        os._exit(pytest.ExitCode.INTERRUPTED)


def _place() -> str:
    """Where the main thread is: the innermost line."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    return f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}, in {frame.f_code.co_name}"
