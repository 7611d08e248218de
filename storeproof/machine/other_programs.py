"""Measures how much of the machine other programs take while something is measured.

Programs of this run are not among them: this process and all its descendants, which are also the servers of the process launcher. Nor are
the kernel's own threads, which work for the servers too.
"""

from __future__ import annotations

import os
import time
from typing import Final

from storeproof.machine.process_tree import not_older

BUSY: Final = 0.05
"""Share of the machine from which on a measurement is disturbed: an idle desktop takes 1 or 2 %, and one busy program half of two cores."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_KERNEL: Final = "kthreadd"
"""The parent of the kernel's threads; its pid is 2, which in a container is that of any program."""


class OtherPrograms:
    """Since when it is watched: since it was made, and then since the last `share`."""

    def __init__(self) -> None:
        self._seen = _seconds()
        self._since = time.monotonic()

    def share(self) -> float:
        """Their share of all processors' time since the last look, from 0 to 1. What a program used that has ended since is not in it."""
        seen, now = _seconds(), time.monotonic()
        used = sum(seconds - self._seen.get(program, 0.0) for program, seconds in seen.items())
        passed = now - self._since
        self._seen, self._since = seen, now
        return min(1.0, used / passed / (os.cpu_count() or 1)) if passed else 0.0


def _seconds() -> dict[tuple[int, int], float]:
    """By pid and time of the start: the processor time of each other program, so far."""
    every = {each.pid: each for each in not_older(0)}
    children: dict[int, list[int]] = {}
    for pid, about in every.items():
        children.setdefault(about.parent, []).append(pid)
    left_out = {os.getpid(), *(pid for pid, about in every.items() if about.name == _KERNEL and about.parent == 0)}
    waiting = list(left_out)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in left_out:
                left_out.add(child)
                waiting.append(child)
    return {(pid, about.start): about.used / _TICKS for pid, about in every.items() if pid not in left_out}
