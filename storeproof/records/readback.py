"""Identification of the write that produced a record read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from storeproof.contract.values import Path


@dataclass(frozen=True)
class Identified:
    """The write or writes that produced a record.

    `whole`: exactly the record of one write, whose id is `write_ids[0]` (no id for a counter, which is a plain number, and for a value
    too short for a write id).
    `torn`: parts of several writes, or part of one; `write_ids` has those that are known.
    `invented`: no write under this key can have produced it.
    """

    kind: Literal["whole", "torn", "invented"]
    write_ids: tuple[str, ...]
    parts: Mapping[Path, str | None]
    """The write id of each part, by its path (`()` for a value); None if the part belongs to none of the write ids in the record."""
    complete: bool = True
    """Whether no part of the record is missing or damaged: each is as some write made it."""

    @property
    def write_id(self) -> str | None:
        """The write id of a whole record, if it has one."""
        return self.write_ids[0] if self.kind == "whole" and self.write_ids else None


INVENTED: Final = Identified("invented", (), {})


def is_write_id(text: Any) -> bool:
    """Whether a value is a write id, such as `7:1042`."""
    if type(text) is not str or not text.isascii():
        return False
    client, colon, sequence = text.partition(":")
    return bool(colon) and client.isdigit() and sequence.isdigit()
