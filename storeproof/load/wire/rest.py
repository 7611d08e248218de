"""Open loop: waiting for a time that is nearer than epoll can tell."""

from __future__ import annotations

import select
from typing import Final

_COARSE_NS: Final = 2_200_000
"""epoll waits for whole milliseconds, rounded up: what is left of a wait is waited for with a finer call."""
_SPIN_NS: Final = 100_000
"""Before an intended time the processor is not let go any more."""
_SELECTABLE: Final = 1024
"""Descriptors that `select` takes are below this."""


def rest(wait: int, epoll: int) -> float:
    """Seconds for epoll to wait, which may be too short for these nanoseconds; what is finer than it knows is waited for here."""
    if wait > _COARSE_NS:
        return (wait - _COARSE_NS // 2) // 1_000_000 / 1000
    if wait > 2 * _SPIN_NS and epoll < _SELECTABLE:
        select.select([epoll], [], [], (wait - _SPIN_NS) / 1e9)
    return 0
