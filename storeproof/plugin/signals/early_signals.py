"""A signal before the first case: print one line and exit with pytest's code for an interrupted run. No case ran, so no report is written.

Before the first case the interpreter is still importing modules. An exception that a signal raises during an import is often swallowed,
or ends in a page of traceback.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

import pytest

from storeproof.cleanup.registry import DEFAULTS, SIGNALS

_before: dict[signal.Signals, object] = {}
_screen = -1
"""The standard error of the process, which pytest is about to capture."""


def arm() -> None:
    """From now on a signal ends the process at once. A second call, or a call outside the main thread, does nothing."""
    global _screen
    if _before or threading.current_thread() is not threading.main_thread():
        return
    _screen = os.dup(2)
    for number in SIGNALS:
        if (handler := signal.getsignal(number)) in DEFAULTS:
            _before[number] = handler
            signal.signal(number, _end)


def disarm() -> None:
    """Restore the earlier signal handlers."""
    global _screen
    for number, handler in _before.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
    _before.clear()
    if _screen >= 0:
        os.close(_screen)
        _screen = -1


def _end(number: int, _frame: FrameType | None) -> None:
    name = signal.Signals(number).name
    os.write(_screen, f"\nstoreproof: ended by {name} before the first case; no case was run, and no report was written\n".encode())
    os._exit(pytest.ExitCode.INTERRUPTED)
