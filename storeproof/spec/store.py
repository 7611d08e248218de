"""One store: how it is launched, its variants, and what it claims."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, Strict, field_validator, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import LADDER, GuaranteeName, NodeGuaranteeName
from storeproof.spec.known_failure import KnownFailure

_LONGEST_NAME = 255
"""Bytes that the name of a file may have."""

Command = Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
"""A command line; `TEMPLATE_NAMES` has the `${name}`s that are replaced in it."""

TEMPLATE_NAMES: Mapping[str, str] = {
    "here": "the folder of this file",
    "data": "the data directory, empty at the first start",
    "run": "a directory of the run's own, for sockets and files (processes only)",
    "port": "the port that clients use",
    "port.NAME": "a further port, by its name under `ports`",
    "python": "the interpreter that runs the suites (processes only)",
    "user": "`user`, as given beside the command",
    "password": "`password`, as given beside the command",
    "settings": "the variant's settings, each written as `setting` says: an item of its own, or in a file one line each",
    "arguments": "the variant's arguments: an item of its own; where it does not stand they come last",
}
"""What `${name}` stands for in commands, files, environment and `setting`; a plain dollar is `$$`. In `setting` there are `${name}` and
`${value}` too, and `cache` has its own."""


class ProcessLaunch(Frozen):
    """A server's own binary on this machine."""

    binary: str
    """Looked up on PATH, then in `search`. `${python}` is the interpreter that runs the suites."""
    search: Annotated[tuple[str, ...], Strict(False)] = ()
    """Directories (globs) to look in where distributions keep the binary off PATH."""
    reject_version_containing: str | None = None
    """A word in the output of `binary --version` that shows another product under this name, as some distributions ship a fork."""
    install: str
    """The line that would install it on Debian, shown when it is missing: it can be pasted into a shell, with a remark after two
    spaces and `#`. What needs a checkout, `.ci/setup servers`, works on Debian 12."""
    initialise: Annotated[tuple[Command, ...], Strict(False)] = ()
    """Commands that are run once on an empty data directory. A name without a slash is looked up as the binary is."""
    command: Annotated[tuple[str, ...], Strict(False)]
    """The arguments of the binary. `${here}`, `${data}`, `${run}`, `${port}`, `${port.NAME}`, `${python}`, `${user}` and `${password}` are
    replaced; an item that is `${settings}` or `${arguments}` alone becomes those of the variant. A plain dollar is `$$`."""
    ports: Annotated[tuple[Name, ...], Strict(False)] = ()
    """Names of further ports that the server needs: each is `${port.NAME}` for it, and the adapter finds it in `Address.ports`."""
    setting: Command = ("--${name}", "${value}")
    """How one setting is written on the command line, or in a file: of the `name` and `value` of each."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files written to the run directory before the start, by name; `${settings}` stands for all settings."""
    stop: Literal["SIGTERM", "SIGINT", "SIGUSR1"] = "SIGTERM"
    """The signal that asks for a clean stop."""
    unprivileged: bool = False
    """Whether the server refuses to run as root; it then runs as `nobody`."""
    user: str | None = None
    """As whom the adapter signs in: it finds both in its address."""
    password: str | None = None
    """With which password; no secret, since the server is one of ours."""
    start_seconds: PositiveInt = 30
    """How long it may take to answer after a start, also after a crash."""

    @field_validator("files")
    @classmethod
    def _inside_the_run_directory(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            if name in ("", ".", "..") or "/" in name or not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
                raise RuleError(f"found {name!r}; allowed: the plain name of a file, which is written to the run directory", name)
        return files


class Nodes(Frozen):
    """The nodes of a cluster that runs whole in one container. Whoever started a node there starts it again when it has ended."""

    pid_files: dict[str, str] = Field(min_length=1)
    """The file in the container that holds the process id of a node, by the node's name."""
    ready: Command
    """Run in the container: ends with 0 while the nodes that are there take reads and writes. An open port does not show that."""
    all_ready: Command
    """The same, and no node is missing."""


class ContainerLaunch(Frozen):
    """An image of the server."""

    image: str
    """As `docker pull` takes it."""
    install: str | None = None
    """The line that provides the image, where no registry has it; without it, `docker pull`."""
    port: PositiveInt
    """Where the server listens inside the container."""
    ports: dict[Name, PositiveInt] = Field(default_factory=dict)
    """Further ports that the adapter needs, by name: it finds them in the address, under the numbers that they have on this machine."""
    fixed_ports: Annotated[tuple[PositiveInt, ...], Strict(False)] = ()
    """Ports that keep their numbers on this machine, for servers that tell clients where to go; `port` and `ports` may be among them."""
    data: str
    """Where the image keeps its data: a volume of ours is mounted there."""
    command: Annotated[tuple[str, ...], Strict(False)] = ()
    """What the container runs, as under `process`; without it what the image runs by itself."""
    setting: Command = ("--${name}", "${value}")
    """How one setting is written on the command line, or in a file: of the `name` and `value` of each."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables of the container, by name."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files mounted read-only, by absolute path in the container."""
    nodes: Nodes | None = None
    """Of a cluster."""
    user: str | None = None
    """As whom the adapter signs in: it finds both in its address."""
    password: str | None = None
    """With which password; no secret, since the server is one of ours."""
    start_seconds: PositiveInt = 60
    """How long it may take to answer after a start, also after a crash."""

    @field_validator("files")
    @classmethod
    def _in_the_container(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            path = PurePosixPath(name)
            if not path.is_absolute() or not path.name or ".." in path.parts or not name.isprintable():
                raise RuleError(f"found {name!r}; allowed: the absolute path of a file in the container, without `..`", name)
        return files


class EndpointLaunch(Frozen):
    """A server that somebody else runs. It is never killed, and nothing but our own namespace is touched."""

    url: str
    """What an endpoint looks like, for messages: `scheme://[user[:password]@]host[:port][/database][?NAME=PORT]`.

    A user's URL may give the further ports that this one names.
    """


class Launch(Frozen):
    """The ways in which a store can be had."""

    process: ProcessLaunch | None = None
    """As a program of this machine."""
    container: ContainerLaunch | None = None
    """As an image."""
    endpoint: EndpointLaunch | None = None
    """As a server that runs somewhere."""


class Cache(Frozen):
    """The setting of how much memory a server keeps parts of its data in that else are on the disk.

    The scale says how much, the same for all stores: one that has ten times another's memory would be faster by that alone.
    """

    setting: str
    """What the server calls it."""
    value: str
    """How the server writes it: `${bytes}`, `${mib}` or `${gib}` stands for how much."""

    @field_validator("value")
    @classmethod
    def _says_how_much(cls, value: str) -> str:
        template = string.Template(value)
        named = template.get_identifiers() if template.is_valid() else []
        if len(named) != 1 or named[0] not in _sizes(0):
            allowed = ", ".join(f"${{{name}}}" for name in _sizes(0))
            raise ValueError(f"allowed: one of {allowed}, and what the server wants around it")
        return value

    def of(self, size: int) -> dict[str, str]:
        """The setting, of `size` bytes."""
        return {self.setting: string.Template(self.value).substitute(_sizes(size))}


def _sizes(size: int) -> dict[str, str]:
    return {"bytes": str(size), "mib": str(size // 2**20), "gib": f"{size / 2**30:g}"}


class Claims(Frozen):
    """What the vendor says the store can do; the run shows whether it is so."""

    models: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Forms of records that it can keep: names of `spec/models/`."""
    capabilities: dict[str, bool]
    """`group: true|false` for all of a group, `group.capability: true|false` for one, which goes before its group.

    `group.capability/case: true|false` is for one case of it: of some the store can do a part alone.

    What is not named is not claimed. It is tried all the same.
    """
    detects_corruption: bool = False
    """Whether it notices when its files were damaged, by checksums of its own: it refuses, or says so in its log, and serves neither what
    no client wrote nor a part of the data as if it were all."""
    atomic_batches: bool = False
    """Whether a batch of records is written whole or not at all, also where the store is killed in the middle of it."""
    durable_reads: bool = False
    """Whether a read shows nothing that a fault which the variant claims to survive could still undo.

    Some stores show a write to others as soon as it is made, and sync it before they acknowledge it to its writer.
    """


class Variant(Frozen):
    """A named configuration."""

    settings: dict[str, str] = Field(default_factory=dict)
    """Server settings: given at the launch, read back from the live server."""
    arguments: Annotated[tuple[str, ...], Strict(False)] = ()
    """Arguments of the server in this variant alone, where `${arguments}` stands in its command, or after all others. Not read back:
    what the server can tell belongs under `settings`. A server that is an endpoint runs without them."""
    options: dict[str, str] = Field(default_factory=dict)
    """What the adapter sets on connections and collections: read back from the live collection."""
    guarantee: GuaranteeName
    """What it promises to keep; the faults test that rung and all below it."""
    survives: Annotated[tuple[NodeGuaranteeName, ...], Strict(False)] = ()
    """What a cluster promises beside the ladder."""
    auto_indexed: bool = False
    """Whether a collection that asks for no secondary indexes has some all the same: nothing is then measured without indexes."""
    default: bool = False
    """Whether `--store NAME` runs this one; exactly one variant says so."""
    capabilities: dict[str, bool] = Field(default_factory=dict)
    """Claims that differ from the store's in this variant."""
    atomic_batches: bool | None = None
    """The same."""
    durable_reads: bool | None = None
    """The same."""
    detects_corruption: bool | None = None
    """The same."""
    note: str = ""
    """What a reader of the report should know of it."""

    def promises(self, guarantee: str) -> bool:
        """Whether it claims a guarantee: a rung of the ladder and all below it, or one that it names beside them."""
        return guarantee in self.survives or guarantee in LADDER[: LADDER.index(self.guarantee) + 1]


class Store(SpecFile):
    """One file of `spec/stores/`, or a vendor's own."""

    FORMAT = (2, 0)
    RENAMED = MappingProxyType(
        {
            "own_indexes": "auto_indexed",
            "lasting_reads": "durable_reads",
            "impostor": "reject_version_containing",
            "answers": "ready",
            "whole": "all_ready",
        }
    )

    extends: str | None = None
    """Another store whose file this one builds on: its name, or the path of its YAML file relative to this one.

    Mappings are merged, lists and values are replaced, and `null` takes a field away. `format`, `store`, `title`, `product` and
    `known_failures` are never taken over.
    """
    name: Annotated[Name, Field(alias="store")]
    """The name on command lines and in results."""
    title: str
    """The name in reports."""
    product: str
    """What the server must call itself: another product is not measured under this name."""
    adapter: str
    """A module of `adapters/`, or the path of a Python file relative to this one."""
    requires: Annotated[tuple[str, ...], Strict(False)] = ()
    """Client packages, as pip writes them."""
    wire: Name | None = None
    """The protocol between its client and its server, as `storeproof.load.wire` knows it; without it the client puts the load on."""
    topology: Literal["single", "replica_set", "cluster"] = "single"
    """`cluster`: the records are spread over nodes of one store, and clients see one server."""
    launch: Launch
    """How it is had."""
    cache: Cache | None = None
    """Of a server that keeps its data on the disk. One that keeps all of it in memory has none, nor one that leaves that to the system."""
    variants: dict[Name, Variant] = Field(min_length=1)
    """Its configurations, by name."""
    claims: Claims
    """What it is said to be able to do."""
    known_failures: dict[str, KnownFailure] = Field(default_factory=dict)
    """By the id of the case, as the report has it, or the part of it before a slash: then of all such cases."""

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
        """The variant that `--store NAME` runs."""
        return next(name for name, variant in self.variants.items() if variant.default)

    def claims_by_default(self, capability: str) -> bool:
        """Whether a variant that says nothing else claims a capability, by its full name."""
        return _claimed(capability, self.claims.capabilities)


@dataclass(frozen=True)
class Target:
    """A store in one of its variants: what a run is about."""

    store: Store
    variant: str
    """The variant's name."""
    file: Path
    """Where the store was read from: its adapter may lie beside it."""

    @property
    def configuration(self) -> Variant:
        """The variant itself."""
        return self.store.variants[self.variant]

    @property
    def launch(self) -> Launch:
        """How the store is had in this variant: with its arguments in the command."""
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
        """What the server is started with, by name."""
        cache = self.store.cache.of(cache_bytes) if self.store.cache is not None else {}
        return {**cache, **self.configuration.settings}

    @property
    def atomic_batches(self) -> bool:
        """Whether the variant claims that a batch is written whole or not at all."""
        own = self.configuration.atomic_batches
        return self.store.claims.atomic_batches if own is None else own

    @property
    def detects_corruption(self) -> bool:
        """Whether the variant claims to notice when its files were damaged."""
        own = self.configuration.detects_corruption
        return self.store.claims.detects_corruption if own is None else own

    @property
    def durable_reads(self) -> bool:
        """Whether the variant claims that a read shows nothing that a fault could still undo."""
        own = self.configuration.durable_reads
        return self.store.claims.durable_reads if own is None else own

    def known_failure(self, case: str, today: date) -> KnownFailure | None:
        """Why that case fails in this variant, if that is known and not yet overdue."""
        named = (known for name, known in self.store.known_failures.items() if f"{case}/".startswith(f"{name}/"))
        return next((known for known in named if self.variant in known.variants and today <= known.until), None)

    def claims(self, capability: str) -> bool:
        """Whether the variant claims a capability, by its full name, or one case of it: `group.capability/case`."""
        return _claimed(capability, self.configuration.capabilities, self.store.claims.capabilities)


def _with_arguments(command: tuple[str, ...], arguments: tuple[str, ...]) -> tuple[str, ...]:
    if "${arguments}" not in command:
        return (*command, *arguments)
    return tuple(item for each in command for item in (arguments if each == "${arguments}" else (each,)))


def _claimed(capability: str, *stated: Mapping[str, bool]) -> bool:
    """The first that names it decides; a case goes before its capability, and a capability before its group."""
    names = (capability, capability.partition("/")[0], capability.partition(".")[0])
    return next((claims[name] for claims in stated for name in names if name in claims), False)
