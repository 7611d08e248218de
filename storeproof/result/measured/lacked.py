"""What a case was not run for want of."""

from __future__ import annotations

from storeproof.outcome import Lack
from storeproof.result.part import ResultPart


class Lacked(ResultPart):
    """What was lacking, as data; the detail says it in words, with the remedy."""

    what: Lack
    model: str = ""
    operation: str = ""
    """Of `verified_operation`, the operation on the model that was not verified or not correct; else empty."""
