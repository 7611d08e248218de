"""Topologies: the nodes of a cluster, and the servers that run on each."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError
from storeproof.spec.store.launch import ProcessLaunch

_FEWEST = 2
_MOST = 12
"""They all run on one machine, in one small network."""

Failover = Literal["own", "operator"]


class Service(ProcessLaunch):
    """A server binary that runs on nodes. `${address}` is the address of the node, `${address.NODE}` that of another."""

    port: Annotated[PositiveInt, Field(le=65535)]
    """The port that it listens on, at the address of its node: `${port}`."""


class Topology(Frozen):
    """A cluster. Each node has a network namespace with an address of its own; clients reach all of them."""

    nodes: dict[Name, Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]] = Field(min_length=1, max_length=_MOST)
    """By name of the node: its services, the one that clients connect to first."""
    services: dict[Name, Service] = Field(min_length=1)
    """The servers, by name. Those with `${settings}` have the variant's settings."""
    failover: Failover = "own"
    """Who makes another node the primary when it is lost: `own`, the cluster itself; `operator`, storeproof through the adapter."""
    settle_seconds: PositiveInt = 15
    """Time within which a new primary must accept writes after a fault, and within which the cluster must be whole again after its end."""

    @model_validator(mode="after")
    def _nodes_have_services(self) -> Self:
        if len(self.nodes) < _FEWEST:
            raise RuleError(f"found {len(self.nodes)}; allowed: {_FEWEST} to {_MOST} nodes", "nodes")
        for node, services in self.nodes.items():
            ports: dict[int, str] = {}
            for position, name in enumerate(services):
                if name not in self.services:
                    raise RuleError(f"found '{name}'; allowed: {', '.join(self.services)}", "nodes", node, position)
                port = self.services[name].port
                if port in ports:
                    raise RuleError(
                        f"{ports[port]} and {name} have the port {port}; allowed: services with different ports", "nodes", node, position
                    )
                ports[port] = name
        return self

    @model_validator(mode="after")
    def _ports_have_numbers(self) -> Self:
        for name, service in self.services.items():
            if service.ports:
                raise RuleError("a service has one port, `port`; a server with more of them is several services", "services", name, "ports")
        return self
