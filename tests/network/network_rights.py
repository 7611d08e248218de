"""Whether networks can be made here."""

from __future__ import annotations

import pytest

from storeproof.errors import NotAvailable
from storeproof.network.network import Network


def reason_without() -> str | None:
    """Why none can be made, or None; only making one shows it."""
    network = None
    try:
        network = Network(["a", "b"])
        network.make()
    except NotAvailable as missing:
        return str(missing)
    finally:
        if network is not None:
            network.close()
    return None


needs_networks = pytest.mark.usefixtures("networks")
"""Skips a test, with the reason, where no network can be made."""
