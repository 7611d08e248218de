"""Has Redis rewrite its files, and waits for the child that does it."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import sleep
from typing import Any, Final

from storeproof.contract import Attempts

_CHILDREN: Final = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_CHILD_SECONDS: Final = 600.0
_LOOK: Final = 0.002
"""Seconds between two looks at what a child of the server does."""


def rewrite(run: Callable[..., Any]) -> str:
    """BGREWRITEAOF where there is a log, else BGSAVE; both are done by a child, whose end only INFO tells. The command that was used.

    `run`: sends a command and returns the reply.
    """
    command = "BGREWRITEAOF" if run("INFO", "persistence")["aof_enabled"] else "BGSAVE"
    run(command)
    looks = Attempts(f"the end of {command}", _CHILD_SECONDS, math.inf)
    while any(run("INFO", "persistence")[each] for each in _CHILDREN):
        looks.count()
        sleep(_LOOK)
    return command
