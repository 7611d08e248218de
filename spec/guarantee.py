"""What a store promises to keep, and the fault that tests the promise."""

from __future__ import annotations

from typing import Literal

from storeproof.spec.base import Name, SpecFile

GuaranteeName = Literal["volatile", "clean_restart", "process_crash", "power_loss", "node_loss"]

LADDER: tuple[GuaranteeName, ...] = ("volatile", "clean_restart", "process_crash", "power_loss", "node_loss")
"""From the weakest to the strongest: who claims a rung claims all below it."""


class Guarantee(SpecFile):
    """One rung of the ladder."""

    guarantee: GuaranteeName
    title: str
    promise: str
    fault: Name | None
    """The fault that tests it; none for `volatile`, which promises nothing."""
    second_fault: bool = False
    """Whether the fault strikes a second time, while the store recovers from the first."""
