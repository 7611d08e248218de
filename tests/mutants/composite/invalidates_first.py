"""A composite store that invalidates a copy before it writes to the home: a reader in between brings the old value back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from storeproof.adapters.composite import CompositeSession, open_session
from storeproof.adapters.composite.collection import CompositeCollection, changed_keys
from storeproof.contract import Address


class InvalidatesFirst(CompositeCollection):
    def write(self, operation: str, write_home: Callable[..., Any], *args: Any) -> Any:
        if self._copies is not None:
            self.follow_up(self._copies, changed_keys(operation, args), {})
        return write_home(*args)


class Mutant(CompositeSession):
    collections = InvalidatesFirst


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    return open_session(address, options, Mutant)
