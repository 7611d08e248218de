"""A fair lock: it is granted in the order of the requests."""

from __future__ import annotations

import threading
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Turns:
    """A fair lock. `threading.Lock` goes to any thread that asks while it is free: with fifty writers, one may starve."""

    def __init__(self) -> None:
        self._own = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for it, at most `timeout` seconds; whether it was acquired."""
        with self._own:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Lock()  # an `Event` takes several times as long
            mine.acquire()
            self._waiting.append(mine)
        if mine.acquire(timeout=-1 if timeout is None else timeout):
            return True
        with self._own:
            if mine not in self._waiting:  # just now
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hand it to the thread that has waited longest."""
        with self._own:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.release()
