"""Whether the machine disturbed a case whose answers depend on the time: it stood still, or its clock was set."""

from __future__ import annotations

import time

_STALL_SECONDS = 0.4
"""Beyond the waits that the case asks for. The shortest time to live in the specification is a second."""
_STEP_SECONDS = 0.1
"""By which the wall clock may drift from the monotonic one meanwhile: time daemons slew it by less."""


class Clock:
    """Started when the case begins."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._offset = time.time() - self._began

    def disturbed(self, planned: float) -> str:
        """What happened to the time, in words, or nothing. `planned`: the seconds that the case itself waits."""
        now = time.monotonic()
        step = time.time() - now - self._offset
        if abs(step) > _STEP_SECONDS:
            return f"the machine's clock was set by {step:+.1f} s"
        stalled = now - self._began - planned
        return f"the case took {stalled:.1f} s longer than it waits" if stalled > _STALL_SECONDS else ""
