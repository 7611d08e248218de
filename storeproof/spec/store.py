"""Store files: how a store is launched, its variants, and its claims."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, Strict, field_validator, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import LADDER, GuaranteeName, NodeGuaranteeName
from storeproof.spec.known_failure import KnownFailure

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
    initialise: Annotated[tuple[Command, ...], Strict(False)] = ()
    """Commands run once on an empty data directory. A name without a slash is looked up like the binary."""
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


class EndpointLaunch(Frozen):
    """A server that the user runs. It is never killed, and only collections of this run are touched."""

    url: str
    """An example for messages: `scheme://[user[:password]@]host[:port][/database][?NAME=PORT]`.

    A user's URL may set the further ports that this one names.
    """


class Launch(Frozen):
    """The ways to launch a store."""

    process: ProcessLaunch | None = None
    """As a process on this machine."""
    container: ContainerLaunch | None = None
    """As a container."""
    endpoint: EndpointLaunch | None = None
    """Not launched: a server that the user runs."""


class Cache(Frozen):
    """The setting for the size of a server's cache of data on disk.

    The scale sets it, to the same size for all stores: ten times the memory of another store would be an advantage by itself.
    """

    setting: str
    """Its name in the server."""
    value: str
    """Its value, with `${bytes}`, `${mib}` or `${gib}` for the size."""

    @field_validator("value")
    @classmethod
    def _says_how_much(cls, value: str) -> str:
        template = string.Template(value)
        named = template.get_identifiers() if template.is_valid() else []
        if len(named) != 1 or named[0] not in _sizes(0):
            allowed = ", ".join(f"${{{name}}}" for name in _sizes(0))
            raise ValueError(f"allowed: exactly one of {allowed}, with any text around it")
        return value

    def of(self, size: int) -> dict[str, str]:
        """The setting for `size` bytes."""
        return {self.setting: string.Template(self.value).substitute(_sizes(size))}


def _sizes(size: int) -> dict[str, str]:
    return {"bytes": str(size), "mib": str(size // 2**20), "gib": f"{size / 2**30:g}"}


class Claims(Frozen):
    """What the store is said to be able to do; the run tests it."""

    models: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Models it can store: names in `spec/models/`."""
    capabilities: dict[str, bool]
    """`group: true|false` for a group, `group.capability: true|false` for one capability, `group.capability/case: true|false` for one
    case; the more specific one wins.

    Unnamed capabilities are not claimed, but tried.
    """
    detects_corruption: bool = False
    """Whether it detects damage to its files, for example by checksums: it refuses to serve, or says so in its log. It never serves what
    no client wrote, nor a part of the data as if it were all."""
    atomic_batches: bool = False
    """Whether all records of a batch are written or none, also if the store is killed in the middle."""
    durable_reads: bool = False
    """Whether a read never shows a write that a fault which the variant claims to survive could still undo.

    Some stores show a write to other clients before it is synced and acknowledged.
    """


class Variant(Frozen):
    """A named configuration of a store."""

    settings: dict[str, str] = Field(default_factory=dict)
    """Server settings: passed at launch, and read back from the running server."""
    arguments: Annotated[tuple[str, ...], Strict(False)] = ()
    """Further server arguments, at `${arguments}` in the command or at its end. They are not read back, so settings that can be read
    belong under `settings`. An endpoint runs without them."""
    options: dict[str, str] = Field(default_factory=dict)
    """What the adapter sets on connections and collections; read back from the running server."""
    guarantee: GuaranteeName
    """What acknowledged writes survive; that guarantee and all below it are tested."""
    survives: Annotated[tuple[NodeGuaranteeName, ...], Strict(False)] = ()
    """Guarantees of a cluster, outside the ladder."""
    auto_indexed: bool = False
    """Whether collections always have secondary indexes: nothing is then measured without indexes."""
    default: bool = False
    """Whether `--store NAME` runs this variant; true for exactly one."""
    capabilities: dict[str, bool] = Field(default_factory=dict)
    """Claims of this variant that differ from the store's."""
    atomic_batches: bool | None = None
    """Overrides the store's claim."""
    durable_reads: bool | None = None
    """Overrides the store's claim."""
    detects_corruption: bool | None = None
    """Overrides the store's claim."""
    note: str = ""
    """A note for readers of the report."""

    def promises(self, guarantee: str) -> bool:
        """Whether it claims a guarantee: one of the ladder or below it, or one in `survives`."""
        return guarantee in self.survives or guarantee in LADDER[: LADDER.index(self.guarantee) + 1]


