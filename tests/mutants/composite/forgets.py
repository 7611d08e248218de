"""A composite store with write-behind, whose writes leave the queue whether or not the home has them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from storeproof.adapters.composite import CompositeSession, open_session
from storeproof.adapters.composite.behind import Behind
from storeproof.contract import Address, Unknown


class Forgets(Behind):
    def give(self, writes: list[bytes]) -> None:
        with suppress(Unknown):
            super().give(writes)


class Mutant(CompositeSession):
    behind = Forgets


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    return open_session(address, options, Mutant)
