"""Launches the cluster of a topology: servers in a network namespace for each node, which the adapter forms into one store.

The servers are processes; or each is in a container, which shares the namespace of a container that does nothing else: see
`NamespaceHolder`. All else is the same, for the topology, the faults and the adapter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from storeproof.cleanup.reaper import reap_at_exit
from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import default_base
from storeproof.contract.address import Address
from storeproof.contract.clusters import EndsAsWhole, NodeAddresses, OwnFailover, Promotion, Rebuilding, Undoing
from storeproof.contract.failures import Breach, Refused, Unknown
from storeproof.disk.recording import RecordingDisk
from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch.data_written import AllWritten
from storeproof.launch.handle import DataWritten, FaultMeans, LaunchKind
from storeproof.launch.process import ProcessHandle
from storeproof.launch.readiness import timeout_error
from storeproof.launch.request import LaunchRequest, NodeLocation
from storeproof.launch.several.cluster_node import ClusterNode, kill_together
from storeproof.launch.several.contained_server import ContainedServer
from storeproof.launch.several.namespace_holder import NamespaceHolder
from storeproof.launch.several.together import Servers
from storeproof.machine import container_engine
from storeproof.machine.deadline import Deadline, progress_of
from storeproof.machine.program_origin import ProgramOrigin
from storeproof.machine.usage import UsageMeter
from storeproof.network.network import Network
from storeproof.outcome import Lack
from storeproof.spec.store import Launch

NO_CUT: Final = "the power of the nodes of a cluster cannot be cut: each would need a disk of its own"
_HANDLES: Final[Mapping[LaunchKind, type[ProcessHandle]]] = {"process": ProcessHandle, "container": ContainedServer}
_PAUSE: Final = 0.05
"""Seconds between two questions to a cluster."""


class ClusterHandle(Servers):
    """A cluster as one store: its address is that of the primary. It is also its own `RunningCluster`."""

    kind: LaunchKind
    data: Path | None = None
    image_digest: str | None = None
    power_cut_method: str | None = None

    def __init__(self, request: LaunchRequest) -> None:
        """Make the network and the directories of all servers. Nothing is started yet.

        Raises:
            NotAvailable: the network cannot be made here, a program is not installed, or not in the image, or power cuts are asked for.
            UsageError: the data directory cannot be written to.
        """
        assert request.cluster is not None
        if request.kind == "endpoint":
            raise request.not_described(request.kind)
        if request.power_cut is not None:
            raise NotAvailable(NO_CUT, lack=Lack.DISK)
        self._name = request.store
        self._topology = request.cluster.topology
        self._adapter = request.cluster.adapter
        self._formed = False
        self.kind = "container" if request.kind == "container" else "process"
        self._meter: UsageMeter | None = None
        self._members: dict[str, ClusterNode] = {}
        self._order = list(self._topology.nodes)
        self._started: list[ProcessHandle] = []
        self.network = Network(self._order)
        self._holders: dict[str, NamespaceHolder] = {}
        registry.add(self)
        try:
            reap_at_exit(default_base(), containers=self.kind == "container", networks=True)
            if self.kind == "container":
                request = self._hold(request)
            for node, services in self._topology.nodes.items():
                servers: dict[str, ProcessHandle] = {}
                self._members[node] = ClusterNode(node, servers)  # already now, so that `close` finds those that were made
                for service in services:
                    servers[service] = _HANDLES[self.kind](self._request_of(request, node, service))
            self.network.make({node: holder.start() for node, holder in self._holders.items()})
        except BaseException:
            self.close()
            raise

    @property
    def members(self) -> Collection[ClusterNode]:
        return self._members.values()

    @property
    def cluster(self) -> ClusterHandle:
        return self

    @property
    def initialised(self) -> bool | None:
        """Whether the commands of all servers have succeeded."""
        return all(server.initialised for server in self._servers())

    @property
    def binary_digest(self) -> str | None:
        return self._servers()[0].binary_digest

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        return list(dict.fromkeys(each for server in self._servers() for each in server.origins))

    @property
    def pids(self) -> Sequence[int]:
        return [pid for node in self._members.values() for pid in node.pids]

    @property
    def address(self) -> Address:
        """The address of the primary, asked at the moment of the call. Raises `Unknown` if none is known."""
        return self._members[self.primary()].address

    @property
    def nodes(self) -> Sequence[str]:
        return tuple(self._order)

    @property
    def settle_seconds(self) -> int:
        return self._topology.settle_seconds

    def node(self, name: str) -> ClusterNode:
        return self._members[name]

    def primary(self) -> str:
        return self._primary_of(self._addresses())

    def successor_of(self, node: str) -> str:
        return self._primary_of(self._others(node))

    def missed(self, node: str) -> float | None:
        if not isinstance(self._adapter, OwnFailover):
            return None
        return self._adapter.missed(self._members[node].address, self._others(node))

    def timeouts(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        if isinstance(self._adapter, OwnFailover):
            adapter = self._adapter
            self._until("did not tell its time-outs", lambda: found.update(adapter.timeouts(self._addresses())))
        return found

    def cannot(self, capability: FaultMeans) -> NotAvailable | None:
        return NotAvailable(NO_CUT, lack=Lack.DISK) if capability is FaultMeans.CUT_POWER else None

    def start(self) -> float:
        """Start what does not run, and wait until the cluster is whole; return the seconds taken. Raises as `Handle.start`."""
        began = time.monotonic()
        self.start_nowait()
        self.wait_ready()
        return time.monotonic() - began

    def start_nowait(self) -> None:
        """Start what does not run, without waiting."""
        servers = self._servers()
        self._started = [server for server in servers if not server.alive()]
        if not self._started:
            raise RuntimeError(f"{self._name} runs already")
        if len(self._started) == len(servers):
            self._formed = False
        self._meter = None
        for server in self._started:
            server.start_nowait()

    def wait_ready(self) -> None:
        """Wait until each server answers, form the cluster if none of it was running, and wait until it is whole."""
        for server in self._started:
            server.wait_ready()
        if not self._formed:
            self._until("was not formed", lambda: self._adapter.form(self._addresses()))
            self._formed = True
        self._replace_emptied()
        self.wait_whole()

    def wait_whole(self) -> None:
        """Nodes that need a new copy of the data get one first."""
        self._rebuild()
        self._until("was not whole", lambda: self._adapter.whole(self._addresses()))

    def set_aside(self) -> Mapping[str, Mapping[Path, int]]:
        """Files of the servers for clients."""
        if not isinstance(self._adapter, Undoing):
            return {}
        servers = zip(self._members, self._for_clients(), strict=True)
        return {name: self._adapter.set_aside(server.data) for name, server in servers if server.data is not None}

    def fail_over(self) -> str | None:
        if self._topology.failover == "own":
            return None
        assert isinstance(self._adapter, Promotion), "checked when the adapter was loaded"
        return self._adapter.promote(self._addresses())

    def bring_back(self, name: str) -> None:
        self._members[name].start()
        self._replace_emptied()
        self._rebuild()

    def heal(self) -> None:
        self.network.heal_all()
        self.resume()
        for node in self._members.values():
            node.start()
        self._replace_emptied()

    def empty(self) -> None:
        for server in self._servers():
            server.empty()

    def stop(self) -> None:
        """Stop all servers cleanly: as a whole, where the adapter knows how; those for clients last, since the others would take a stop for
        a failure and act on it."""
        if isinstance(self._adapter, EndsAsWhole):
            adapter = self._adapter
            self._until("did not end", lambda: adapter.end(self._addresses()))
        for server in sorted(self._servers(), key=lambda each: each in self._for_clients()):
            server.stop()

    def kill(self) -> None:
        kill_together(list(self._members.values()))

    def kill_nodes(self, names: Sequence[str]) -> None:
        """Send SIGKILL to these nodes at the same moment and wait until they are gone. The next `start` starts them again.
        Raises `StoreDied` or `MachineFailed`: one of them was not running."""
        for name in names:
            self._members[name].check_alive()
        kill_together([self._members[name] for name in names])
        self._order = [name for name in self._order if name not in names] + list(names)

    def quiesce(self) -> None:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(NO_CUT, lack=Lack.DISK)

    cut_power = quiesce

    def recording_disk(self) -> RecordingDisk:
        raise NotAvailable("it is several servers, and the disk of one is recorded", lack=Lack.DISK)

    def data_written(self) -> DataWritten:
        return AllWritten([server.data_written() for server in self._servers()])

    def watched(self) -> tuple[Path, Sequence[int]]:
        raise NotAvailable("it is several servers, and the I/O of one is watched")

    def files_elsewhere(self) -> Sequence[str]:
        return [file for server in self._servers() for file in server.files_elsewhere()]

    def meter(self) -> UsageMeter:
        """The meter of all nodes together, without files."""
        if self._meter is None:
            for server in self._servers():
                server.meter()  # each is first held in its limits
            self._meter = UsageMeter(self.pids, None)
        return self._meter

    def log_tail(self) -> str:
        """The last lines of all logs, each after a line that says whose they are."""
        tails = ((node, service, server.log_tail()) for node in self._members.values() for service, server in node.servers.items())
        return "\n".join(f"{self._name}, {service} of {node.name}:\n{tail}" for node, service, tail in tails if tail)

    def close(self) -> None:
        """End the servers first, then the network that they are in."""
        with registry.deferring_signals():
            for node in self._members.values():
                node.close()
            for holder in self._holders.values():
                holder.close()
            self.network.close()
            registry.discard(self)

    def _hold(self, request: LaunchRequest) -> LaunchRequest:
        """Name the holders, and the image: the user's, or that of the store's file. Raises `NotAvailable`: there is none of them here."""
        described = request.launch.container
        image = request.image or (described.image if described is not None else None)
        if image is None:
            raise request.not_described("container")
        if not container_engine.runs_here():
            raise NotAvailable(
                f"{self._name}: the container engine runs on another machine, and the network of a cluster is made on this one",
                "--launch=process",
            )
        install = described.install if described is not None and request.image is None else None
        self.image_digest = container_engine.require_image(image, self._name, install)
        self._holders = {node: NamespaceHolder(self.network.namespace(node), image) for node in self._topology.nodes}
        return replace(request, image=image)

    def _request_of(self, request: LaunchRequest, node: str, service: str) -> LaunchRequest:
        """The request for one server. All of them share the memory."""
        described = self._topology.services[service]
        servers = sum(len(services) for services in self._topology.nodes.values())
        addresses = self.network.addresses
        return replace(
            request,
            store=f"{request.store}, {service} of {node}",
            launch=Launch(process=described),
            probe=request.probe if service == self._topology.nodes[node][0] else _open,
            kind="process",
            memory=None if request.memory is None else request.memory // servers,
            cluster=None,
            node=NodeLocation(
                namespace=self.network.namespace(node),
                holder=self._holders[node].name if node in self._holders else None,
                host=addresses[node],
                port=described.port,
                addresses=addresses,
            ),
        )

    def _servers(self) -> list[ProcessHandle]:
        return [server for node in self._members.values() for server in node.servers.values()]

    def _for_clients(self) -> list[ProcessHandle]:
        return [next(iter(node.servers.values())) for node in self._members.values()]

    def _addresses(self) -> NodeAddresses:
        return {name: node.address for name, node in self._members.items()}

    def _others(self, node: str) -> NodeAddresses:
        return {name: address for name, address in self._addresses().items() if name != node}

    def _primary_of(self, asked: NodeAddresses) -> str:
        found = self._adapter.primary(asked)
        if found not in asked:
            raise Breach(f"`primary` of the adapter's cluster returned {found!r}; allowed: {', '.join(asked)}")
        return found

    def _replace_emptied(self) -> None:
        for name, node in self._members.items():
            if node.emptied:
                self._until(f"did not take {name} back", partial(self._adapter.replace, name, self._addresses()))
                node.emptied = False

    def _rebuild(self) -> None:
        if not isinstance(self._adapter, Rebuilding):
            return
        adapter, needed = self._adapter, dict[str, Sequence[Sequence[str]]]()
        self._until("did not say which nodes follow", lambda: needed.update(adapter.rebuilt(self._addresses())))
        for name, commands in needed.items():
            self._members[name].rebuild(commands)
        self._replace_emptied()

    def _until(self, what: str, step: Callable[[], None]) -> None:
        """Take a step of the adapter's again and again until it raises no `Unknown`. `what`: the message for a timeout."""
        deadline = Deadline(self._topology.settle_seconds, lambda: progress_of(self.pids))
        while True:
            try:
                step()
            except Unknown as reason:
                missing = str(reason)
            except Refused as reason:
                raise StoreDied(f"{self._name}: the cluster {what}: {reason}", self.log_tail()) from None
            else:
                return
            self.check_alive()
            if deadline.has_passed():
                raise timeout_error(
                    deadline, f"{self._name}: the cluster {what} within", missing, lambda text: StoreDied(text, self.log_tail())
                )
            time.sleep(_PAUSE)


def _open(address: Address) -> None:
    """The probe of a server that clients do not use."""
