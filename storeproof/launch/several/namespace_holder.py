"""A container that does nothing but hold the network namespace of a node, as the pause container of a Kubernetes pod does.

The engine makes a namespace with a container and lets it go with it, so that without a holder a node would lose its address, its cable and
the faults of its network with its first server that is killed.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from storeproof.errors import NotAvailable
from storeproof.launch.container_description import labels
from storeproof.machine import container_engine

_SLEEP: Final = ("sleep", "infinity")


class NamespaceHolder:
    """The holder of one node. The servers' containers share its namespace."""

    def __init__(self, name: str, image: str) -> None:
        """Nothing is made yet. `name`: of the container. `image`: that of the servers, so that no other one is needed."""
        self.name = name
        self._image = image

    def start(self) -> int:
        """Make it; return the id of its process on this machine. Raises `NotAvailable`: the engine cannot."""
        from docker.errors import DockerException

        program, *arguments = _SLEEP
        try:
            made: Any = container_engine.client().containers.create(
                self._image, arguments, entrypoint=program, name=self.name, network_mode="none", labels=labels(keep=False)
            )
            made.start()
            made.reload()
        except (DockerException, OSError) as reason:  # the errors of the engine's client are OSErrors
            raise NotAvailable(f"the container of a node cannot be made: {container_engine.said(reason)}") from None
        return int(made.attrs["State"]["Pid"])

    def close(self) -> None:
        """Remove it; never raises. What cannot be removed the next run removes."""
        from docker.errors import DockerException

        with contextlib.suppress(DockerException, OSError):
            container_engine.remove_container(self.name)
