"""The launch requests of the servers that a composite store or a cluster consists of, and whether all nodes have the variant's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from storeproof.contract import Adapter, Address, Session, load_adapter, load_cluster
from storeproof.launch.handle import Handle
from storeproof.launch.request import ClusterRequest, LaunchRequest, PartRequest
from storeproof.spec import Target
from storeproof.spec.store import FRONT
from storeproof.store_under_test.first_contact import FirstContact

_PARTS = 2


def part_requests(
    target: Target,
    whole: LaunchRequest,
    cache_bytes: int,
    images: Mapping[str, str],
    of_front: Mapping[str, str],
    first_contact: FirstContact,
) -> tuple[PartRequest, ...]:
    """A request for each server; none for a store that is one server. They share the cores, and each may use half of the memory.

    Args:
        whole: the request for the store.
        cache_bytes: the size of each server's own cache of data on disk.
        images: images by store, in place of those in the files.
        of_front: settings of the front, in place of the variant's.
        first_contact: with the store.

    Raises:
        NotAvailable: a client package is missing.
    """
    found = []
    for role, part in target.parts.items():
        adapter, options = load_adapter(part.store, part.file), part.configuration.options
        request = replace(
            whole,
            store=part.store.name,
            launch=part.launch,
            probe=partial(first_contact.probe, adapter, options),
            settings={**target.settings_of(role, cache_bytes), **(of_front if role == FRONT else {})},
            endpoint=None,
            image=images.get(part.store.name),
            memory=None if whole.memory is None else whole.memory // _PARTS,
        )
        named = part.store.adapter
        path = str((part.file.parent / named).resolve()) if named.endswith(".py") else named
        found.append(PartRequest(role=role, adapter=path, options=options, request=request))
    return tuple(found)


def cluster_request(adapter: Adapter, target: Target) -> ClusterRequest | None:
    """The cluster of the variant's topology; None for one server. Raises as `load_cluster`."""
    topology = target.cluster
    if topology is None:
        return None
    options = {**target.configuration.options, **target.configuration.timeouts}
    return ClusterRequest(topology=topology, adapter=load_cluster(adapter, target.store, topology, options))


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
