"""The launch requests of the servers that a composite store consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from storeproof.contract import load_adapter
from storeproof.launch.request import LaunchRequest, PartRequest
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
