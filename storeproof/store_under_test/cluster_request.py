"""The launch request of a variant that is a cluster, and whether all of its nodes have the variant's settings."""

from __future__ import annotations

from collections.abc import Callable

from storeproof.contract import Adapter, Address, Session, load_cluster
from storeproof.launch.handle import Handle
from storeproof.launch.request import ClusterRequest
from storeproof.spec import Target


def cluster_request(adapter: Adapter, target: Target) -> ClusterRequest | None:
    """The cluster of the variant's topology; None for one server. Raises as `load_cluster`."""
    topology = target.cluster
    if topology is None:
        return None
    return ClusterRequest(topology=topology, adapter=load_cluster(adapter, target.store, topology, target.configuration.options))


def differing_nodes(handle: Handle, target: Target, connect: Callable[[Address], Session]) -> list[str]:
    """The settings of the variant that a node of a cluster does not have, one line each. Raises as `connect` and `read_settings`."""
    wanted = target.stated_settings
    found: list[str] = []
    cluster = handle.cluster
    if cluster is None:
        return []
    for name in cluster.nodes:
        session = connect(cluster.node(name).address)
        try:
            live = session.read_settings(tuple(wanted))
        finally:
            session.close()
        found += [
            f"{setting} of {name}: expected {value!r}, found {live.get(setting)!r}"
            for setting, value in wanted.items()
            if live.get(setting) != value
        ]
    return found
