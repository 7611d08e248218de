"""One node of a cluster: the servers that run in its network namespace, as one machine that can be lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from storeproof.contract.address import Address
from storeproof.launch.process import ProcessHandle
from storeproof.launch.several.together import Servers


class ClusterNode(Servers):
    def __init__(self, name: str, servers: Mapping[str, ProcessHandle]) -> None:
        """`servers`: by service, the one for clients first. None of them is started."""
        self.name = name
        self.servers = servers
        self.emptied = False
        """Whether its data was removed since it was last a member of the cluster."""

    @property
    def members(self) -> Collection[ProcessHandle]:
        return self.servers.values()

    @property
    def address(self) -> Address:
        first, *_ = [server.address for server in self.servers.values()]
        return replace(first, ports={service: server.address.port for service, server in self.servers.items()})

    @property
    def pids(self) -> Sequence[int]:
        return [pid for server in self.servers.values() for pid in server.pids]

    def start(self) -> None:
        stopped = [server for server in self.servers.values() if not server.alive()]
        for server in stopped:
            server.start_nowait()
        for server in stopped:
            server.wait_ready()

    def kill(self) -> None:
        kill_together([self])

    def empty(self) -> None:
        for server in self.servers.values():
            server.empty()
        self.emptied = True

    def rebuild(self, commands: Sequence[Sequence[str]]) -> None:
        """Kill its server for clients, make its data directory again by these commands (none: as at its first start), and start it."""
        server = next(iter(self.servers.values()))
        server.kill()
        if commands:
            server.set_up(commands)
        else:
            server.empty()
            self.emptied = True
        server.start()

    def close(self) -> None:
        """End its servers and remove what was made for them; never raises."""
        for server in self.servers.values():
            server.close()


def kill_together(nodes: Sequence[ClusterNode]) -> None:
    """Kill nodes at the same moment: all are frozen before the first is killed, so that none of them reacts to the end of another."""
    for node in nodes:
        node.pause()
    for node in nodes:
        for server in node.servers.values():
            server.kill()
