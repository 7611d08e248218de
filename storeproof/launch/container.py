"""The launcher that runs a store in a container, created through testcontainers."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir
from storeproof.contract.address import Address
from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.launch import in_container
from storeproof.launch.container_description import describe, labels, mapped_address
from storeproof.launch.end_cause import beyond_limit, last_lines
from storeproof.launch.handle import LaunchKind
from storeproof.launch.in_container import RunningNodes
from storeproof.launch.managed_server import NO_NODES, ManagedServer
from storeproof.launch.request import LaunchRequest
from storeproof.machine import container_engine, ports, process_tree, shortage
from storeproof.machine.open_files import RUN_OF_CONTAINER, Place
from storeproof.machine.program_origin import ProgramOrigin, origin_of_image
from storeproof.machine.usage import UsageMeter
from storeproof.outcome import Lack
from storeproof.spec.store import ContainerLaunch

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_LOOK_SECONDS = 0.05
"""Interval between checks that the container still runs while it starts: each request costs the engine milliseconds."""
_GONE = 404
"""HTTP status with which the engine says that a container does not exist."""
_GONE_SECONDS = 5.0
"""How long to wait for the engine to notice that a process has ended."""
_TIMED_OUT = 124
"""The exit status of `timeout` when its command took too long."""
_SIGNAL_SECONDS = 5
"""How long a main process without a server may take to end after the stop signal."""
_NOT_THE_MACHINE = re.compile(r"exec|no such file|not running|not paused|is already paused|permission denied", re.IGNORECASE)
"""Messages of the engine about the image, its command, or the state of the server: the machine is not to blame for these errors."""


class ContainerHandle(ManagedServer):
    """A container whose data is in a volume or in a bind-mounted directory, reached through its published ports."""

    kind: LaunchKind = "container"
    pids: Sequence[int] = ()
    data: Path | None
    image_digest: str | None
    binary_digest: str | None = None
    _launch: ContainerLaunch

    def __init__(self, request: LaunchRequest) -> None:
        """Check the engine and the image, and make the directory. The container is not created yet.

        The data goes to a volume of the engine; or to a directory of this machine, bind-mounted into the container, if the request names
        one or asks for power cuts.

        Raises:
            NotAvailable: no engine answers, the image cannot be had, or no method of cutting the power works here.
        """
        super().__init__(request)
        launch = request.launch.container
        if launch is None:
            raise request.not_described("container")
        self._launch = launch
        self._image = request.image or launch.image
        self._address: Address | None = None
        self._described: DockerContainer | None = None
        self._container: Any = None
        self._starting = threading.Lock()
        self._looked = 0.0
        self._nodes = RunningNodes(self._name, launch.nodes, self.log_tail) if launch.nodes is not None else None
        self._struck = False
        """Whether storeproof has stopped or killed it since its last start."""
        self._lost_power = False
        """Whether its power was cut since its last start."""
        self._engine_is_here = False
        if request.power_cut is not None and os.geteuid() != 0:
            raise NotAvailable(
                "the engine cannot hand on a file system that a user without root has mounted", "run it as root, or by --launch=process"
            )
        self.image_digest = container_engine.require_image(self._image, self._name, launch.install if request.image is None else None)
        bound = request.data_dir is not None or request.power_cut is not None
        with self._making():
            directory = self._make_directory(containers=True)
            self.data = directory.data if bound else None
            if self.data is not None and launch.owner is not None:
                self._give_data(self.data, launch.owner)

    @property
    def address(self) -> Address:
        """The port can change at every start."""
        if self._address is None:
            raise RuntimeError(f"{self._name} was not started")
        return self._address

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        return [origin_of_image(self._image)]

    @property
    def nodes(self) -> Sequence[str]:
        return self._nodes.names if self._nodes is not None else ()

    @property
    def initialised(self) -> bool | None:
        """Known only if the image leaves a file behind that this machine can see."""
        if self._launch.set_up is None or self.data is None:
            return None
        return (self.data / PurePosixPath(self._launch.set_up).relative_to(self._launch.data)).exists()

    def start_nowait(self) -> None:
        """The measured time of a first start includes the image's initialisation of the data directory."""
        if self._launch.alive and self._runs() and not self.alive():
            self.kill()  # the server has ended without its container, which the engine would not start again
        if self._described is None:
            self._check_fixed_ports()
        with self._starting, self._engine_errors("could not be started"):
            if self._lost_power:
                self._drop_container(self._directory())
            self._began = time.monotonic()
            self._address = None
            self._struck = False
            self._end_cause.begin([self._dir.root] if self._dir else [], data=self._disk is None, inherits=False)
            if self._described is None:
                self._described = describe(self._request, self._launch, self._image, self._directory(), self.data)
                self._described.start()
                self._container = self._described.get_wrapped_container()
            else:
                self._container.start()
            # A container that has already ended has no port; `wait_ready` reports that, with its log.
            with contextlib.suppress(ConnectionError):
                self._address = mapped_address(self._described, self._launch)

    def wait_ready(self) -> None:
        self._check_runs()
        if self._address is None:
            raise self._error_for(f"{self._name} runs, but the engine publishes no port of it")
        super().wait_ready()

    def empty(self) -> None:
        if self.data is None or self._dir is None:
            raise NotAvailable(f"{self._name}: its data is in a volume of the engine's own", "--data-dir DIR", Lack.DISK)
        self._dir.empty()

    def stop(self) -> None:
        self.resume()
        self._struck = True
        with self._engine_errors("could not be stopped"):
            if self._launch.stop and self.alive():
                self._stop_server()
            self._container.stop(timeout=_SIGNAL_SECONDS if self._launch.stop else self._launch.start_seconds)
            self._container.reload()
        # A main process that outlives the server may ignore the signal: then the engine kills it, and nothing else.
        if self._container.attrs["State"]["ExitCode"] == container_engine.KILLED and not self._launch.stop:
            raise self._end_cause.store_error(f"{self._name} did not end within {self._launch.start_seconds} s of its stop signal")

    def kill(self) -> None:
        with self._starting:  # a container that the engine is still starting cannot be killed
            self.resume()
        if not self._runs():
            return
        self._struck = True
        from docker.errors import APIError

        with self._engine_errors("could not be killed"):
            # It may have ended by itself since `alive`.
            with contextlib.suppress(APIError):
                self._container.kill(signal="SIGKILL")
            self._container.wait()

    def cut_power(self) -> None:
        """The next start is that of a new container on the same data.

        A machine that boots has an empty /run, but a container that is started again has what the server left there: PostgreSQL does not
        start beside the lock file of a socket that a cut left empty.
        """
        super().cut_power()
        self._lost_power = True

    def kill_nodes(self, names: Sequence[str]) -> None:
        if self._nodes is None:
            raise NotAvailable(NO_NODES, lack=Lack.CLUSTER)
        with self._engine_errors("could not be asked to kill its nodes"):
            self._nodes.kill(self._container, names)

    def wait_whole(self) -> None:
        if self._nodes is not None:
            with self._engine_errors("ended while a node was missing"):
                self._nodes.wait(self._container, self._launch.start_seconds, whole=True)

    def pause(self) -> None:
        with self._engine_errors("could not be paused"):
            self._container.pause()
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            with self._engine_errors("could not be resumed"):
                self._container.unpause()
            self._paused = False

    def alive(self) -> bool:
        """Until it has been ready, a container that runs is taken for a server that starts."""
        if not self._runs():
            return False
        if not self._launch.alive or self._paused or self._ready < self._began:
            return True
        with self._engine_errors("cannot be looked at"):
            return in_container.run(self._container, self._launch.alive)[0] == 0

    def check_alive(self) -> None:
        if not self.alive() or self._is_ending():
            raise self._end_error("")
        super().check_alive()

    def log_tail(self) -> str:
        if self._container is None:
            return ""
        from docker.errors import DockerException

        try:
            return last_lines(self._container.logs(tail=50), self._launch.password)
        except DockerException:
            return ""

    def _check_fixed_ports(self) -> None:
        """Raise if another process has a port that the server tells its clients. The engine's own message does not name the process."""
        if not self._launch.fixed_ports or not container_engine.runs_here():
            return
        for port in self._launch.fixed_ports:
            if ports.is_listened_on(port):
                every = ", ".join(map(str, self._launch.fixed_ports))
                raise self._end_cause.machine_error(
                    f"{self._name} tells its clients its ports, so that it needs {every} of this machine; "
                    f"port {port} is already in use by {ports.describe_listener(port)}",
                    "end it: one run of this store at a time",
                )

    def _drop_container(self, directory: WorkDir) -> None:
        """Remove the container, and nothing of its data directory."""
        container_engine.remove_container(directory.root.name)
        if self._described is not None:
            self._described.get_docker_client().client.close()
        self._described = self._container = None
        self._lost_power = False

    def _give_data(self, data: Path, owner: int) -> None:
        """Let the image's user write to the data directory. Only root may give a directory away; else all users of this machine may."""
        if os.geteuid() == 0:
            os.chown(data, owner, -1)
        elif os.geteuid() != owner:
            data.chmod(0o777)
        if self._disk is not None:
            self._disk.sync()  # else a power cut would take it back

    def _stop_server(self) -> None:
        """Run the image's command for a clean stop. It has a time limit in the container: the engine's client waits forever."""
        command, limit = " ".join(self._launch.stop), self._launch.start_seconds
        status, said = in_container.run(self._container, ("timeout", str(limit), *self._launch.stop))
        if status == _TIMED_OUT:
            raise self._end_cause.store_error(f"{self._name} was not stopped by {command} within {limit} s")
        if status != 0:
            raise self._end_cause.store_error(f"{self._name} could not be stopped by {command}: {said}")

    def _runs(self) -> bool:
        """Whether the container runs; the server in it may have ended."""
        if self._container is None:
            return False
        with self._engine_errors("cannot be looked at"):
            self._container.reload()
        return bool(self._container.attrs["State"]["Running"])

    def _is_ending(self) -> bool:
        """Whether its main process has ended. Clients notice that before the engine does, so wait for the engine to confirm it."""
        if not self._engine_is_here or not process_tree.ending(container_engine.first_process(self._container)):
            return False
        with self._engine_errors("has ended, which the engine does not know"):
            self._container.wait(timeout=_GONE_SECONDS)
        return not self.alive()

    def _check_runs(self) -> None:
        if time.monotonic() - self._looked < _LOOK_SECONDS and self._address is not None:
            return
        if not self.alive():
            raise self._end_error(" before it answered")
        self._looked = time.monotonic()

    def _confirm_ready(self) -> None:
        """Wait for the nodes of a cluster, and for the end of the image's set-up: the server that clients connect to may answer before."""
        wait = self._launch.start_seconds
        waited = False
        if self._launch.set_up is not None:
            what = f"{self._name} answers, and its image did not end the set-up ({self._launch.set_up}) within"
            with self._engine_errors("ended while it was set up"):
                waited = in_container.wait_until(self._container, ("test", "-e", self._launch.set_up), what, wait, self.log_tail)
        if self._nodes is not None:
            with self._engine_errors("ended while it started"):
                self._nodes.wait(self._container, wait, whole=False)
        if waited or self._nodes is not None:  # a look that finds the file at once is no part of a recovery
            self._ready = time.monotonic()
        self._engine_is_here = container_engine.is_visible(self._container)

    def _data_folder(self) -> Path:
        return self.data or container_engine.readable_volume(self._directory().root.name)

    def _seen_pids(self) -> Sequence[int]:
        return container_engine.processes_of(self._container)

    def _places_to_write(self) -> Sequence[Place]:
        return [Place(self._launch.data, self._data_folder().stat().st_dev), *RUN_OF_CONTAINER]

    def _make_meter(self) -> UsageMeter:
        """The container's processes are visible only if the engine runs on this machine."""
        if not self.alive():
            raise self._end_error("")
        container_engine.check_visible(self._container)
        folder = self.data or container_engine.volume_folder(self._directory().root.name)
        return UsageMeter([container_engine.first_process(self._container)], folder)

    def _end_error(self, when: str) -> StoreproofError:
        """The error for a container that has ended. `when` completes the message, such as " before it answered"."""
        if self._container is None:
            return StoreDied(f"{self._name} was not started")
        state = self._container.attrs["State"]
        if state["Running"]:
            return self._error_for(f"{self._name}: its server has ended{when}, and its container has not")
        reason = f"{self._name} ended with exit status {state['ExitCode']}{when}"
        if container_engine.ended_for_memory(self._container, ours=self._struck):
            lacking = shortage.Shortage("the kernel's out-of-memory killer has ended it", "give the machine or the container more memory")
            if self._request.memory is not None:
                lacking = beyond_limit(self._request.memory)
            return self._end_cause.shortage_error(reason, lacking)
        return self._error_for(reason, state["ExitCode"])

    def _output(self) -> str:
        return self.log_tail()

    def _ended_by_us(self) -> bool:
        return self._struck

    def _remove(self, directory: WorkDir) -> None:
        mark = directory.root.name
        by_hand = f"docker rm -fv {mark}; docker volume rm -f {mark}; rm -rf {directory.root}"
        if directory.keep:
            registry.kept.append(f"{self._name}: container {mark} and {directory.root} were kept; remove them with: {by_hand}")
            return
        # An error of the engine must not keep the run from ending; what could not be removed is listed.
        try:
            self._remove_now(directory)
        except Exception as reason:  # noqa: BLE001
            registry.kept.append(f"{self._name}: container {mark} could not be removed ({reason}); remove it with: {by_hand}")

    def _remove_now(self, directory: WorkDir) -> None:
        from docker.errors import NotFound

        self._drop_container(directory)
        with contextlib.suppress(NotFound):
            container_engine.remove(container_engine.client().volumes.get(directory.root.name), force=True)
        if self._disk is not None:
            self._disk.close()
        elif self.data is not None and os.geteuid() != 0:
            container_engine.remove_folder(self.data, self._image, labels(keep=False))
        directory.remove()

    @contextlib.contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        """Translate errors of the engine: the store is blamed for those about the container's state, the machine for all others.

        `what`: completes the message, such as "could not be stopped".
        """
        from docker.errors import APIError
        from requests.exceptions import RequestException

        try:
            yield
        except APIError as reason:
            said = str(reason.explanation or reason)
            if reason.status_code == _GONE and self._container is not None:
                raise MachineFailed(f"{self._name}: its container was removed from outside") from None
            if _NOT_THE_MACHINE.search(said):
                raise self._error_for(f"{self._name} {what}: {said}") from None
            raise self._end_cause.machine_error(f"{self._name} {what}: {container_engine.said(reason)}") from None
        except RequestException as reason:
            raise self._end_cause.machine_error(f"{self._name} {what}: {container_engine.said(reason)}") from None
