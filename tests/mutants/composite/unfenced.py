"""A composite store with a lock for each key, whose copies count whenever the front is given them."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.composite import CompositeSession, open_session
from storeproof.adapters.composite.connection import Connection
from storeproof.adapters.composite.copies import Copies
from storeproof.adapters.composite.fences import Fences
from storeproof.contract import Address, Layout


class Unfenced(Copies):
    def __init__(self, front: Connection, layout: Layout, ttl: int, fences: Fences | None = None) -> None:
        super().__init__(front, layout, ttl)


class Mutant(CompositeSession):
    copies = Unfenced


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    return open_session(address, options, Mutant)
