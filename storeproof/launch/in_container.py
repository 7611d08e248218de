"""Runs commands in a container, for what its engine does not know: whether the server inside runs, is set up, or has its nodes; and kills
nodes of a cluster in one container by their process ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from storeproof.errors import StoreDied
from storeproof.launch.readiness import timeout_error
from storeproof.machine.deadline import Deadline
from storeproof.spec.store import Nodes

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


# One `kill` for all of them, so that they end at the same moment. It runs in the container, since the pid files contain ids of the
# container's pid namespace, not the host's.
_KILL = """
set -e
pids=$(cat "$@")
kill -KILL $pids
for pid in $pids; do while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done; done
"""


class RunningNodes:
    """The nodes of one store, across all its starts."""

    def __init__(self, name: str, nodes: Nodes, log: Callable[[], str]) -> None:
        """`name`: the store, for messages. `log`: returns the last lines of its log."""
        self._name = name
        self._nodes = nodes
        self._log = log
        self._order = list(nodes.pid_files)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._order)

    def kill(self, container: Any, names: Sequence[str]) -> None:
        files = [self._nodes.pid_files[name] for name in names]
        status, said = run(container, ("sh", "-c", _KILL, "sh", *files))
        if status != 0:
            raise StoreDied(f"{self._name}: {', '.join(names)} could not be killed: {said}", self._log())
        self._order = [name for name in self._order if name not in names] + list(names)

    def wait(self, container: Any, seconds: float, *, whole: bool) -> None:
        """Wait until the cluster answers or, if `whole`, until it has all its nodes.

        Raises:
            StoreDied: a timeout of `seconds`.
            MachineFailed: a timeout on a busy machine.
        """
        command = self._nodes.all_ready if whole else self._nodes.ready
        what = f"{self._name}: the cluster {'was not complete' if whole else 'did not answer'} within"
        wait_until(container, command, what, seconds, self._log)
