"""The state of a key when it is read back after a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Sight = Literal["absent", "whole", "torn", "invented"]
"""`whole`: exactly the record of one write. `torn`: parts of several, or part of one. `invented`: no write can have produced it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of reading one key."""

    sight: Sight
    write_id: str = ""
    """The write that produced a `whole` record; empty otherwise."""

    def __str__(self) -> str:
        return f"{self.sight} {self.write_id}".rstrip()


ABSENT: Final = Observation("absent")

Seen = Observation | int | None
"""What was read under a key: of a record an observation, of a counter its value, or None if it is absent."""
