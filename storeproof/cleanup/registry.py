"""Removes everything that this process has made when it ends: normally, with an exception, or by Ctrl-C, SIGTERM or SIGHUP.

Only SIGKILL leaves things behind, until the reaper or, failing that, the next run removes them.
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

from storeproof.halt import Halt, halt

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)
_AGAIN_SECONDS = 2.0
"""A second signal within this time is ignored: the first is still being handled. A later one means that the first was swallowed."""


class Closable(Protocol):
    """Something that must be removed before the process ends."""

    def close(self) -> None:
        """Remove it; never raises, and may be called twice."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP. It is a KeyboardInterrupt because only that ends pytest's session; SystemExit would just fail the current test."""


class Registry:
    """The things that this process must remove. A forked worker inherits a copy, and must not remove what its parent still uses."""

    def __init__(self, halt: Halt) -> None:
        """`halt`: is told of every signal."""
        self._halt = halt
        self._open: list[Closable] = []
        self._owner = 0
        """The process that the open things belong to; 0 until the first `add`."""
        self._busy = False
        self._deferred: int | None = None
        self.interrupt: KeyboardInterrupt | None = None
        """The exception of a signal that ends the run; None if there was none. Python raises it wherever the main thread is, and some
        places swallow it (callbacks of the garbage collector, finalizers, a `finally` in a library). So the runner of the cases checks
        this after each case."""
        self._interrupted = 0.0
        """When that was: seconds of the monotonic clock."""
        self.kept: list[str] = []
        """What `--keep` left, or could not be removed, one line each: where it is, and the command that removes it."""

    def add(self, thing: Closable) -> None:
        """Register a thing *before* it is made, so that it is removed even if an interruption follows at once."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._open.clear()
            self._arm()
        self._open.append(thing)

    def discard(self, thing: Closable) -> None:
        if thing in self._open:
            self._open.remove(thing)

    def close_all(self) -> None:
        """Remove all registered things, the newest first."""
        if os.getpid() != self._owner:
            return
        with self.deferring_signals():
            for thing in reversed(self._open.copy()):
                thing.close()
                self.discard(thing)

    def ignore_signals(self) -> None:
        """For the rest of the process another Ctrl-C only ends waiting, so that it does not interrupt the writing of the report."""
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._hurry)
        atexit.register(_take_no_signals)

    @contextmanager
    def deferring_signals(self) -> Iterator[None]:
        """Defer signals that arrive within the block to its end, so that a second Ctrl-C does not interrupt the clean-up."""
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
            # Not if an earlier signal is already ending the run.
            if deferred is not None and self.interrupt is None:
                os.kill(os.getpid(), deferred)

    def _defer(self, number: int, _frame: FrameType | None) -> None:
        if self._deferred is not None or self.interrupt is not None:
            self._halt.interrupt()
        self._deferred = number

    def _hurry(self, _number: int, _frame: FrameType | None) -> None:
        self._halt.interrupt()

    def take_signals(self) -> None:
        """Make each signal raise an exception from now on, which is also recorded as `interrupt`."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                # Keep the handlers of other libraries, and SIG_IGN, which nohup sets.
                if signal.getsignal(number) in DEFAULTS:
                    signal.signal(number, self._end)

    def _arm(self) -> None:
        atexit.register(self.close_all)
        self.take_signals()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self._halt.interrupt()
        if self.interrupt is not None and (_is_handled(self.interrupt) or time.monotonic() - self._interrupted < _AGAIN_SECONDS):
            return
        self.interrupt = KeyboardInterrupt() if number == signal.SIGINT else Terminated(f"ended by {signal.Signals(number).name}")
        self._interrupted = time.monotonic()
        self._be_silent_where_swallowed()
        raise self.interrupt

    def _be_silent_where_swallowed(self) -> None:
        """An interrupt in a callback of the garbage collector is no defect to tell of: see `interrupt`."""
        tell = sys.unraisablehook

        def told(swallowed: sys.UnraisableHookArgs) -> None:
            if swallowed.exc_value is not self.interrupt:
                tell(swallowed)

        sys.unraisablehook = told


def _take_no_signals() -> None:
    """The interpreter gives every signal that Python handles its default action back when it ends: that would end it by the signal."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _is_handled(interrupt: BaseException) -> bool:
    """Whether the current code is handling the exception, in an `except`, a `finally`, or at the end of a `with`."""
    handled = sys.exception()
    while handled is not None and handled is not interrupt:
        handled = handled.__context__
    return handled is not None


registry = Registry(halt)
"""The registry of this process."""
