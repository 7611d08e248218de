"""Everything that was made is removed on every way out: a normal end, an exception, Ctrl-C, SIGTERM, SIGHUP.

Only SIGKILL leaves things behind for a moment: then the reaper ends our processes, and failing that the next run does.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)
_AGAIN_SECONDS = 2.0
"""A second signal within this time is ignored: the first is still being handled. A later one means that the first was swallowed."""


class Closable(Protocol):
    """Something that must be removed before the process ends."""

    def close(self) -> None:
        """Remove it; never raises, and may be called twice."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP. A KeyboardInterrupt, since pytest ends its session on that alone: a SystemExit would fail one test and go on."""


class Registry:
    """What is open in this process. A forked worker inherits a copy, and must not remove what its parent still uses."""

    def __init__(self) -> None:
        self._open: list[Closable] = []
        self._owner = 0
        """The process that armed us; 0 as long as nothing was opened."""
        self._busy = False
        self._deferred: int | None = None
        self.interrupt: KeyboardInterrupt | None = None
        """The signal that was to end the run. Python raises it wherever the main thread is, and some places swallow it
        (a callback of the garbage collector, a finalizer, a `finally` elsewhere): who runs the cases looks here after each."""
        self._interrupted = 0.0
        """When that was, by the monotonic clock."""
        self.kept: list[str] = []
        """What `--keep` left, one line each: where it is and how it is removed."""

    def add(self, thing: Closable) -> None:
        """Note a thing *before* it is made, so that no interruption can fall between."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._open.clear()
            self._arm()
        self._open.append(thing)

    def discard(self, thing: Closable) -> None:
        """The thing has been removed."""
        if thing in self._open:
            self._open.remove(thing)

    def close_all(self) -> None:
        """Remove all that is open, the newest first."""
        if os.getpid() != self._owner:
            return
        with self.deferring_signals():
            for thing in reversed(self._open.copy()):
                thing.close()
                self.discard(thing)

    def ignore_signals(self) -> None:
        """For the rest of the process: a run that writes its report is not cut short by another Ctrl-C."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    @contextmanager
    def deferring_signals(self) -> Iterator[None]:
        """Signals that arrive within the block take effect after it: a second Ctrl-C must not cut the clean-up short."""
        if self._busy or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._defer) for number in SIGNALS}
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
            for number, handler in before.items():
                signal.signal(number, handler)
            deferred, self._deferred = self._deferred, None
            # A run that is already ending needs no second signal.
            if deferred is not None and self.interrupt is None:
                os.kill(os.getpid(), deferred)

    def _defer(self, number: int, _frame: FrameType | None) -> None:
        self._deferred = number

    def take_signals(self) -> None:
        """From now on each of them raises, and the first that does is noted as `interrupt`."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                # A handler of another library stays, and so does "ignore", which nohup sets.
                if signal.getsignal(number) in DEFAULTS:
                    signal.signal(number, self._end)

    def _arm(self) -> None:
        atexit.register(self.close_all)
        self.take_signals()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        if self.interrupt is not None and (_is_handled(self.interrupt) or time.monotonic() - self._interrupted < _AGAIN_SECONDS):
            return
        self.interrupt = KeyboardInterrupt() if number == signal.SIGINT else Terminated(f"ended by {signal.Signals(number).name}")
        self._interrupted = time.monotonic()
        raise self.interrupt


def _is_handled(interrupt: BaseException) -> bool:
    """Whether the code that runs now clears up because of it, in an `except`, a `finally`, or the end of a `with`."""
    handled = sys.exception()
    while handled is not None and handled is not interrupt:
        handled = handled.__context__
    return handled is not None


registry = Registry()
"""The one of this process."""
