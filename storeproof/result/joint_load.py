"""The loads of all roles of a candidate at the same time, in a result."""

from __future__ import annotations

from storeproof.result.measurement import Measurement
from storeproof.result.part import Part


class RoleLoad(Part):
    """What one role of a candidate was asked for."""

    role: str
    store: str
    """`store:variant`."""
    model: str
    workload: str
    """Of the specification; `mix` where it has none with these operations."""
    mix: dict[str, int]
    """The weight of each operation."""
    record: str
    """The variation of the records; empty for those of the model."""
    indexes: int
    clients: int
    rate: int
    """Operations per second, as needed."""


class JointLoad(Part):
    """A candidate's loads, of which this store had one or more."""

    candidate: str
    roles: list[RoleLoad]
    """All that were on at the same time, also those of the other stores."""
    numbers: dict[str, Measurement]
    """By role, those of this store: each an open loop at the rate of the role."""
