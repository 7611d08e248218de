"""The places of what a store may keep beside a record.

In histories, and in the evidence, each has a key of its own, which is that of the record and more; and a write of such a record is one of
both together. What a fault leaves of one write without the other is then found by the checks of records that are written together: it is
`lost`, `torn` or `split`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from storeproof.contract import Key
from storeproof.history import Place


@dataclass(frozen=True)
class PlaceBeside:
    """One kind of it."""

    record: str
    """How the key of a record ends that has it."""
    own: str
    """What its own key has behind that of the record."""

    def record_key(self, key: Key) -> str:
        """The key of a record that has it, and is written with it alone, from a key that no other record has."""
        return f"{key}{self.record}"

    def key(self, record: str) -> str:
        """Its own, from that of the record."""
        return f"{record}{self.own}"

    def is_of(self, key: Key) -> bool:
        """Whether this is the key of a record that has it."""
        return isinstance(key, str) and key.endswith(self.record)

    def is_its_own(self, key: Key) -> bool:
        """Whether this is a key of its own."""
        return isinstance(key, str) and key.endswith(self.record + self.own)


EXPIRY: Final = PlaceBeside(":expiring", "#expiry")
ENTRY: Final = PlaceBeside(":indexed", "#entry")
_KINDS: Final = (EXPIRY, ENTRY)


def record_of(key: Key) -> str | None:
    """The key of the record that this is beside; None: it is that of a record."""
    return next((str(key).removesuffix(kind.own) for kind in _KINDS if kind.is_its_own(key)), None)


def check_both(places: Iterable[Place]) -> None:
    """Raises `ValueError`: a record is there without what is beside it, or the reverse."""
    found = dict.fromkeys(places)
    for collection, key in found:
        twin = record_of(key) or next((kind.key(str(key)) for kind in _KINDS if kind.is_of(key)), key)
        if (collection, twin) not in found:
            raise ValueError(f"{collection}[{key!r}] is there without {twin!r}")
