"""The oracle's state, and its answers other than values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from storeproof.contract.values import Key, Record

State = Mapping[Key, Record]
"""The records of one collection, by key."""


class Answer(Enum):
    REFUSAL = "the store must refuse"
    UNDEFINED = "the contract does not say; the operation is left out"


REFUSAL: Final = Answer.REFUSAL
UNDEFINED: Final = Answer.UNDEFINED
