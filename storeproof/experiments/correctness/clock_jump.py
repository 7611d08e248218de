"""Detects whether the machine disturbed a case whose answers depend on time: it stalled, or its clock was set."""

from __future__ import annotations

import time
from collections.abc import Iterator

_STALL_SECONDS = 0.4
"""Beyond the waits that the case asks for. The shortest time to live in the specification is a second."""
_STEP_SECONDS = 0.1
"""By which the wall clock may drift from the monotonic one meanwhile: time daemons slew it by less."""
_LOOK_SECONDS = 0.05
_AGAIN_SECONDS = 0.25
_LONGEST_ATTEMPT_SECONDS = 1.0
"""What is beyond it was a stall, of the server too, or a request that hung: the store had no time then."""


class Clock:
    """Started when the case begins."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._offset = time.time() - self._began
        self._waited = 0.0
        self._step = 0.0
        """By how much the wall clock was off, at the most: set forth and back, it ends where it began."""

    def wait(self, seconds: float) -> None:
        """Wait as the case asks for, and look at the clock all the time."""
        self._waited += seconds
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.look()
            time.sleep(min(left, _LOOK_SECONDS))
        self.look()

    def attempts(self, seconds: float) -> Iterator[float]:
        """Make an attempt now, and again every quarter of a second until the time is over. Yields the seconds since the first.

        A machine that stands still makes it longer, and is no reason to doubt the answer.
        """
        began = last = time.monotonic()
        had = 0.0
        try:
            while True:
                self.look()
                now = time.monotonic()
                had += min(now - last, _LONGEST_ATTEMPT_SECONDS)
                last = now
                yield now - began
                if had >= seconds:
                    return
                time.sleep(_AGAIN_SECONDS)
        finally:
            self._waited += time.monotonic() - began

    def look(self) -> None:
        """Note by how much the wall clock is off now."""
        step = time.time() - time.monotonic() - self._offset
        self._step = max(self._step, step, key=abs)

    def set_by(self) -> str:
        """By how much the machine's clock was set, in words, or nothing."""
        self.look()
        return f"the machine's clock was set by {self._step:+.1f} s" if abs(self._step) > _STEP_SECONDS else ""

    def disturbed(self) -> str:
        """What happened to the time, in words, or nothing."""
        if was_set := self.set_by():
            return was_set
        stalled = time.monotonic() - self._began - self._waited
        return f"the machine stalled: the case took {stalled:.1f} s longer than its waits" if stalled > _STALL_SECONDS else ""
