"""Runs commands in a container, for what its engine does not know: whether the server inside runs, is set up, or has its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from storeproof.errors import StoreDied
from storeproof.launch.readiness import timeout_error
from storeproof.machine.deadline import Deadline

_PAUSE = 0.05
"""Seconds between two polls; a poll takes tens of milliseconds."""


def run(container: Any, command: Sequence[str]) -> tuple[int, str]:
    """Run a command in the container; return its exit status and the last line of its output."""
    status, output = container.exec_run(list(command))
    lines = output.decode("utf-8", "replace").split("\n")
    return status, next((line for line in reversed(lines) if line.strip()), f"exit status {status}")


def wait_until(container: Any, command: Sequence[str], what: str, seconds: float, log: Callable[[], str]) -> bool:
    """Wait until a command in the container exits with 0; return whether it did not at once.

    Args:
        what: the beginning of the message for a timeout, such as "mine: the cluster did not answer within".
        seconds: the time limit.
        log: returns the last lines of the store's log.

    Raises:
        StoreDied: a timeout.
        MachineFailed: a timeout on a busy machine.
    """
    deadline = Deadline(seconds, lambda: None)
    waited = False
    while True:
        status, said = run(container, command)
        if status == 0:
            return waited
        if deadline.has_passed():
            raise timeout_error(deadline, what, said, lambda reason: StoreDied(reason, log()))
        waited = True
        time.sleep(_PAUSE)
