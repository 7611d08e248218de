"""What a launcher is asked for: one fresh store, by one of the launches that its file describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from storeproof.disk.methods import PowerCut
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.endpoint_probe import EndpointProbe
from storeproof.launch.readiness import Probe
from storeproof.spec.store import Launch

LaunchOption = Literal["auto", "container", "process", "endpoint"]
"""What `--launch` says."""


@dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """One store, with an empty data directory where the server is ours."""

    store: str
    """Its name, for messages."""
    launch: Launch
    """The launches that its file describes, with what its variant adds."""
    probe: Probe
    """Finds out whether a server of ours answers."""
    settings: Mapping[str, str]
    """What a server of ours is started with; an endpoint has its own."""
    kind: LaunchOption = "auto"
    endpoint: EndpointProbe | None = None
    """The user's own server, where one was named."""
    image: str | None = None
    """Another image than the store's file names."""
    data_dir: Path | None = None
    """Where data goes; without it, the directory for temporary files, and in a container a volume of the engine's."""
    in_memory: bool = False
    """The files of a local process lie in memory, where there is room and `data_dir` names no other place."""
    keep: bool = False
    """Data, log and container stay when the store is closed."""
    power_cut: PowerCut | None = None
    """How its power can be cut: its data then lies on a file system of its own. None: it cannot be cut."""
    cores: tuple[int, ...] = ()
    """The cores that a server of ours runs on; empty: all."""
    memory: int | None = None
    """Bytes that a server of ours may use; None: all that there is."""

    def not_described(self, kind: str) -> NotAvailable | UsageError:
        """The error for a launch that its file does not describe, or for an endpoint whose URL is not given."""
        described = [each for each in ("container", "process", "endpoint") if getattr(self.launch, each) is not None]
        url = f"--endpoint {self.store}={self.launch.endpoint.url}" if self.launch.endpoint else ""
        if kind == "endpoint" and url:
            return UsageError(f"--launch=endpoint needs to know where {self.store} is: {url}")
        remedy = url if described == ["endpoint"] else f"--launch={described[0]}" if described else ""
        found = ", ".join(described) or "no launch"
        return NotAvailable(f"{self.store} cannot be launched by {kind}: its file describes {found}", remedy)
