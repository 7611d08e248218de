"""The store's own defect: what kept it from a guarantee that it claims."""

from __future__ import annotations

from typing import Final

from storeproof.outcome import REFUTED
from storeproof.printable import in_one_line
from storeproof.result.model import StoreResult
from storeproof.spec.guarantee import LADDER

_LONGEST: Final = 600
"""Characters; the longest issue of the shipped stores has 430."""


def defect_of(store: StoreResult) -> str:
    """What was found of the lowest claimed guarantee that was not proven, in one line: of a known failure its issue, as the store's file
    has it. Empty where nothing was found against the store: all it claims was proven, or the next guarantee was not tried."""
    durability = store.durability
    if durability.cited is not None:
        return durability.cited.defect
    names = [str(name) for name in LADDER]
    if durability.proven not in names or durability.claimed not in names:
        return ""
    for rung in names[names.index(durability.proven) + 1 : names.index(durability.claimed) + 1][:1]:
        for each in store.outcomes:
            if each.id == f"durability.{rung}" and each.outcome in REFUTED:
                return in_one_line(f"{rung} is claimed and not kept: {each.detail.partition(chr(10))[0]}", _LONGEST)
    return ""
