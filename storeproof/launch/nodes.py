"""Kills nodes of a cluster in one container by their process ids, and waits until they are back."""

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
        """See `Handle.nodes`."""
        return tuple(self._order)

    def kill(self, container: Any, names: Sequence[str]) -> None:
        """See `Handle.kill_nodes`."""
        files = [self._nodes.pid_files[name] for name in names]
        status, said = self._run(container, ("sh", "-c", _KILL, "sh", *files))
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
        deadline = Deadline(seconds, lambda: None)
        while True:
            status, said = self._run(container, command)
            if status == 0:
                return
            if deadline.has_passed():
                what = f"{self._name}: the cluster {'was not complete' if whole else 'did not answer'} within"
                raise timeout_error(deadline, what, said, lambda reason: StoreDied(reason, self._log()))
            time.sleep(_PAUSE)

    def _run(self, container: Any, command: Sequence[str]) -> tuple[int, str]:
        """Run a command in the container; return its exit status and the last line of its output."""
        status, output = container.exec_run(list(command))
        lines = output.decode("utf-8", "replace").split("\n")
        return status, next((line for line in reversed(lines) if line.strip()), f"exit status {status}")
