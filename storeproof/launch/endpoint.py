"""The launcher for a store that the user runs: storeproof connects to it, and never starts or stops it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from storeproof.contract.address import Address, parse_endpoint
from storeproof.disk.recording import RecordingDisk
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.client_memory import memory_watch
from storeproof.launch.handle import DataWritten, FaultMeans, LaunchKind
from storeproof.launch.request import LaunchRequest
from storeproof.machine.program_origin import ProgramOrigin
from storeproof.machine.usage import UsageMeter
from storeproof.outcome import Lack

_ANSWER_SECONDS = 10.0
_REASON = "the store was given as an endpoint: a server that storeproof did not start is never stopped"
_REMEDY = "run it with --launch=container or --launch=process"


class EndpointHandle:
    """The user's server. `close` does not change it: the cases remove what they wrote themselves, by namespace."""

    kind: LaunchKind = "endpoint"
    data: Path | None = None
    image_digest: str | None = None
    binary_digest: str | None = None
    origins: Sequence[ProgramOrigin] = ()
    initialised: bool | None = True
    power_cut_method: str | None = None
    pids: Sequence[int] = ()
    nodes: Sequence[str] = ()
    cluster: None = None

    def __init__(self, request: LaunchRequest) -> None:
        """Parse the URL. Nothing is sent to the endpoint yet.

        Raises:
            NotAvailable: the store's file describes no endpoint.
            UsageError: no endpoint was named, or its URL is invalid.
        """
        launch = request.launch.endpoint
        if launch is None or request.endpoint is None:
            raise request.not_described("endpoint")
        self._name = request.store
        self._example = f"{launch.url} ({launch.needs})" if launch.needs else launch.url
        self._endpoint = request.endpoint
        self._address = parse_endpoint(request.endpoint.url, launch.url)

    @property
    def address(self) -> Address:
        return self._address

    def cannot(self, capability: FaultMeans) -> NotAvailable | None:  # noqa: ARG002 - the same for all
        """An endpoint has no capability."""
        return NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def start(self) -> float:
        """Check that it answers; return the seconds taken.
        Raises `UsageError`: it does not answer, or refuses access; `NotLikeSuchAStore` if it answers something else."""
        began = time.monotonic()
        self.wait_ready()
        return time.monotonic() - began

    def start_nowait(self) -> None:
        """Do nothing: the user has started it."""

    def wait_ready(self) -> None:
        try:
            self._endpoint.check(f"{self._name} at {self._address}", _ANSWER_SECONDS)
        except UsageError as reason:
            raise type(reason)(f"{reason}; check the endpoint, which looks like {self._example}") from None

    def stop(self) -> None:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    kill = pause = resume = quiesce = cut_power = empty = stop

    def kill_nodes(self, names: Sequence[str]) -> None:  # noqa: ARG002 - none can be killed
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def wait_whole(self) -> None:
        """Do nothing: its nodes cannot be seen."""

    def alive(self) -> bool:
        """Always true: only the operations show whether it runs."""
        return True

    def check_alive(self) -> None:
        """Raise `StoreDied` if it sent a reply without end. Otherwise only the operations show whether it runs."""
        memory_watch().check(self._name, self._address)

    def meter(self) -> UsageMeter:
        """Raise `NotAvailable`: it may run on another machine."""
        raise NotAvailable("the server is an endpoint, whose machine cannot be looked at", _REMEDY, Lack.OWN_SERVER)

    def recording_disk(self) -> RecordingDisk:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def data_written(self) -> DataWritten:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def watched(self) -> tuple[Path, Sequence[int]]:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def files_elsewhere(self) -> Sequence[str]:
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY, Lack.OWN_SERVER)

    def log_tail(self) -> str:
        """Empty: its log cannot be read."""
        return ""

    def close(self) -> None:
        """Do nothing: the server keeps running."""
