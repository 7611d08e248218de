"""The processes of a server that runs in containers: one for each command, which shares the network namespace of the server's node.

A container for each start, since it keeps nothing: data, files and log are in the server's directory, which is mounted. The engine runs on
this machine, so that its processes are found, paused and killed as those of any server: a container ends with its first process.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from storeproof.cleanup.workdir import WorkDir
from storeproof.errors import MachineFailed
from storeproof.launch import container_description
from storeproof.launch.end_cause import EndCause
from storeproof.launch.request import LaunchRequest
from storeproof.launch.server_processes import Leader, ServerProcesses
from storeproof.machine import container_engine, process_tree

PLACE: Final = "/storeproof"
"""Where the server's directory is in its containers: the folders above its path on this machine may be closed to the server's user."""
_TO_LOG: Final = f'exec "$@" >>{PLACE}/log 2>&1'
_SHELL: Final = 128
"""The engine reports an end by a signal as a shell does: this number plus the signal's."""
_LOOK_SECONDS: Final = 0.005
_NOTICED_SECONDS: Final = 30.0
"""How long the engine may take to notice that a process has ended."""


class ContainedProcesses(ServerProcesses):
    """Processes in a container: the engine holds them in their limits, and shared memory is the container's own."""

    def __init__(
        self, request: LaunchRequest, directory: WorkDir, end_cause: EndCause, *, user: str | None, image: str, holder: str
    ) -> None:
        """Nothing is started yet.

        Args:
            request: that for the server, with its limits.
            directory: their working directory.
            end_cause: decides who is to blame for an end.
            user: the user that they run as; None: root.
            image: the image.
            holder: the container whose network namespace they share.
        """
        super().__init__(request.store, directory, end_cause, user=user)
        self._limits = container_description.limits(request)
        self._memory_limit = EngineMemory(request.memory) if request.memory is not None else None
        end_cause.memory = self._memory_limit
        self._image = image
        self._holder = holder
        account = pwd.getpwnam(user) if user is not None else None
        self._ids = f"{account.pw_uid}:{account.pw_gid}" if account is not None else "0:0"
        if account is not None:
            os.chown(directory.log, account.pw_uid, account.pw_gid)

    def hold_in_limits(self) -> None:
        """Nothing: the engine does."""

    def note_shared_files(self) -> None:
        """Nothing: none of them outlives a container."""

    def remove_remains(self) -> None:
        """Remove the container of the last command."""
        container_engine.remove_container(self._directory.root.name)

    def _begin(self, command: Sequence[str]) -> Leader:
        from docker.types import Mount

        root = self._directory.root
        inside = f"{PLACE}/{self._directory.run.name}"
        with self._engine_errors():
            self.remove_remains()
            container: Any = container_engine.client().containers.create(
                self._image,
                ["-c", _TO_LOG, "sh", *command],
                entrypoint="sh",
                name=root.name,
                user=self._ids,
                working_dir=inside,
                environment={"LC_ALL": "C.UTF-8", "HOME": inside, "TMPDIR": inside},
                mounts=[Mount(PLACE, str(root), "bind")],
                network_mode=f"container:{self._holder}",
                labels=container_description.labels(keep=False),
                **self._limits,
            )
            container.start()
            container.reload()
        return ContainedLeader(container, self._name, self._memory_limit)

    @contextlib.contextmanager
    def _engine_errors(self) -> Iterator[None]:
        """The engine's errors, for which no store is to blame: what is run is in the server's log."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        try:
            yield
        except (DockerException, RequestException) as reason:
            raise self._end_cause.machine_error(f"{self._name} could not be started: {container_engine.said(reason)}") from None


class EngineMemory:
    """A limit of memory that the engine sets. See `MemoryLimit`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.ended = 0
        """Number of containers that the kernel has ended for it."""

    def kills(self) -> int:
        return self.ended


class ContainedLeader:
    """The first process of a container that was just started. See `Leader`."""

    def __init__(self, container: Any, name: str, memory: EngineMemory | None) -> None:
        """`container`: as the engine's client has it. `name`: the store, for messages."""
        self._container = container
        self._name = name
        self._memory = memory
        self._code: int | None = None
        self._struck = False
        self.pid = int(container.attrs["State"]["Pid"])
        # The engine reports 0 for one that has ended.
        self._process = process_tree.read_stat(self.pid) if self.pid else None

    def poll(self) -> int | None:
        return None if self._runs() else self._return_code()

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while self._runs():
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self._name, timeout or 0)
            time.sleep(_LOOK_SECONDS)
        return self._return_code()

    def send_signal(self, number: int) -> None:
        if self._process is not None and self._runs():
            self._struck = self._struck or number == signal.SIGKILL
            process_tree.send([self._process], signal.Signals(number))

    def _runs(self) -> bool:
        before, now = self._process, process_tree.read_stat(self.pid)
        return before is not None and now is not None and now.start == before.start and not now.ended

    def _return_code(self) -> int:
        """The exit status of a process that has ended. Its end is known to the kernel before it is to the engine."""
        if self._code is None:
            from docker.errors import DockerException
            from requests.exceptions import RequestException

            try:
                status = int(self._container.wait(timeout=_NOTICED_SECONDS)["StatusCode"])
                self._container.reload()
            except (DockerException, RequestException) as reason:
                raise MachineFailed(f"{self._name} has ended, and the engine does not know how: {container_engine.said(reason)}") from None
            if self._memory is not None and container_engine.ended_for_memory(self._container, ours=self._struck):
                self._memory.ended += 1
            self._code = _SHELL - status if status > _SHELL else status
        return self._code
