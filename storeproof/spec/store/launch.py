"""How a store is launched: as a process, as a container, not at all, or as a composite of two other stores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, Strict, field_validator, model_validator

from storeproof.spec.base import Frozen, Name, RuleError
from storeproof.spec.store.composite import Composite

_LONGEST_NAME = 255
"""Bytes of a file name."""

Command = Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
"""A command line with `${name}`s of `TEMPLATE_NAMES`."""

TEMPLATE_NAMES: Mapping[str, str] = {
    "here": "the folder of this file",
    "data": "the data directory, empty at the first start",
    "run": "a directory of this run, for sockets and files (processes only)",
    "port": "the port for clients",
    "port.NAME": "a further port, by its name under `ports`",
    "address": "the address of the node (services of a topology only)",
    "address.NODE": "the address of another node, by its name",
    "python": "the Python interpreter of the suites (processes only)",
    "user": "the value of `user`",
    "password": "the value of `password`",
    "settings": "the variant's settings, each written as in `setting`: as an item of its own, or one line each in a file",
    "arguments": "the variant's arguments, as an item of its own; they come last without it",
}
"""What `${name}` stands for in commands, files, environment and `setting`; a literal dollar is `$$`. `setting` also has `${name}` and
`${value}`, and `cache` has its own."""


class ProcessLaunch(Frozen):
    """A server binary on this machine."""

    binary: str
    """Looked up on PATH, then in `search`. `${python}` is the Python interpreter of the suites."""
    search: Annotated[tuple[str, ...], Strict(False)] = ()
    """More directories (globs), for distributions that keep the binary off PATH."""
    reject_version_containing: str | None = None
    """A word in the output of `binary --version` of another product with this binary name, such as a fork."""
    install: str
    """The shell command that installs it on Debian, shown when it is missing; a remark may follow after two spaces and `#`.
    `.ci/setup servers` needs a checkout and Debian 12."""
    programs: Annotated[tuple[str, ...], Strict(False)] = ()
    """Further programs of the server, without which it is not started: those that it runs, and those that set up a node. An installation
    that has all of them beside the server is preferred to the first one in PATH."""
    servers: Annotated[tuple[str, ...], Strict(False)] = ()
    """Further servers that a command of `before_start` starts, each of which the store is nothing without: a front for clients, say. The
    digest of the program in the result covers them (since format 2.3)."""
    initialise: Annotated[tuple[Command, ...], Strict(False)] = ()
    """Commands run once on an empty data directory. A name without a slash is looked up like the binary."""
    before_start: Annotated[tuple[Command, ...], Strict(False)] = ()
    """Commands run before each start, such as one that finds out where a crash has left the data. Written like those of `initialise`."""
    command: Annotated[tuple[str, ...], Strict(False)]
    """The arguments of the binary. `${here}`, `${data}`, `${run}`, `${port}`, `${port.NAME}`, `${python}`, `${user}` and `${password}` are
    replaced; an item `${settings}` or `${arguments}` becomes those of the variant. A literal dollar is `$$`."""
    ports: Annotated[tuple[Name, ...], Strict(False)] = ()
    """Names of further ports of the server: `${port.NAME}` in its command, `Address.ports` for the adapter."""
    setting: Command = ("--${name}", "${value}")
    """How a setting is written on the command line or in a file, from its `${name}` and `${value}`."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files written to the run directory before the start, by name; `${settings}` is all settings."""
    stop: Literal["SIGTERM", "SIGINT", "SIGUSR1"] = "SIGTERM"
    """The signal for a clean stop."""
    unprivileged: bool = False
    """Whether the server refuses to run as root; it then runs as `nobody`."""
    user: str | None = None
    """The user that the adapter signs in as."""
    password: str | None = None
    """Its password; no secret, since the server exists only during the run."""
    start_seconds: PositiveInt = 30
    """How long the server may take to accept requests after a start, also after a crash."""

    @field_validator("files")
    @classmethod
    def _inside_the_run_directory(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            if name in ("", ".", "..") or "/" in name or not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
                raise RuleError(f"found {name!r}; allowed: a file name without directories, for the run directory", name)
        return files


class Nodes(Frozen):
    """The nodes of a cluster in one container, which restarts a node that has ended."""

    pid_files: dict[str, str] = Field(min_length=1)
    """Files in the container with the process id of each node, by node name."""
    ready: Command
    """A command in the container that exits with 0 while the cluster accepts reads and writes, which an open port does not show."""
    all_ready: Command
    """The same, with all nodes."""


class ContainerLaunch(Frozen):
    """A container image of the server."""

    image: str
    """Its name for `docker pull`."""
    install: str | None = None
    """The shell command that builds the image, if no registry has it; `docker pull` by default."""
    port: PositiveInt
    """The server's port inside the container."""
    ports: dict[Name, PositiveInt] = Field(default_factory=dict)
    """Further ports for the adapter, by name; its address has their numbers on this machine."""
    fixed_ports: Annotated[tuple[PositiveInt, ...], Strict(False)] = ()
    """Ports published under the same number, for servers that redirect clients; may include `port` and `ports`."""
    data: str
    """The image's data directory; a volume is mounted there."""
    command: Annotated[tuple[str, ...], Strict(False)] = ()
    """The container's command, as under `process`; the image's own by default."""
    setting: Command = ("--${name}", "${value}")
    """How a setting is written on the command line or in a file, from its `${name}` and `${value}`."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the container."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files mounted read-only, by absolute path in the container."""
    nodes: Nodes | None = None
    """The nodes of a cluster."""
    owner: PositiveInt | None = None
    """The user id that the image's server runs as, if not root: a directory of this machine in place of the volume is given to it."""
    stop: Annotated[tuple[str, ...], Strict(False)] = ()
    """A command in the container that ends the server cleanly, for images whose server is killed by the engine's stop signal."""
    alive: Annotated[tuple[str, ...], Strict(False)] = ()
    """A command in the container that exits with 0 while the server runs, for images whose main process outlives the server."""
    set_up: str | None = None
    """The absolute path of a file in the data directory that the image writes last when it sets the server up, which it does once. A start
    that was struck before leaves a directory that the image, and not the server, cannot go on from."""
    user: str | None = None
    """The user that the adapter signs in as."""
    password: str | None = None
    """Its password; no secret, since the server exists only during the run."""
    start_seconds: PositiveInt = 60
    """How long the server may take to accept requests after a start, also after a crash."""

    @field_validator("files")
    @classmethod
    def _in_the_container(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            path = PurePosixPath(name)
            if not path.is_absolute() or not path.name or ".." in path.parts or not name.isprintable():
                raise RuleError(f"found {name!r}; allowed: the absolute path of a file in the container, without `..`", name)
        return files

    @model_validator(mode="after")
    def _set_up_in_the_data_directory(self) -> Self:
        data = PurePosixPath(self.data)
        if self.set_up is not None and (data not in PurePosixPath(self.set_up).parents or ".." in PurePosixPath(self.set_up).parts):
            raise RuleError(f"found {self.set_up!r}; allowed: the absolute path of a file under {self.data}", "set_up")
        return self


class EndpointLaunch(Frozen):
    """A server that the user runs. It is never killed, and only collections of this run are touched."""

    url: str
    """An example for messages: `scheme://[user[:password]@]host[:port][/database][?NAME=PORT]`.

    A user's URL may set the further ports that this one names.
    """
    needs: str = ""
    """What the server must have beyond an installation's defaults, for messages: roles, ports, databases."""


class Launch(Frozen):
    """The ways to launch a store."""

    process: ProcessLaunch | None = None
    """As a process on this machine."""
    container: ContainerLaunch | None = None
    """As a container."""
    endpoint: EndpointLaunch | None = None
    """Not launched: a server that the user runs."""
    composite: Composite | None = None
    """As two servers, a front and a home, instead of any of the other ways."""
