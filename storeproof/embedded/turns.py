"""Turns that are given in the order in which they were asked for."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class Turns:
    """A lock. `threading.Lock` goes to whoever comes by when it is free: of fifty that write, one may wait for as long as the others do."""

    def __init__(self) -> None:
        self._own = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for it, at most so many seconds; whether it was given."""
        with self._own:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout):
            return True
        with self._own:
            if mine.is_set():  # just now
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Give it to who has waited the longest."""
        with self._own:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.release()