class Store(SpecFile):
    """One file of `spec/stores/`, or a file of the user's."""

    FORMAT = (2, 0)
    RENAMED = older_formats.STORE

    extends: str | None = None
    """The store whose file this one extends: its name, or the path of its YAML file relative to this one.

    Mappings are merged, lists and values are replaced, and `null` removes a field. `format`, `store`, `title`, `product` and
    `known_failures` are not inherited.
    """
    name: Annotated[Name, Field(alias="store")]
    """The name on command lines and in results."""
    title: str
    """The name in reports."""
    product: str
    """The product name that the server must report: another product is not tested under this name."""
    adapter: str
    """A module of `adapters/`, or the path of a Python file relative to this one."""
    requires: Annotated[tuple[str, ...], Strict(False)] = ()
    """Client packages, as pip requirements."""
    wire: Name | None = None
    """The protocol for the wire engine, as named in `storeproof.load.wire`; without it the driver engine is used."""
    topology: Literal["single", "replica_set", "cluster"] = "single"
    """`cluster`: records are distributed over several nodes, and clients see one server."""
    launch: Launch
    """How to launch it."""
    cache: Cache | None = None
    """The cache of a server with data on disk; none for a server in memory, or one that relies on the page cache."""
    variants: dict[Name, Variant] = Field(min_length=1)
    """Its variants, by name."""
    claims: Claims
    """Its claims."""
    known_failures: dict[str, KnownFailure] = Field(default_factory=dict)
    """By case id, or by the part of an id before the slash for all such cases."""

    @model_validator(mode="after")
    def _known_variants_fail(self) -> Self:
        for case, known in self.known_failures.items():
            for position, name in enumerate(known.variants):
                if name not in self.variants:
                    place = ("known_failures", case, "variants", position)
                    raise RuleError(f"found '{name}'; allowed: {', '.join(self.variants)}", *place)
        return self

    @model_validator(mode="after")
    def _one_default(self) -> Self:
        defaults = [name for name, variant in self.variants.items() if variant.default]
        if len(defaults) != 1:
            raise RuleError(f"exactly one variant has `default: true`; found {', '.join(defaults) or 'none'}", "variants", *defaults[1:2])
        return self

    @property
    def default_variant(self) -> str:
        """The name of the variant that `--store NAME` runs."""
        return next(name for name, variant in self.variants.items() if variant.default)

    def claims_by_default(self, capability: str) -> bool:
        """Whether a variant without claims of its own claims a capability, by its full name."""
        return _claimed(capability, self.claims.capabilities)


@dataclass(frozen=True)
class Target:
    """A store in one of its variants."""

    store: Store
    variant: str
    """The variant's name."""
    file: Path
    """The store's YAML file; its adapter may be in the same directory."""

    @property
    def configuration(self) -> Variant:
        """The variant's configuration."""
        return self.store.variants[self.variant]

    @property
    def launch(self) -> Launch:
        """The store's launch, with the variant's arguments in the commands."""
        launch, arguments = self.store.launch, self.configuration.arguments
        ways = {name: way for name in ("process", "container") if (way := getattr(launch, name)) is not None}
        return launch.model_copy(
            update={name: way.model_copy(update={"command": _with_arguments(way.command, arguments)}) for name, way in ways.items()}
        )

    @property
    def id(self) -> str:
        """`store:variant`, as on the command line."""
        return f"{self.store.name}:{self.variant}"

    def settings(self, cache_bytes: int) -> dict[str, str]:
        """The server's settings, by name."""
        cache = self.store.cache.of(cache_bytes) if self.store.cache is not None else {}
        return {**cache, **self.configuration.settings}

    @property
    def atomic_batches(self) -> bool:
        """Whether the variant claims atomic batches."""
        own = self.configuration.atomic_batches
        return self.store.claims.atomic_batches if own is None else own

    @property
    def detects_corruption(self) -> bool:
        """Whether the variant claims to detect damaged files."""
        own = self.configuration.detects_corruption
        return self.store.claims.detects_corruption if own is None else own

    @property
    def durable_reads(self) -> bool:
        """Whether the variant claims that a read never shows a write that a fault could still undo."""
        own = self.configuration.durable_reads
        return self.store.claims.durable_reads if own is None else own

    def known_failure(self, case: str, today: date) -> KnownFailure | None:
        """The known failure of a case in this variant, if there is one that has not expired."""
        named = (known for name, known in self.store.known_failures.items() if f"{case}/".startswith(f"{name}/"))
        return next((known for known in named if self.variant in known.variants and today <= known.until), None)

    def claims(self, capability: str) -> bool:
        """Whether the variant claims a capability, by its full name, or a case, as `group.capability/case`."""
        return _claimed(capability, self.configuration.capabilities, self.store.claims.capabilities)


def _with_arguments(command: tuple[str, ...], arguments: tuple[str, ...]) -> tuple[str, ...]:
    if "${arguments}" not in command:
        return (*command, *arguments)
    return tuple(item for each in command for item in (arguments if each == "${arguments}" else (each,)))


def _claimed(capability: str, *stated: Mapping[str, bool]) -> bool:
    """The first mapping that names it decides; a case wins over its capability, a capability over its group."""
    names = (capability, capability.partition("/")[0], capability.partition(".")[0])
    return next((claims[name] for claims in stated for name in names if name in claims), False)
