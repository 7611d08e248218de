"""The clients of one round: a workload opens them, and a strike says when they end and go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Final, Self

from storeproof.experiments.client import Client, ClosedLoop, under_load
from storeproof.experiments.client_threads import Running
from storeproof.spec.guarantee import LoadShape

_REFUSED_SECONDS: Final = 0.05
_GAP_SECONDS: Final = 0.01
"""Between two requests of a client, so that its operations last through the fault."""


class Persistent(ClosedLoop):
    """A client that connects again after a lost connection, and pauses after a write that was not acknowledged: a node that was replaced
    may refuse thousands in a second."""

    def __init__(self) -> None:
        super().__init__(reconnects=True)

    def replied(self, *, ok: bool) -> None:
        """Pause after anything but an acknowledgement."""
        if not ok:
            time.sleep(_REFUSED_SECONDS)


class Paced(Persistent):
    """A client that also pauses before each request."""

    def __init__(self, pause: float = _GAP_SECONDS) -> None:
        """`pause`: in seconds."""
        super().__init__()
        self._pause = pause

    def wait(self, stop: threading.Event) -> bool:
        """Wait a moment."""
        return not stop.wait(self._pause)


class RoundClients:
    """They send requests until the end of the block."""

    def __init__(
        self,
        first: Callable[[str], Client] | None = None,
        go_on: Callable[[RoundClients, str], object] = lambda *_: None,
        shape: LoadShape = "stream",
    ) -> None:
        """
        Args:
            first: makes a client that writes at a node, and shows by an acknowledgement that it is the primary now; None: under strikes of
                one server alone.
            go_on: adds those that go on after the strike, at a node that has just acknowledged a write.
            shape: what they do when it strikes.
        """
        self.shape = shape
        self._first = first
        self._go_on = go_on
        self._running = ExitStack()
        self._until_strike: Running | None = None
        self._followers: Running | None = None
        self.ended = False
        """Whether those that ran before the strike have ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._running.__exit__(kind, error, trace)

    def add(self, clients: Sequence[Client]) -> Running:
        """These send requests too. Raises `Breach` at the end, as `under_load` does."""
        return self._running.enter_context(under_load(clients))

    def enter(self, load: AbstractContextManager[None]) -> None:
        """A load that opens clients of its own, and ends them as its block is left."""
        self._running.enter_context(load)

    def add_until_strike(self, clients: Sequence[Client]) -> None:
        """As `add`, of clients that are told to stop as the strike comes."""
        self._until_strike = self.add(clients)

    def follow(self, clients: Sequence[Client]) -> None:
        """As `add`, of clients that follow the primary: they end when it is struck, and others go on."""
        self._followers = self.add(clients)

    def at_the_end(self, then: Callable[[], None]) -> None:
        """Call it when those that were added before it still run, and those after it have ended."""
        self._running.callback(then)

    def strike_comes(self) -> None:
        """It strikes now."""
        if self._until_strike is not None:
            self._until_strike.stop.set()

    def struck(self) -> None:
        """Those that follow the primary are to end."""
        if self._followers is not None:
            self._followers.stop.set()

    def end(self) -> None:
        """Wait until all have ended; others can be added."""
        self._running.close()
        self.ended = True

    def first(self, node: str) -> Client:
        """A client that shows whether a node is the primary now."""
        assert self._first is not None, "workloads on clusters have one"
        return self._first(node)

    def go_on(self, primary: str) -> None:
        """That node takes writes: those go on that do so there."""
        self._go_on(self, primary)
