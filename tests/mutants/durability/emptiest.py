"""PostgreSQL with standbys, of which the operator promotes the one that has the least. The others get a new copy of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.adapters.postgresql import connect
from storeproof.adapters.postgresql.standbys import Standbys, copy_from
from storeproof.contract import NodeAddresses

__all__ = ["cluster", "connect"]


class Emptiest(Standbys):
    """All else is as it should be."""

    def __init__(self) -> None:
        self._ahead: set[str] = set()
        """Standbys with a longer log than the primary, which cannot follow it."""

    def successor(self, received: Mapping[str, int]) -> str:
        chosen = min(received, key=lambda name: received[name])
        self._ahead = received.keys() - {chosen}
        return chosen

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        found = super().rebuilt(nodes)
        primary = nodes[self.primary(nodes)]
        ahead, self._ahead = self._ahead, set()
        return {**found, **{name: [copy_from(primary, name)] for name in ahead}}


def cluster(options: Mapping[str, str]) -> Emptiest:
    """What forms and repairs it."""
    return Emptiest()
