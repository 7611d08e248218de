"""The container engine: connects to it, pulls images, and removes what dead runs left in it.

The Docker client is imported only when it is used: importing it takes longer than starting a Redis.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from storeproof.errors import NotAvailable
from storeproof.machine.owner import Owner

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

LABEL = "storeproof"
OWNER_LABEL = "storeproof.owner"
KEEP_LABEL = "storeproof.keep"

_ANSWER_SECONDS = 0.8
"""Time limit for the first ping; a slower engine is not used."""
KILLED = 137
"""Exit status of a process that was ended by SIGKILL: 128 + 9."""
_TOLD_SECONDS = 2
"""How long the engine may take to learn why a container has ended."""


@functools.cache
def client() -> Any:
    """The engine's client (`docker.DockerClient`); made once per run, after the engine has answered a ping.
    Raises `NotAvailable`: no engine answers, or this user has no access to it."""
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
    """The reason why no engine can be used; None if one can. Determined once per run."""
    try:
        client()
    except NotAvailable as reason:
        return str(reason)
    return None


def has_image(image: str) -> bool:
    import docker.errors

    try:
        client().images.get(image)
    except docker.errors.ImageNotFound:
        return False
    except docker.errors.APIError as reason:
        if reason.status_code == 400:  # an invalid name: the attempt to pull it will report that
            return False
        raise
    return True


@functools.cache
def _pull_failure(image: str) -> str | None:
    """Pull the image; return the reason if that failed, or None. Tried once per run, since an unreachable registry takes long to fail."""
    import docker.errors
    import requests.exceptions

    repository, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", "latest")
    try:
        client().images.pull(repository, tag=None if "@" in image else tag)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as reason:
        return _in_plain_words(str(reason))
    return None


def _in_plain_words(message: str) -> str:
    """Summarise the engine's message without the addresses of registries and proxies, which must not appear in a published report."""
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
    """Pull the image if it is not available locally; return its digest, or its id if it was built locally.

    `install`: the command that provides it if no registry has it.

    Raises:
        NotAvailable: it is not available locally and cannot be pulled.
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
    """A container object of testcontainers; the container itself is not created yet."""
    # testcontainers reads these variables once, when it is first imported; values that the user has set are kept.
    # Its reaper (Ryuk) needs an image that is often unavailable, and storeproof's reaper does the same.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    # If /.dockerenv exists, testcontainers assumes that it runs inside a container and looks for a gateway. If the engine runs on this
    # host, the file is only a leftover from the creation of the machine.
    if Path("/.dockerenv").exists() and runs_here():
        os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
        os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    from testcontainers.core.container import DockerContainer

    return DockerContainer(image)


def sweep_containers() -> list[str]:
    """Remove the containers and volumes of dead owners, except those kept by `--keep`; return a line for each.
    Raises `NotAvailable`: no engine answers."""
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
    """Whether the engine runs on this machine."""
    return bool(client().info().get("Name") == socket.gethostname())


def group_of(pid: int) -> str:
    """The text of /proc/PID/cgroup, which contains the id of the process's container; empty if there is no such process here."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
    return ""


def first_process(container: Any) -> int:
    """The pid of a container's main process on the engine's machine, as of its last `reload`."""
    return int(container.attrs["State"]["Pid"])


def is_visible(container: Any) -> bool:
    """Whether a container's engine runs on this machine, so that its processes are visible here."""
    return container.id in group_of(first_process(container))


def check_visible(container: Any) -> None:
    """Raise `NotAvailable` if a container's processes are not visible here."""
    if not is_visible(container):
        raise NotAvailable("the container engine runs on another machine, whose processes cannot be seen")


def processes_of(container: Any) -> list[int]:
    """The processes in a container: also those that left their parents, or were started by `exec`. Raises as `check_visible`."""
    check_visible(container)
    return [pid for pid in psutil.pids() if container.id in group_of(pid)]


def ended_for_memory(container: Any, *, ours: bool) -> bool:
    """Whether the kernel has ended it for exceeding a limit of memory.

    On a busy machine the engine may learn of that after it learned of the end, so that it is asked again for a moment. `ours`: whether
    storeproof has ended it, which looks alike.
    """
    state = container.attrs["State"]
    if state.get("OOMKilled") or ours or state["ExitCode"] != KILLED:
        return bool(state.get("OOMKilled"))
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    began = int(datetime.fromisoformat(state["StartedAt"].partition(".")[0].removesuffix("Z") + "+00:00").timestamp())
    asked = {"container": container.id, "event": "oom"}
    try:
        with contextlib.closing(client().events(since=began, until=int(time.time()) + _TOLD_SECONDS, filters=asked, decode=True)) as told:
            return next(iter(told), None) is not None
    except (DockerException, RequestException):
        return False


def volume_folder(name: str) -> Path | None:
    """The directory of a volume on this machine; None if this user may not read it."""
    folder = Path(client().volumes.get(name).attrs.get("Mountpoint") or "/nowhere")
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def readable_volume(name: str) -> Path:
    """The directory of a volume on this machine. Raises `NotAvailable` if this user may not read it."""
    folder = volume_folder(name)
    if folder is None:
        raise NotAvailable("its data is in a volume of the engine that this user may not read", "use --data-dir DIR, or run it as root")
    return folder


def remove_folder(folder: Path, image: str, labels: dict[str, str]) -> None:
    """Remove a directory from inside a container, if its files belong to the image's user and so this user may not."""
    from docker.types import Mount

    output_of(
        image, ("rm", "-rf", f"/storeproof/{folder.name}"), labels, user="0", mounts=[Mount("/storeproof", str(folder.parent), "bind")]
    )


def output_of(image: str, command: Sequence[str], labels: dict[str, str], **options: Any) -> str:
    """What a command says in a container of its own, which is then removed. Raises the errors of the engine's client."""
    program, *arguments = command
    made = client().containers.create(image, arguments, entrypoint=program, labels=labels, **options)
    try:
        made.start()
        made.wait()
        return str(made.logs().decode("utf-8", "replace"))
    finally:
        # With its volumes, since the image may declare some.
        remove(made, v=True, force=True)


def remove_container(name: str) -> None:
    """Remove a container, with its volumes, if there is one of this name. Raises the errors of the engine's client."""
    import docker.errors

    with contextlib.suppress(docker.errors.NotFound):
        remove(client().containers.get(name), v=True, force=True)


def said(reason: Exception) -> str:
    """What the engine says in an error of its client, or that it does not answer."""
    import docker.errors

    if not isinstance(reason, docker.errors.DockerException):
        return "the engine does not answer"
    return f"the engine says: {getattr(reason, 'explanation', None) or reason}"


def remove(thing: Any, **options: bool) -> None:
    """Remove a container or a volume; do nothing if it is gone or is being removed."""
    import docker.errors

    try:
        thing.remove(**options)
    except docker.errors.APIError as reason:
        if reason.status_code not in (404, 409):
            raise
