"""A store that somebody else runs: it is spoken to, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from storeproof.contract.address import Address, parse_endpoint
from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.endpoint_watch import Watch
from storeproof.launch.handle import LaunchKind
from storeproof.launch.visit import Visit
from storeproof.spec.store import EndpointLaunch

_ANSWER_SECONDS = 10.0
_REASON = "the store was given as an endpoint: a server that somebody else runs is never stopped"
_REMEDY = "run it with --launch=container or --launch=process"


class EndpointHandle:
    """Somebody's server. `close` does nothing to it: what we wrote is removed by namespace, by those who wrote it."""

    kind: LaunchKind = "endpoint"
    data: Path | None = None
    image_digest: str | None = None
    initialised: bool | None = True
    cut_by: str | None = None
    pids: Sequence[int] = ()
    nodes: Sequence[str] = ()

    def __init__(self, name: str, launch: EndpointLaunch, url: str, visit: Visit) -> None:
        """
        Args:
            name: the store, for messages.
            url: what the user gave.
            visit: what a child does there first, since nobody knows what answers.

        Raises:
            UsageError: the URL cannot be read.
        """
        self._name = name
        self._example = launch.url
        self._url = url
        self._visit = visit
        self._address = parse_endpoint(url, launch.url)
        self._watch: Watch | None = None

    @property
    def address(self) -> Address:
        """Where it answers."""
        return self._address

    def cannot(self, fault: str) -> str | None:  # noqa: ARG002 - none can be struck, whichever it is
        """No fault can be struck."""
        return f"{_REASON}; {_REMEDY}"

    def start(self) -> float:
        """Make sure that it answers; the seconds that took.

        Raises:
            UsageError: it does not, refuses us, or is no such store: the URL is the user's.
        """
        began = time.monotonic()
        self.wait_ready()
        return time.monotonic() - began

    def start_nowait(self) -> None:
        """It runs already."""

    def wait_ready(self) -> None:
        """See `start`."""
        try:
            self._visit.make(self._url, f"{self._name} at {self._address}", _ANSWER_SECONDS)
        except UsageError as reason:
            raise UsageError(f"{reason}; check the endpoint, which looks like {self._example}") from None
        self._watch = self._watch or Watch(self._address)

    def stop(self) -> None:
        """Refused: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY)

    kill = pause = resume = settle = cut_power = empty = stop

    def kill_nodes(self, names: Sequence[str]) -> None:  # noqa: ARG002 - none can be killed, whichever it is
        """Refused: see `cannot`."""
        raise NotAvailable(_REASON, _REMEDY)

    def wait_whole(self) -> None:
        """Whether it is, is not ours to know."""

    def alive(self) -> bool:
        """Not ours to know; the operations show it."""
        return True

    def check_alive(self) -> None:
        """Not ours to know either."""

    def log_tail(self) -> str:
        """Its log is not ours to read."""
        return ""

    def close(self) -> None:
        """Nothing was made for it but a thread of ours."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None
