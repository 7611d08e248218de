"""When Python looks for garbage: a run makes tens of thousands of things that stay to its end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage() -> Iterator[None]:
    """Something large is read, none of which is garbage: Python need not look for any meanwhile."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()


def keep_all() -> None:
    """What is there now, the specification and the cases, stays until this process ends: Python does not look for garbage in it again and
    again, which would also pause the clients that are measured, nor when pytest collects the garbage of the whole run."""
    gc.freeze()
