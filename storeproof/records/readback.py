"""Who wrote a record that was read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from storeproof.contract.values import Path


@dataclass(frozen=True)
class Identified:
    """The writer of a record that was read.

    `whole`: exactly what one write made, named in `write_ids[0]` (empty for a counter, which is a plain number, and for a value
    with no room for a write id).
    `torn`: parts of more than one write, or only a part of one; `write_ids` names those that are known.
    `invented`: something that no write under this key can have made.
    """

    kind: Literal["whole", "torn", "invented"]
    write_ids: tuple[str, ...]
    parts: Mapping[Path, str | None]
    """The write id of each part by its path (`()` for a value); None for a part that belongs to no write id seen here."""
    complete: bool = True
    """Whether the record has all of its parts, each of them as some write made it."""

    @property
    def write_id(self) -> str | None:
        """The one write id of a whole record."""
        return self.write_ids[0] if self.kind == "whole" and self.write_ids else None


INVENTED: Final = Identified("invented", (), {})


def is_write_id(text: Any) -> bool:
    """Whether something is a write id, `7:1042`."""
    if type(text) is not str or not text.isascii():
        return False
    client, colon, sequence = text.partition(":")
    return bool(colon) and client.isdigit() and sequence.isdigit()
