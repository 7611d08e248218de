"""The container engine: whether one answers, whether an image can be had, and what of ours is in it.

Nothing heavy is imported before it is asked for: the Docker client takes longer to load than a Redis to start.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storeproof.errors import NotAvailable
from storeproof.machine.owner import Owner

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

LABEL = "storeproof"
OWNER_LABEL = "storeproof.owner"
KEEP_LABEL = "storeproof.keep"

_ANSWER_SECONDS = 0.8
"""An engine that does not answer a ping within this time is not used."""


@functools.cache
def client() -> Any:
    """The engine's client (`docker.DockerClient`), once it has answered; an engine that failed once is not asked again in this run.

    Raises:
        NotAvailable: no engine answers, or this user may not ask it.
    """
    import docker
    import docker.errors
    import requests.exceptions

    try:
        docker.from_env(timeout=_ANSWER_SECONDS).ping()
        return docker.from_env()
    except (docker.errors.DockerException, requests.exceptions.RequestException) as reason:
        if "PermissionError" in repr(reason) or "Permission denied" in str(reason):
            raise NotAvailable(
                "this user has no access to the Docker engine", "sudo usermod -aG docker $USER  # then log in again"
            ) from None
        where = f" at DOCKER_HOST={os.environ['DOCKER_HOST']}" if "DOCKER_HOST" in os.environ else ""
        raise NotAvailable(f"no container engine answers{where}", "apt-get install docker.io && systemctl start docker") from None


@functools.cache
def unavailable() -> str | None:
    """Why there is no engine, or None."""
    try:
        client()
    except NotAvailable as reason:
        return str(reason)
    return None


def has_image(image: str) -> bool:
    """Whether the image is there already."""
    import docker.errors

    try:
        client().images.get(image)
    except docker.errors.ImageNotFound:
        return False
    except docker.errors.APIError as reason:
        if reason.status_code == 400:  # no image can be called so, which the attempt to pull it says
            return False
        raise
    return True


@functools.cache
def _pull_failure(image: str) -> str | None:
    """Why the image cannot be pulled, or None once it has been; asked once in a run, since an unreachable registry takes its time."""
    import docker.errors
    import requests.exceptions

    repository, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", "latest")
    try:
        client().images.pull(repository, tag=None if "@" in image else tag)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as reason:
        return _in_plain_words(str(reason))
    return None


def _in_plain_words(message: str) -> str:
    """The engine's message without the addresses of registries and proxies, which must not be published in a report."""
    if re.search(r"unauthorized|denied|authentication|login", message, re.IGNORECASE):
        return "the registry does not have it, or denies access to this user"
    if re.search(r"not found|manifest unknown|does not exist", message, re.IGNORECASE):
        return "the registry does not have it"
    if re.search(r"invalid reference|repository name|parse", message, re.IGNORECASE):
        return "that is not a valid image name"
    if re.search(r"no space", message, re.IGNORECASE):
        return "the engine's disk is full"
    return "the registry is not reachable"


def require_image(image: str, store: str, install: str | None = None) -> str:
    """Pull the image if it is not there, and return its digest (its id, for one that was built here).

    `install` is the line that provides it where no registry has it.

    Raises:
        NotAvailable: it is not there and cannot be pulled.
    """
    if not has_image(image):
        failure = _pull_failure(image)
        if failure is not None:
            raise NotAvailable(
                f"{store}: the image {image} is not available locally and cannot be pulled: {failure}",
                f"{install or f'docker pull {image}'}  # or name a local one: --image {store}=LOCAL",
            )
    found = client().images.get(image)
    digests = found.attrs.get("RepoDigests") or []
    return str(digests[0] if digests else found.id)


def new_container(image: str) -> DockerContainer:
    """A container as testcontainers describes it, not created yet."""
    # Read once, when testcontainers is first imported; what the user has set stays.
    # Its reaper is an image that is often unavailable, and ours does the same.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    # /.dockerenv makes testcontainers believe that it runs inside a container, and look for a gateway. Where the engine
    # runs on this very host the file is a leftover of how the machine was made.
    if Path("/.dockerenv").exists() and runs_here():
        os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
        os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    from testcontainers.core.container import DockerContainer

    return DockerContainer(image)


def sweep_containers() -> list[str]:
    """Remove the containers and volumes of dead owners; what was done, one line each. What `--keep` kept stays.

    Raises:
        NotAvailable: no engine answers.
    """
    done = []
    for container in client().containers.list(all=True, filters={"label": f"{LABEL}=1"}, ignore_removed=True):
        if _left_behind(container.labels):
            remove(container, v=True, force=True)
            done.append(f"removed container {container.name}, left by a killed run")
    for volume in client().volumes.list(filters={"label": f"{LABEL}=1"}):
        if _left_behind(volume.attrs.get("Labels") or {}):
            remove(volume, force=True)
            done.append(f"removed volume {volume.name}, left by a killed run")
    return done


def _left_behind(labels: dict[str, str]) -> bool:
    owner = Owner.parse(labels.get(OWNER_LABEL, ""))
    return owner is not None and KEEP_LABEL not in labels and owner.dead()


def runs_here() -> bool:
    """Whether the engine runs on this very machine."""
    return bool(client().info().get("Name") == socket.gethostname())


def group_of(pid: int) -> str:
    """The control groups of a process of this machine, as the kernel lists them, with the ids of containers; empty if there is none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
    return ""


def volume_folder(name: str) -> Path | None:
    """Where a volume's files lie on this machine, if this user may look at them."""
    folder = Path(client().volumes.get(name).attrs.get("Mountpoint") or "/nowhere")
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def remove_folder(folder: Path, image: str, labels: dict[str, str]) -> None:
    """Remove a directory whose files belong to the image's user, which only a container may do."""
    from docker.types import Mount

    options = {"entrypoint": "rm", "user": "0", "mounts": [Mount("/storeproof", str(folder.parent), "bind")], "labels": labels}
    remover = client().containers.create(image, ["-rf", f"/storeproof/{folder.name}"], **options)
    try:
        remover.start()
        remover.wait()
    finally:
        # With its volumes: the image may declare some of its own.
        remove(remover, v=True, force=True)


def remove(thing: Any, **options: bool) -> None:
    """Remove a container or a volume; a concurrent removal is fine."""
    import docker.errors

    try:
        thing.remove(**options)
    except docker.errors.APIError as reason:
        if reason.status_code not in (404, 409):
            raise
