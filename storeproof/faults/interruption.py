"""Interruptions: a server of a composite store, or both, does not answer for a while, but keeps running. Its clients give up and try again.

They strike a part and not the store, so that no guarantee names them; the cases of composite stores do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Literal

from storeproof.launch.handle import Handle
from storeproof.launch.link import CutKind, NetworkLink

Way = Literal["pause", "reset", "hang"]
"""`pause`: the server is halted. `reset`, `hang`: the link to it is cut, see `NetworkLink.cut`."""


class Interruption(ABC):
    """One way to interrupt a server. `strike` and `end` alternate."""

    done: str
    """What was done, as the predicate of a sentence about the server."""

    @abstractmethod
    def strike(self) -> None:
        """Begin."""

    @abstractmethod
    def end(self) -> None:
        """The server answers new connections again."""

    @abstractmethod
    def deliver(self) -> None:
        """Called after `end`: let the server have what it was sent meanwhile, and wait until it has carried that out.
        Raises `Unknown`: whether it has is not known."""


class PartPause(Interruption):
    """SIGSTOP; SIGCONT ends it. The server then carries out what waits in its sockets."""

    done = "was paused"

    def __init__(self, part: Handle) -> None:
        self._part = part

    def strike(self) -> None:
        self._part.pause()

    def end(self) -> None:
        self._part.resume()

    def deliver(self) -> None:
        """Nothing is held back: what waited was carried out before the requests that came after the end."""


_CUTS: Final = {"reset": "was cut off by resets", "hang": "was cut off without a sign"}


class PartCutOff(Interruption):
    """The link to the server is cut; the server itself goes on."""

    def __init__(self, link: NetworkLink, kind: CutKind) -> None:
        self._link = link
        self._kind = kind
        self.done = _CUTS[kind]

    def strike(self) -> None:
        self._link.cut(self._kind)

    def end(self) -> None:
        """New connections work."""
        self._link.restore()

    def deliver(self) -> None:
        """What hangs arrives."""
        self._link.deliver()


class AtOnce(Interruption):
    """Several servers are interrupted in the same way, and answer again together."""

    def __init__(self, parts: Sequence[Interruption]) -> None:
        self._parts = parts
        self.done = parts[0].done

    def strike(self) -> None:
        for each in self._parts:
            each.strike()

    def end(self) -> None:
        for each in self._parts:
            each.end()

    def deliver(self) -> None:
        """To each server what it was sent."""
        for each in self._parts:
            each.deliver()
