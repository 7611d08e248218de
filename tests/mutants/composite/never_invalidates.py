"""A composite store whose writes leave the copies in the front as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from storeproof.adapters.composite import CompositeSession, open_session
from storeproof.adapters.composite.collection import CompositeCollection
from storeproof.adapters.composite.copies import Copies
from storeproof.contract import Address, Key, Record


class NeverInvalidates(CompositeCollection):
    def follow_up(self, copies: Copies, keys: Iterable[Key] | None, records: Mapping[Key, Record]) -> None:
        pass


class Mutant(CompositeSession):
    collections = NeverInvalidates


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    return open_session(address, options, Mutant)
