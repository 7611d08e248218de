"""A composite store that says it lets one client fill a copy, and lets all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from storeproof.adapters.composite import CompositeSession, open_session
from storeproof.adapters.composite.collection import CompositeCollection
from storeproof.contract import Address, Key, Record


class Unlocked(CompositeCollection):
    def read(self, read_home: Callable[[Key], Record | None], key: Key) -> Record | None:
        copies = self._copies
        if copies is None or self._transaction.open:
            return read_home(key)
        found = self._copy(copies, key)
        if found is None:
            self.home_reads += 1
            found = read_home(key)
            if found is not None:
                copies.set(key, found)
        return found


class Mutant(CompositeSession):
    collections = Unlocked


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    return open_session(address, options, Mutant)
