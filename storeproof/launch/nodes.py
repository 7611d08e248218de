"""Kills nodes of a cluster in one container by their process ids, and waits until they are back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from storeproof.errors import StoreDied
from storeproof.launch import in_container
from storeproof.spec.store import Nodes

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
        status, said = in_container.run(container, ("sh", "-c", _KILL, "sh", *files))
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
        in_container.wait_until(container, command, what, seconds, self._log)
