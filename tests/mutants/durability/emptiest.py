"""PostgreSQL with standbys, of which the operator promotes the one that has the least."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.postgresql import connect
from storeproof.adapters.postgresql.standbys import Standbys

__all__ = ["cluster", "connect"]


class Emptiest(Standbys):
    """All else is as it should be."""

    def successor(self, received: Mapping[str, int]) -> str:
        return min(received, key=lambda name: received[name])


def cluster(options: Mapping[str, str]) -> Emptiest:
    """What forms and repairs it."""
    return Emptiest()
