"""Removes the networks of dead runs."""

from __future__ import annotations

import os

from storeproof.network.namespaces import find_marks
from storeproof.network.network import remove


def sweep_networks() -> list[str]:
    """Remove the networks whose owner has certainly ended; return a line for each. Call it after the servers in them have ended."""
    if os.geteuid() != 0:  # they are root's
        return []
    done = []
    for mark, namespaces in find_marks().items():
        if mark.owner.dead():
            remove(mark, namespaces)
            done.append(f"removed the network {mark.interface}, left by a killed run")
    return done
