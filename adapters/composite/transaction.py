"""What a session's open transaction has changed: the copies that become old when it commits."""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.adapters.composite.copies import Copies
from storeproof.contract import Key


class Transaction:
    """The transaction of one session; none is open at first."""

    def __init__(self) -> None:
        self.open = False
        self._changed: dict[str, tuple[Copies, dict[Key, None] | None]] = {}
        """By collection: its copies, and the keys; None: any of its keys."""

    def begin(self) -> None:
        """One is open now."""
        self.open = True
        self._changed = {}

    def changes(self, collection: str, copies: Copies, keys: Iterable[Key] | None) -> None:
        """It may change these keys; None: any of the collection."""
        _, before = self._changed.get(collection, (copies, {}))
        after = None if keys is None or before is None else {**before, **dict.fromkeys(keys)}
        self._changed[collection] = (copies, after)

    def end(self) -> list[tuple[str, Copies, list[Key] | None]]:
        """None is open any more; returns what it changed, by collection."""
        changed, self._changed, self.open = self._changed, {}, False
        return [(name, copies, None if keys is None else list(keys)) for name, (copies, keys) in changed.items()]
