"""Who took over after a fault of a cluster, and what struck that node too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Takeover:
    """The first acknowledgement of a primary after a fault."""

    node: str
    moment: int
    """In nanoseconds on the clock of the operations."""


@dataclass(frozen=True)
class Second:
    """The second strike of a round, at the node that took over."""

    node: str
    moment: int
    """When it had struck; in nanoseconds on the clock of the operations."""
    takeover: Takeover | None
    """By a third node, before this one came back; None: by none in time."""
