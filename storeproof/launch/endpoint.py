"""A store that the user runs: we connect to it, and do nothing else to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from storeproof.contract.address import Address, parse_endpoint
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.endpoint_memory import MemoryWatch
from storeproof.launch.handle import Capability, LaunchKind
from storeproof.launch.request import LaunchRequest
from storeproof.machine.usage import UsageMeter

_ANSWER_SECONDS = 10.0
_REASON = "the store was given as an endpoint: a server that storeproof did not start is never stopped"
_REMEDY = "run it with --launch=container or --launch=process"


class EndpointHandle:
    """The user's server. `close` leaves it alone: what the cases wrote there they remove themselves, by namespace."""

    kind: LaunchKind = "endpoint"
    data: Path | None = None
    image_digest: str | None = None
    binary_digest: str | None = None
    initialised: bool | None = True
    power_cut_method: str | None = None
    pids: Sequence[int] = ()
    nodes: Sequence[str] = ()

    def __init__(self, request: LaunchRequest) -> None:
        """Nothing is asked of it yet.

        Raises:
            NotAvailable: the store's file describes no endpoint.
            UsageError: none was named, or its URL cannot be read.
        """
        launch = request.launch.endpoint
        if launch is None or request.endpoint is None:
            raise request.not_described("endpoint")
        self._name = request.store
        self._example = launch.url
        self._endpoint = request.endpoint
        self._address = parse_endpoint(request.endpoint.url, launch.url)
        self._watch: MemoryWatch | None = None

    @property
    def address(self) -> Address:
        """Where it answers."""
        return self._address

    def cannot(self, capability: Capability) -> str | None:  # noqa: ARG002 - whichever it is
        """Nothing can be done to it."""
        return f"{_REASON}; {_REMEDY}"

    def start(self) -> float:
        """Check that it answers; the seconds that took.

        Raises:
            UsageError: it does not, it refuses access, or it is another store.
        """
        began = time.monotonic()
        self.wait_ready()
        return time.monotonic() - began

    def start_nowait(self) -> None:
        """It runs already."""

    def wait_ready(self) -> None:
        """See `start`."""
        try:
            self._endpoint.check(f"{self._name} at {self._address}", _ANSWER_SECONDS)
        except UsageError as reason:
            raise UsageError(f"{reason}; check the endpoint, which looks like {self._example}") from None
        self._watch = self._watch or MemoryWatch(self._address)

    def stop(self) -> None:
        """Refused: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY)

    kill = pause = resume = quiesce = cut_power = empty = stop

    def kill_nodes(self, names: Sequence[str]) -> None:  # noqa: ARG002 - none can be killed, whichever it is
        """Refused: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY)

    def wait_whole(self) -> None:
        """Its nodes cannot be seen."""

    def alive(self) -> bool:
        """Unknown: the operations show it."""
        return True

    def check_alive(self) -> None:
        """Unknown: the operations show it."""

    def meter(self) -> UsageMeter:
        """Refused: its machine may be another one."""
        raise NotAvailable("the server is an endpoint, whose machine cannot be looked at", _REMEDY)

    def log_tail(self) -> str:
        """Its log cannot be read."""
        return ""

    def close(self) -> None:
        """End the thread that watches memory."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None
