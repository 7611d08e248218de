"""The request to a launcher: which store to launch, how, and with which settings and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from storeproof.contract.clusters import Cluster
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.endpoint_probe import EndpointProbe
from storeproof.launch.readiness import Probe
from storeproof.spec.store import Launch, Topology

LaunchOption = Literal["auto", "container", "process", "endpoint"]
"""Values of `--launch`."""


@dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """A request to launch one store. A server that storeproof starts gets an empty data directory."""

    store: str
    """The store's name, for messages."""
    launch: Launch
    """The launchers that the store's file describes, with the additions of its variant."""
    probe: Probe
    """Tests whether a server that storeproof started answers."""
    settings: Mapping[str, str]
    """The settings that a server is started with; an endpoint has its own."""
    kind: LaunchOption = "auto"
    endpoint: EndpointProbe | None = None
    """The user's own server, if one was named."""
    image: str | None = None
    """An image that replaces the one in the store's file."""
    data_dir: Path | None = None
    """The parent of the data directory. None: the directory for temporary files, or for a container a volume of the engine."""
    in_memory: bool = False
    """Keep the files of a local process in memory, if there is room and `data_dir` is None."""
    keep: bool = False
    """Keep data, log and container when the store is closed."""
    power_cut: PowerCutMethod | None = None
    """How its power is cut; its data is then on a file system of its own. None: it cannot be cut."""
    forked: bool = False
    """Whether a fork server may start a host in Python: not where its memory is measured, of which the two share a part."""
    cores: tuple[int, ...] = ()
    """The cores that the server runs on; empty: all."""
    memory: int | None = None
    """Bytes of memory that the server may use; None: no limit."""
    parts: tuple[PartRequest, ...] = ()
    """For a composite store, the requests for its servers; the request itself starts none."""
    cluster: ClusterRequest | None = None
    """The nodes of a cluster; the request itself starts no server."""
    node: NodeLocation | None = None
    """For a server of a cluster, its node; None: it runs on this machine, at 127.0.0.1."""

    def not_described(self, kind: str) -> NotAvailable | UsageError:
        """The error for a launcher that the store's file does not describe, or for an endpoint without a URL."""
        if self.cluster is not None:
            lacking = "its file names no image" if kind == "container" else "storeproof starts the servers of a topology itself"
            return NotAvailable(f"{self.store} cannot be launched by {kind} as a cluster: {lacking}", "--launch=process")
        if self.parts:
            return NotAvailable(
                f"{self.store} cannot be launched by {kind}: it is a composite store, whose servers storeproof starts itself",
                "leave out --endpoint and --launch, or give --launch=container or --launch=process",
            )
        described = [each for each in ("container", "process", "endpoint") if getattr(self.launch, each) is not None]
        url = f"--endpoint {self.store}={self.launch.endpoint.url}" if self.launch.endpoint else ""
        if kind == "endpoint" and url:
            return UsageError(f"--launch=endpoint needs to know where {self.store} is: {url}")
        remedy = url if described == ["endpoint"] else f"--launch={described[0]}" if described else ""
        found = ", ".join(described) or "no launch"
        return NotAvailable(f"{self.store} cannot be launched by {kind}: its file describes {found}", remedy)


@dataclass(frozen=True, kw_only=True)
class PartRequest:
    """A request to launch one server of a composite store."""

    role: str
    """`front` or `home`."""
    adapter: str
    """The adapter of this server: a module of `adapters/`, or the absolute path of a file."""
    options: Mapping[str, str]
    """The options of its variant, for that adapter."""
    request: LaunchRequest


@dataclass(frozen=True, kw_only=True)
class NodeLocation:
    """The node of a cluster that one server runs on."""

    namespace: str
    """The name of its network namespace."""
    holder: str | None
    """The container that holds the namespace, and that the server's container shares it with; None: the server is a process."""
    host: str
    """Its address."""
    port: int
    """The server's port there."""
    addresses: Mapping[str, str]
    """The addresses of all nodes, by name."""


@dataclass(frozen=True, kw_only=True)
class ClusterRequest:
    topology: Topology
    adapter: Cluster
    """Forms and repairs it."""
