"""The oracle's answers when there is no value, and the types of its state."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from storeproof.contract.values import Key, Record

State = Mapping[Key, Record]
"""The records of a collection."""


class Answer(Enum):
    """Answers that are no values."""

    REFUSAL = "the store must refuse"
    UNDEFINED = "the contract does not say; the operation is left out"


REFUSAL: Final = Answer.REFUSAL
UNDEFINED: Final = Answer.UNDEFINED
