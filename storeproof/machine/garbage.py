"""When Python looks for garbage: a run makes tens of thousands of things that stay to its end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_EVERY: Final = 10_000
"""Things that are made from one look at the newest to the next; Python's own is 700."""


@contextmanager
def without_garbage() -> Iterator[None]:
    """Something large is read, none of which is garbage: Python need not look for any meanwhile, nor later in what is there then, not even
    when the process ends."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.freeze()
            gc.enable()


def keep_all() -> None:
    """What is there now stays until this process ends: Python does not look for garbage in it again and again, which would also pause
    the clients that are measured, nor when pytest collects the garbage of the whole run. In what is made later it looks more rarely: most
    are histories, which stay too."""
    gc.freeze()
    gc.set_threshold(_EVERY)
