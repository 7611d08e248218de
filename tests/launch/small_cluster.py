"""A cluster of small servers, whose adapter is told by the test what to say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from storeproof.contract import NodeAddresses, Unknown
from storeproof.launch.request import ClusterRequest, LaunchRequest
from storeproof.spec.store import Launch, Service, Topology
from tests.launch.small import greeted

GREETS_AT = """
import pathlib, socket, sys
address, port, data = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
(data / "started").touch()
with socket.create_server((address, port)) as server:
    print("ready to greet", flush=True)
    while True:
        connection, _ = server.accept()
        try:
            connection.sendall(b"hello")
        except OSError:
            pass
        connection.close()
"""
"""Answers each connection to the address of its node with `hello`."""


class SmallCluster:
    """The first node is the primary, and all is whole, unless a test says otherwise."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.main = "n1"
        self.missing: Callable[[], Exception | None] = lambda: None
        """Called by each step: what it raises."""

    def form(self, nodes: NodeAddresses) -> None:
        self._note(f"form {' '.join(nodes)}")

    def primary(self, nodes: NodeAddresses) -> str:
        greeted(nodes[self.main])
        return self.main

    def whole(self, nodes: NodeAddresses) -> None:
        self._note("whole")

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        self._note(f"replace {node}")

    def promote(self, nodes: NodeAddresses) -> str:
        self.main = next(name for name in nodes if name != self.main)
        self._note(f"promote {self.main}")
        return self.main

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if (reason := self.missing()) is not None:
            raise reason


def once(reason: str) -> Callable[[], Exception | None]:
    """What is missing at the first call only."""
    reasons: list[Exception | None] = [Unknown(reason)]
    return lambda: reasons.pop() if reasons else None


def service(port: int, code: str = GREETS_AT, **fields: object) -> Service:
    """A server that is a few lines of Python; its arguments are address, port, data directory and settings."""
    return Service.model_validate(
        {
            "binary": "${python}",
            "install": "python3 runs the tests",
            "port": port,
            "command": ["-c", code.replace("$", "$$"), "${address}", "${port}", "${data}", "${settings}"],
            "start_seconds": 20,
            **fields,
        }
    )


def cluster_request(base: Path, adapter: Any, *, failover: str = "own", settle: int = 15, **fields: Any) -> LaunchRequest:
    """Two nodes with a server and a watcher each, and a third one with a server."""
    topology = Topology.model_validate(
        {
            "nodes": {"n1": ["server", "watcher"], "n2": ["server", "watcher"], "n3": ["server"]},
            "services": {"server": service(4000), "watcher": service(4001)},
            "failover": failover,
            "settle_seconds": settle,
        }
    )
    request = ClusterRequest(topology=topology, adapter=adapter)
    return LaunchRequest(store="trio", launch=Launch(), probe=greeted, settings={}, data_dir=base, cluster=request, **fields)
