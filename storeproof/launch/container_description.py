"""Translates a launch request into a container's image, command, mounts and ports, and finds the address of the running container."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from storeproof.cleanup.workdir import WorkDir
from storeproof.contract.address import Address
from storeproof.launch.request import LaunchRequest
from storeproof.launch.template import Template
from storeproof.machine import container_engine
from storeproof.machine.owner import this_process
from storeproof.spec.store import ContainerLaunch

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer


def describe(request: LaunchRequest, launch: ContainerLaunch, image: str, directory: WorkDir, data: Path | None) -> DockerContainer:
    """Describe the container without creating it; write its configuration files, and create its volume.

    Container and volume have the directory's name, so they can be removed even if this process is interrupted while it creates them.

    Args:
        data: the directory of this machine that is mounted as its data directory; None: a volume of the engine.
    """
    from docker.types import Mount

    values = {"data": launch.data, "port": str(launch.port), "user": launch.user or "", "password": launch.password or ""}
    values |= {f"port.{name}": str(port) for name, port in launch.ports.items()}
    template = Template(request.store, values, launch.setting, request.settings)
    mark = directory.root.name
    described = container_engine.new_container(image).with_name(mark)
    if launch.command:
        described.with_command(template.command(launch.command))
    for name, value in template.table(launch.environment).items():
        described.with_env(name, value)
    mounts = []  # not testcontainers' volumes: these are `host:container` strings, so that a path cannot contain a colon
    for number, (target, text) in enumerate(template.table(launch.files).items()):
        file = directory.run / str(number)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o644)
        mounts.append(Mount(target, str(file), "bind", read_only=True))
    if data is not None:
        mounts.append(Mount(launch.data, str(data), "bind"))
    else:
        container_engine.client().volumes.create(mark, labels=labels(keep=directory.keep))
        mounts.append(Mount(launch.data, mark, "volume"))
    described.with_kwargs(labels=labels(keep=directory.keep), mounts=mounts, **limits(request))
    _publish_ports(described, launch)
    return described


def limits(request: LaunchRequest) -> dict[str, str | int]:
    """The engine's arguments that limit cores and memory. Swap is disabled."""
    cores: dict[str, str | int] = {}
    if request.cores and container_engine.runs_here():
        cores = {"cpuset_cpus": ",".join(map(str, request.cores))}
    elif request.cores:  # the number suffices: the load generator does not run on that machine
        cores = {"nano_cpus": len(request.cores) * 10**9}
    memory: dict[str, str | int] = {"mem_limit": request.memory, "memswap_limit": request.memory} if request.memory is not None else {}
    return cores | memory


def labels(*, keep: bool) -> dict[str, str]:
    """The labels by which a sweep recognises storeproof's containers and volumes."""
    owned = {container_engine.LABEL: "1", container_engine.OWNER_LABEL: str(this_process())}
    return owned | ({container_engine.KEEP_LABEL: "1"} if keep else {})


def mapped_address(described: DockerContainer, launch: ContainerLaunch) -> Address:
    """The address of a running container. Raises `ConnectionError` if it has no ports."""
    host = described.get_container_host_ip()
    engine_client = described.get_docker_client()
    mapped = engine_client.get_connection_mode().use_mapped_port

    def reached(port: int) -> int:
        # Not testcontainers' get_exposed_port: if the container has ended, that retries for a minute.
        return int(engine_client.port(described.get_container_id(), port)) if mapped else port

    ports = {name: reached(port) for name, port in launch.ports.items()}
    host = "127.0.0.1" if host == "localhost" else host
    return Address(host, reached(launch.port), launch.user, launch.password, ports=ports, ours=True)


def _publish_ports(described: DockerContainer, launch: ContainerLaunch) -> None:
    mode = described.get_docker_client().get_connection_mode()
    if mode.value == "docker_host" and described.get_docker_client().host() in ("localhost", "127.0.0.1"):
        # Without a host address the port is open to the network. testcontainers' type hint has none, but the engine accepts it.
        published = {f"{port}/tcp": ("127.0.0.1", port) for port in launch.fixed_ports}
        mapped = {f"{port}/tcp": ("127.0.0.1", None) for port in (launch.port, *launch.ports.values())}
        described.ports = cast(dict[str, int | None], mapped | published)
    else:
        described.with_exposed_ports(launch.port, *launch.ports.values())
        for port in launch.fixed_ports:
            described.with_bind_ports(port, port)
