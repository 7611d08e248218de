"""Values that are lists of write ids, each appended by one write: a list shows which version followed which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from storeproof.contract import Record
from storeproof.history import Transaction

_ID: Final = re.compile(r"\d+:\d+")


def item(write_id: str) -> bytes:
    """What a write appends."""
    return f"{write_id},".encode()


def items_of(record: Record) -> list[str] | None:
    """The write ids of a list, in order; None: it is none."""
    try:
        parts = bytes(record).decode("ascii").split(",") if isinstance(record, bytes) else []
    except UnicodeDecodeError:
        return None
    return parts[:-1] if len(parts) > 1 and not parts[-1] and all(map(_ID.fullmatch, parts[:-1])) else None


@dataclass
class SeenLists:
    """The orders of versions that one client has seen. Used by one thread."""

    _before: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """By record and version, the version before it; None: it is the first."""
    _longest: dict[str, Sequence[str]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    """Versions that were found behind two different ones."""

    def add(self, key: str, items: Sequence[str]) -> None:
        """Take what was read of a record."""
        known = self._longest.get(key, [])
        if items[: len(known)] == known:
            self._longest[key] = items
            self._note(key, items, len(known))
        elif known[: len(items)] != items:
            self._note(key, items, 0)

    def _note(self, key: str, items: Sequence[str], first: int) -> None:
        for place in range(first, len(items)):
            self._tell(key, items[place], items[place - 1] if place else None)

    def _tell(self, key: str, version: str, before: str | None) -> None:
        if (known := self._before.setdefault((key, version), before)) != before:
            self.contradictions.append(f"{key} had {version} after {known or 'nothing'}, and after {before or 'nothing'}")

    @classmethod
    def together(cls, seen: Iterable[SeenLists]) -> SeenLists:
        """What all clients have seen."""
        found = cls()
        for each in seen:
            found.contradictions += each.contradictions
            for (key, version), before in each._before.items():
                found._tell(key, version, before)
        return found

    def told(self, transaction: Transaction) -> Transaction:
        """The transaction, with the version that each write was appended to, as far as it was seen."""
        accesses = tuple(
            replace(each, after=self._before.get((each.key, each.version or ""))) if each.action == "write" else each
            for each in transaction.accesses
        )
        return replace(transaction, accesses=accesses)
