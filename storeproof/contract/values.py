"""The plain values in the arguments and replies of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final, NamedTuple

from storeproof.spec.model import Model

Key = str | int
"""Text keys are any Unicode scalar values; integer keys are 64-bit and signed."""

Json = None | bool | int | float | str | Decimal | list["Json"] | dict[str, "Json"]
"""A value of a document. Integers have 64 bits; floats are finite. Decimals are exact, finite, and only at the model's `decimals`."""

Path = tuple[str | int, ...]
"""From the root of a document: field names, and positions in lists."""


class Row(NamedTuple):
    """A row: a signed 32-bit integer and an IEEE 754 double."""

    integer: int
    real: float


Record = bytes | dict[str, bytes] | dict[str, Json] | Row | int | list[bytes] | set[str] | dict[str, float]
"""By model: value, hash, document, row, counter, list, set, ranking."""

Cursor = str | int
"""Where a walk continues: an opaque value from the store's last answer."""


class FacetedPage(NamedTuple):
    """The answer to a `Browse`."""

    total: int
    """The number of matching records, independent of the page."""
    keys: list[Key]
    """The keys of the page, in order."""
    facets: dict[str, list[tuple[Json, int]]]
    """By name: values with the number of records that have them, most frequent first."""


class Missing(Enum):
    """The answer "there is no such field", which is not null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True)
class Layout:
    """The layout of a collection: its name, its model, and the number of secondary indexes."""

    name: str
    """`[a-z0-9_]`, at most 40 characters, unique to the run: everything in the collection is stored under it."""
    model: Model
    indexes: int = 0

    @property
    def indexed(self) -> tuple[tuple[str, ...], ...]:
        """The paths that carry an index."""
        return self.model.indexes[: self.indexes]
