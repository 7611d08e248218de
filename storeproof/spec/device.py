"""Sheets of devices: what a model of a disk answers by, with the public data sheet that its figures are from.

They demand nothing of a store, so they are not part of the edition.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from storeproof import units
from storeproof.spec.base import Frozen, Name, SpecFile

Microseconds = Annotated[float, Field(ge=0, le=1e6, strict=False)]


class RequestTimes(Frozen):
    """What reads take, or what writes take."""

    elsewhere_us: Microseconds = 0.0
    """Until bytes move at another place than the one where the last request ended: of a hard disk a seek and half a rotation."""
    at_least_us: Microseconds = 0.0
    """From the begin of a request to its answer, wherever it is: of an SSD its latency."""
    bytes_per_second: Annotated[float, Field(ge=1e6, le=1e12, strict=False)]
    """In sequence, of all requests that are served at once together."""
    at_once: Annotated[int, Field(ge=1, le=1024)]
    """A request begins once fewer than these are served. They begin in the order in which they come."""


class DeviceSheet(SpecFile):
    """One file of `spec/devices/`."""

    device: Name
    title: Annotated[str, StringConstraints(pattern="^Model of ")]
    """It is never called by a product's name alone: it is no such product."""
    models: str
    """The product whose published figures these are."""
    source: str
    """The published sheet, with its figures."""
    assumed: str
    """What the sheet does not say."""
    read: RequestTimes
    write: RequestTimes
    rotation_us: Microseconds = 0.0
    """Of a hard disk: a write that follows the last one at its end, but too late, waits for the rest of a rotation. 0: nothing turns."""
    flush_us: Microseconds = 0.0
    """After all that came before is answered. 0: what was answered needs no flush."""

    @property
    def figures(self) -> str:
        """Whose figures it answers by, and what they are, in words."""
        return f"with the figures of {self.models}: {_takes('read', self.read)}, {_takes('write', self.write)}"


def _takes(what: str, times: RequestTimes) -> str:
    where = " elsewhere" if times.elsewhere_us else ""
    return f"a {what} {units.micros(max(times.elsewhere_us, times.at_least_us))}{where}, {times.at_once} at once"
