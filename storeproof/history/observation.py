"""What was found under a key when it was read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Sight = Literal["absent", "whole", "torn", "invented"]
"""`whole`: exactly one write's record. `torn`: parts of several, or a part of one. `invented`: no write can have made it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One read of one key."""

    sight: Sight
    write_id: str = ""
    """Of the write that made a `whole` record; empty for other sights."""

    def __str__(self) -> str:
        return f"{self.sight} {self.write_id}".rstrip()


ABSENT: Final = Observation("absent")
