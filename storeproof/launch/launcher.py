"""Chooses a store's launcher: the requested one, or the first that this machine supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.launch.client_memory import memory_watch
from storeproof.launch.container import ContainerHandle
from storeproof.launch.endpoint import EndpointHandle
from storeproof.launch.handle import Handle, LaunchKind
from storeproof.launch.process import ProcessHandle
from storeproof.launch.request import LaunchRequest
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.launch.several.composite import CompositeHandle

_HANDLES: Final[Mapping[LaunchKind, Callable[[LaunchRequest], Handle]]] = {
    "container": ContainerHandle,
    "process": ProcessHandle,
    "endpoint": EndpointHandle,
}


def make(request: LaunchRequest, notice: Callable[[str], None]) -> Handle:
    """Make the handle of a store, without starting it. The caller closes it; a handle left open is closed when the process ends.

    `auto` chooses the endpoint if the user named one; else a container, if an engine answers and has the image or can pull it; else a
    local process. `notice` is called with the reason for each launcher that was skipped.
    Of a composite store each server is launched so, by itself. The servers of a cluster are processes, unless containers are requested.

    Raises:
        NotAvailable: this machine does not support the requested launcher, or with `auto` any; with every reason and remedy.
        UsageError: the endpoint, the image, or the data directory is invalid.
    """
    memory_watch()
    if request.cluster is not None and request.endpoint is None and request.kind != "endpoint":
        return ClusterHandle(request)
    if request.parts and request.endpoint is None and request.kind != "endpoint":
        return CompositeHandle(request, partial(make, notice=notice))
    if request.kind != "auto":
        return _HANDLES[request.kind](request)
    if request.endpoint is not None:
        return EndpointHandle(request)
    described: list[LaunchKind] = [kind for kind in ("container", "process") if getattr(request.launch, kind) is not None]
    if not described:
        raise request.not_described("container or process")
    failures: list[NotAvailable] = []
    for kind in described:
        try:
            handle = _HANDLES[kind](request)
        except NotAvailable as failure:
            failures.append(failure)
            continue
        for passed_over in failures:
            notice(str(passed_over))
        return handle
    remedies = [failure.remedy for failure in failures if failure.remedy]
    endpoint = request.launch.endpoint
    if endpoint is not None and endpoint.needs:
        remedies.append(f"--endpoint={request.store}={endpoint.url}, a server of yours ({endpoint.needs})")
    raise NotAvailable("; ".join(failure.reason for failure in failures), ", or ".join(remedies), failures[0].lack)
