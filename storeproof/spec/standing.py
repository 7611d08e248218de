"""Cases that are tried and shown, and by which nothing is judged."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from storeproof.spec.capability import Capability

_PREFIX = "capabilities."
_NEW = ("durability.crash_states", "durability.io_errors", "durability.isolation", "transactions.isolation")
"""Suites that are new in this edition."""


class Standing(StrEnum):
    """Why a case decides nothing."""

    PROVISIONAL = "provisional"  # new in this edition
    WITHDRAWN = "withdrawn"  # wrong, as a dispute showed


def standing_of(case: str, capabilities: Mapping[str, Capability]) -> Standing | None:
    """Of a case by its id; None where it decides, as most cases do.

    A case that the suites add to a capability, such as `pushdown`, stands as the capability does.
    """
    name, _, number = case.removeprefix(_PREFIX).partition("/")
    if name in _NEW:
        return Standing.PROVISIONAL
    capability = capabilities.get(name) if case.startswith(_PREFIX) else None
    if capability is None:
        return None
    own = next((each for each in capability.cases if each.id == number), capability)
    return Standing.PROVISIONAL if own.provisional else None
