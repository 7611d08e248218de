"""A signal before the first case: one line and pytest's code for an interrupted run. Nothing was tried, so nothing is reported.

Until then the interpreter imports, and an exception that a signal raises in the middle of an import is swallowed there as often as not, or
ends in a page of traceback.
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
    """From now on a signal ends the process at once. A second call, and a call beside the main thread, do nothing."""
    global _screen
    if _before or threading.current_thread() is not threading.main_thread():
        return
    _screen = os.dup(2)
    for number in SIGNALS:
        if (handler := signal.getsignal(number)) in DEFAULTS:
            _before[number] = handler
            signal.signal(number, _end)


def disarm() -> None:
    """Signals are as they were."""
    global _screen
    for number, handler in _before.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
    _before.clear()
    if _screen >= 0:
        os.close(_screen)
        _screen = -1


def _end(number: int, _frame: FrameType | None) -> None:
    name = signal.Signals(number).name
    os.write(_screen, f"\nstoreproof: ended by {name} before the first case; nothing was tried, and no report is written\n".encode())
    os._exit(pytest.ExitCode.INTERRUPTED)
