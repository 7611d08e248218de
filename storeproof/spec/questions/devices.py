"""A text's table of storage devices: how long one store waited for its I/O on each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import PositiveFloat, Strict

from storeproof.spec.base import Frozen

WaitKind = Literal["overall", "save", "journal", "merge_read", "merge_write"]
"""Of which I/O, as in the anatomy of a result."""

Medium = Literal["pcie-ssd", "sas-ssd", "sata-ssd", "hdd-15k", "hdd-10k"]
"""What the data is on."""

Milliseconds = Annotated[PositiveFloat, Strict(False)]


class DeviceRow(Frozen):
    """One row of such a table: mean waits, in milliseconds."""

    device: str
    """As the text prints it, and so the arrangement."""
    arrangement: str
    medium: Medium
    """By its maker's data sheet; the text does not print it."""
    overall: Milliseconds
    """The unweighted mean of the other four, as printed."""
    save: Milliseconds
    """S-lat."""
    journal: Milliseconds
    """J-lat."""
    merge_read: Milliseconds
    """MR-lat."""
    merge_write: Milliseconds
    """MW-lat."""
