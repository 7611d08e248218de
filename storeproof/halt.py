"""What brings a case to its end, whatever its store answers: the time limit of the case, or a signal that ends the run.

No loop may depend on a store's goodwill. Every operation asks here before it is sent (`contract.call`), in whichever thread, and so does
all that waits for threads. A limit is far beyond what a case takes: it ends only what would go on for ever.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from storeproof.errors import Halted

HANG_SECONDS: Final = 30.0
"""Time for a client to notice that its store is gone; the adapters' own timeouts are shorter."""
_INTERRUPTED_SECONDS: Final = 2.0
"""The same after a signal: the user waits."""


class Limit:
    """The time that a case may take, with all of its threads: also those that it had to leave behind, which send nothing more."""

    def __init__(self, seconds: float = math.inf, reason: str = "") -> None:
        self.reason = reason
        self._end = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether nothing more may be sent."""
        return time.monotonic() >= self._end

    @property
    def threads_end(self) -> float:
        """Until when threads are waited for, in seconds of the monotonic clock."""
        return self._end + HANG_SECONDS

    def close(self) -> None:
        self._end = -math.inf


class Halt:
    """The limit of the case that runs, and whether the user has interrupted the run."""

    def __init__(self) -> None:
        self._limit = Limit()
        self._own = threading.local()
        self._waited = math.inf
        """Until when threads are waited for after a signal."""

    @property
    def interrupted(self) -> bool:
        """Whether a signal ends the run."""
        return self._waited < math.inf

    @property
    def limit(self) -> Limit:
        """That of the case to which this thread belongs."""
        own: Limit = getattr(self._own, "limit", self._limit)
        return own

    @property
    def threads_end(self) -> float:
        """Until when other threads are waited for, in seconds of the monotonic clock."""
        return min(self._waited, self.limit.threads_end)

    @contextmanager
    def case(self, limit: Limit) -> Iterator[None]:
        """A case runs in this block."""
        self._limit = limit
        try:
            yield
        finally:
            limit.close()
            self._limit = Limit()

    def join_case(self, limit: Limit) -> None:
        """From now on this thread belongs to the case that has this limit."""
        self._own.limit = limit

    def interrupt(self) -> None:
        """A signal ends the run: nothing more is sent, and threads have a moment to end; a second one, and they have none."""
        self._waited = -math.inf if self.interrupted else time.monotonic() + _INTERRUPTED_SECONDS

    def check(self, what: str) -> None:
        """Raise `Halted` if nothing more may be done. `what`: what would have come now."""
        over = self.limit.over  # first: a signal ends the case as well, and is the reason that is given
        if self.interrupted:
            raise Halted(f"the run was interrupted before {what}")
        if over:
            raise Halted(f"{self.limit.reason}; next would have been {what}")


halt: Final = Halt()
"""That of this process."""
