"""A store in a container of ours, started by testcontainers."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from storeproof.cleanup.reaper import guard
from storeproof.cleanup.registry import registry
from storeproof.cleanup.sweep import sweep_all
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract.address import Address
from storeproof.disk.ext4 import NO_VOLUME
from storeproof.disk.ext4 import base as volume_base
from storeproof.disk.methods import AS_CAN_BE_HAD, PowerCut, make_disk
from storeproof.disk.power_cut import Cuttable
from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.launch.end_cause import EndCause
from storeproof.launch.handle import LaunchKind, Probe
from storeproof.launch.log import last_lines
from storeproof.launch.nodes import NO_NODES, NODE_FAULTS, RunningNodes
from storeproof.launch.readiness import wait_until_ready
from storeproof.launch.template import Template
from storeproof.machine import docker, shortage
from storeproof.machine.owner import this_process
from storeproof.spec.store import ContainerLaunch

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_LOOK_SECONDS = 0.05
"""How often the engine is asked whether the container still runs, while we wait: each question costs it milliseconds."""
_KILLED = 137
"""The exit status of a process that SIGKILL ended: 128 + 9."""
_GONE = 404
_NOT_THE_MACHINE = re.compile(r"exec|no such file|not running|not paused|is already paused|permission denied", re.IGNORECASE)
"""What the engine says where the image, its command, or what the server did meanwhile is at fault."""


class ContainerHandle(Cuttable):
    """A container with a volume for its data, reached through ports of 127.0.0.1."""

    kind: LaunchKind = "container"
    pids: Sequence[int] = ()
    initialised: bool | None = None

    def __init__(
        self,
        name: str,
        launch: ContainerLaunch,
        settings: Mapping[str, str],
        probe: Probe,
        base: Path | None = None,
        *,
        image: str | None = None,
        keep: bool = False,
        on_volume: bool = False,
        power_cut: PowerCut = AS_CAN_BE_HAD,
    ) -> None:
        """Nothing runs yet.

        Args:
            name: the store, for messages.
            base: where data goes: a directory of this machine, bound into the container; a named volume of the engine if None.
            image: another image than the store's file names.
            on_volume: on a file system of its own, bound into the container, so that its power can be cut.
            power_cut: how.

        Raises:
            NotAvailable: no engine answers, or the image or the volume cannot be had.
        """
        self._name = name
        self._launch = launch
        self._settings = settings
        self._probe = probe
        self._image = image or launch.image
        self._keep = keep
        self._address: Address | None = None
        self._described: DockerContainer | None = None
        self._container: Any = None
        self._paused = False
        self._starting = threading.Lock()
        self._looked = 0.0
        self._nodes = RunningNodes(name, launch.nodes, self.log_tail) if launch.nodes is not None else None
        self._dir: WorkDir | None = None
        self._volume = None
        self._struck = False
        """By us, since its start."""
        self._end_cause = EndCause(name, self.log_tail)
        if on_volume and os.geteuid() != 0:
            raise NotAvailable(
                "the engine cannot hand on a file system that a user without root has mounted", "run it as root, or by --launch=process"
            )
        self.image_digest: str | None = docker.require_image(self._image, name, launch.install if image is None else None)
        place = (base or (volume_base() if on_volume else None) or default_base()).resolve()
        sweep_all(place)
        docker.sweep_containers()
        self._bound = base is not None or on_volume
        self.data: Path | None = None
        registry.add(self)
        try:
            self._dir = made = WorkDir.make(place, keep=keep)
            if self._bound:
                self.data = made.data
            guard(place, containers=True)
            self._volume = make_disk(power_cut, made.data, made.image) if on_volume else None
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> Address:
        """Where it answers now; another port after every start."""
        if self._address is None:
            raise RuntimeError(f"{self._name} was not started")
        return self._address

    def cannot(self, fault: str) -> str | None:
        """Why a fault cannot be struck, or None."""
        if fault in NODE_FAULTS and self._nodes is None:
            return NO_NODES
        if fault == "power_cut" and self._volume is None:
            return NO_VOLUME
        return "one container has no second node that could survive it" if fault == "node_wipe" else None

    def start(self) -> float:
        """See `Handle.start`. The first start includes what the image does to an empty data directory."""
        began = time.monotonic()
        self.start_nowait()
        return self._wait_ready() - began

    def start_nowait(self) -> None:
        """See `Handle.start_nowait`."""
        self._address = None
        self._struck = False
        self._end_cause.begin([self._dir.root] if self._dir else [], data=self._volume is None, inherits=False)
        with self._starting, self._engine_errors("could not be started"):
            if self._described is None:
                self._described = self._describe()
                self._described.start()
                self._container = self._described.get_wrapped_container()
            else:
                self._container.start()
            # It may have ended already, and then has no port: `wait_ready` says so, with its log.
            with contextlib.suppress(ConnectionError):
                self._address = self._mapped_address(self._described)

    def empty(self) -> None:
        """See `Handle.empty`."""
        if self.data is None or self._dir is None:
            raise NotAvailable(f"{self._name}: its data is in a volume of the engine's own", "--data-dir DIR")
        self._dir.empty()

    def wait_ready(self) -> None:
        """See `Handle.wait_ready`."""
        self._wait_ready()

    def stop(self) -> None:
        """See `Handle.stop`."""
        self.resume()
        self._struck = True
        with self._engine_errors("could not be stopped"):
            self._container.stop(timeout=self._launch.start_seconds)
            self._container.reload()
        if self._container.attrs["State"]["ExitCode"] == _KILLED:
            raise StoreDied(f"{self._name} did not end within {self._launch.start_seconds} s of its stop signal", self.log_tail())

    def kill(self) -> None:
        """See `Handle.kill`."""
        with self._starting:  # what the engine is about to start cannot be killed yet
            self.resume()
        if not self.alive():
            return
        self._struck = True
        from docker.errors import APIError  # `docker` is the project's own module here

        with self._engine_errors("could not be killed"):
            # It may have ended by itself in between.
            with contextlib.suppress(APIError):
                self._container.kill(signal="SIGKILL")
            self._container.wait()

    @property
    def nodes(self) -> Sequence[str]:
        """See `Handle.nodes`."""
        return self._nodes.names if self._nodes is not None else ()

    def kill_nodes(self, names: Sequence[str]) -> None:
        """See `Handle.kill_nodes`."""
        if self._nodes is None:
            raise NotAvailable(NO_NODES)
        with self._engine_errors("could not be asked to kill its nodes"):
            self._nodes.kill(self._container, names)

    def wait_whole(self) -> None:
        """See `Handle.wait_whole`."""
        if self._nodes is not None:
            with self._engine_errors("ended while a node was missing"):
                self._nodes.wait(self._container, self._launch.start_seconds, whole=True)

    def pause(self) -> None:
        """See `Handle.pause`: all processes of the container are frozen."""
        with self._engine_errors("could not be paused"):
            self._container.pause()
        self._paused = True

    def resume(self) -> None:
        """See `Handle.resume`."""
        if self._paused:
            with self._engine_errors("could not be resumed"):
                self._container.unpause()
            self._paused = False

    def alive(self) -> bool:
        """See `Handle.alive`."""
        if self._container is None:
            return False
        with self._engine_errors("cannot be looked at"):
            self._container.reload()
        return self._running()

    def check_alive(self) -> None:
        """See `Handle.check_alive`."""
        if not self.alive():
            raise self._ended("")

    def log_tail(self) -> str:
        """See `Handle.log_tail`."""
        if self._container is None:
            return ""
        from docker.errors import DockerException

        try:
            return last_lines(self._container.logs(tail=50), self._launch.password)
        except DockerException:
            return ""

    def close(self) -> None:
        """See `Handle.close`."""
        if self._dir is None:
            registry.discard(self)
            return
        with registry.undisturbed():
            made, self._dir = self._dir, None
            mark = made.root.name
            by_hand = f"docker rm -fv {mark}; docker volume rm -f {mark}; rm -rf {made.root}"
            if self._keep:
                registry.kept.append(f"{self._name}: container {mark} and {made.root} were kept; remove them with: {by_hand}")
            else:
                # Whatever the engine answers now, the run has to end; what stays is named.
                try:
                    self._remove(made)
                except Exception as reason:  # noqa: BLE001
                    registry.kept.append(f"{self._name}: container {mark} could not be removed ({reason}); remove it with: {by_hand}")
            registry.discard(self)

    def _describe(self) -> DockerContainer:
        from docker.types import Mount

        launch, made = self._launch, self._dir
        if made is None:
            raise RuntimeError(f"{self._name} was closed")
        values = {"data": launch.data, "port": str(launch.port), "user": launch.user or "", "password": launch.password or ""}
        values |= {f"port.{name}": str(port) for name, port in launch.ports.items()}
        template = Template(self._name, values, launch.setting, self._settings)
        # Container and volume bear the directory's name: they are found again even if we were interrupted while making them.
        mark = made.root.name
        described = docker.new_container(self._image).with_name(mark)
        if launch.command:
            described.with_command(template.command(launch.command))
        for name, value in template.table(launch.environment).items():
            described.with_env(name, value)
        mounts = []  # not testcontainers' volumes, which are written with colons, and so allow none in a name
        for number, (target, text) in enumerate(template.table(launch.files).items()):
            file = made.run / str(number)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o644)
            mounts.append(Mount(target, str(file), "bind", read_only=True))
        if self._bound:
            mounts.append(Mount(launch.data, str(made.data), "bind"))
        else:
            docker.client().volumes.create(mark, labels=self._labels())
            mounts.append(Mount(launch.data, mark, "volume"))
        described.with_kwargs(labels=self._labels(), mounts=mounts)
        mode = described.get_docker_client().get_connection_mode()
        if mode.value == "docker_host" and described.get_docker_client().host() in ("localhost", "127.0.0.1"):
            # testcontainers' type allows no host address, which its call to the engine does: without it the port is open to the network.
            published = {f"{port}/tcp": ("127.0.0.1", port) for port in launch.fixed_ports}
            mapped = {f"{port}/tcp": ("127.0.0.1", None) for port in (launch.port, *launch.ports.values())}
            described.ports = cast(dict[str, int | None], mapped | published)
        else:
            described.with_exposed_ports(launch.port, *launch.ports.values())
            for port in launch.fixed_ports:
                described.with_bind_ports(port, port)
        return described

    def _mapped_address(self, described: DockerContainer) -> Address:
        host = described.get_container_host_ip()
        engine_client = described.get_docker_client()
        mapped = engine_client.get_connection_mode().use_mapped_port

        def reached(port: int) -> int:
            # Not testcontainers' get_exposed_port: it waits a minute for a container that has ended to run.
            return int(engine_client.port(described.get_container_id(), port)) if mapped else port

        launch = self._launch
        ports = {name: reached(port) for name, port in launch.ports.items()}
        host = "127.0.0.1" if host == "localhost" else host
        return Address(host, reached(launch.port), launch.user, launch.password, ports=ports, ours=True)

    def _wait_ready(self) -> float:
        self._check_runs()
        if self._address is None:
            raise self._died(f"{self._name} runs and the engine gives it no port")
        ready = wait_until_ready(
            self._address,
            self._probe,
            name=self._name,
            seconds=self._launch.start_seconds,
            check=self._check_runs,
            died=self._died,
        )
        if self._nodes is not None:
            with self._engine_errors("ended while it started"):
                self._nodes.wait(self._container, self._launch.start_seconds, whole=False)
            ready = time.monotonic()
        self._end_cause.has_run = True
        return ready

    def _check_runs(self) -> None:
        if time.monotonic() - self._looked < _LOOK_SECONDS and self._address is not None:
            return
        if not self.alive():
            raise self._ended(" before it answered")
        self._looked = time.monotonic()

    def _ended(self, when: str) -> StoreproofError:
        """Whom to blame for the end of the container."""
        if self._container is None:
            return StoreDied(f"{self._name} was not started")
        state = self._container.attrs["State"]
        reason = f"{self._name} ended with exit status {state['ExitCode']}{when}"
        if state.get("OOMKilled"):
            lacking = shortage.Shortage("the kernel's out-of-memory killer has ended it", "give the machine or the container more memory")
            return self._end_cause.short(reason, lacking)
        return self._end_cause.of(reason, self.log_tail(), status=state["ExitCode"], ours=self._struck)

    def _died(self, reason: str) -> StoreproofError:
        return self._end_cause.of(reason, self.log_tail())

    def _running(self) -> bool:
        return bool(self._container.attrs["State"]["Running"])

    def _remove(self, made: WorkDir) -> None:
        from docker.errors import NotFound

        client = docker.client()
        with contextlib.suppress(NotFound):
            docker.remove(client.containers.get(made.root.name), v=True, force=True)
        with contextlib.suppress(NotFound):
            docker.remove(client.volumes.get(made.root.name), force=True)
        if self._volume is not None:
            self._volume.close()
        elif self._bound and os.geteuid() != 0:
            docker.remove_folder(made.data, self._image, self._labels())
        made.remove()
        if self._described is not None:
            self._described.get_docker_client().client.close()

    def _labels(self) -> dict[str, str]:
        return {docker.LABEL: "1", docker.OWNER_LABEL: str(this_process())} | ({docker.KEEP_LABEL: "1"} if self._keep else {})

    @contextlib.contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        """What the engine refuses because of the container is the store's end; else the machine is at fault."""
        import requests.exceptions
        from docker.errors import APIError

        try:
            yield
        except APIError as reason:
            said = str(reason.explanation or reason)
            if reason.status_code == _GONE and self._container is not None:
                raise MachineFailed(f"{self._name}: its container was removed by somebody") from None
            if _NOT_THE_MACHINE.search(said):
                raise self._died(f"{self._name} {what}: {said}") from None
            raise self._end_cause.machine(f"{self._name} {what}: the engine says: {said}") from None
        except requests.exceptions.RequestException:
            raise self._end_cause.machine(f"{self._name} {what}: the engine does not answer") from None
