"""The plain values that cross the contract."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final, NamedTuple

from storeproof.spec.model import Model

Key = str | int
"""Text keys are any Unicode scalar values; integer keys are 64-bit and signed."""

Json = None | bool | int | float | str | Decimal | list["Json"] | dict[str, "Json"]
"""What a document is made of. Integers have 64 bits; floats are finite. Decimals are exact, finite, and at the model's `decimals` only."""

Path = tuple[str | int, ...]
"""From the root of a document: field names, and positions in lists."""


class Row(NamedTuple):
    """A row: a signed 32-bit integer and an IEEE 754 double."""

    integer: int
    real: float


Record = bytes | dict[str, bytes] | dict[str, Json] | Row | int | list[bytes] | set[str] | dict[str, float]
"""By model: value, hash, document, row, counter, list, set, ranking."""

Cursor = str | int
"""Where a walk goes on: what the store's last answer gave, and nothing that the suites look into."""


class Found(NamedTuple):
    """The answer to a `Browse`."""

    total: int
    """How many records match, whatever the page is."""
    keys: list[Key]
    """Of the page, in order."""
    facets: dict[str, list[tuple[Json, int]]]
    """By name: values with the number of records that have them, most first."""


class Missing(Enum):
    """The answer "there is no such field", which is not null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True)
class Layout:
    """What a collection is to hold: its name in our namespace, its model, and how many secondary indexes."""

    name: str
    """`[a-z0-9_]`, at most 40 characters, unique to the run: everything of the collection is under it."""
    model: Model
    indexes: int = 0

    @property
    def indexed(self) -> tuple[tuple[str, ...], ...]:
        """The paths that carry an index."""
        return self.model.indexes[: self.indexes]
