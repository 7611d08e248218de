"""Detects a machine so busy that this alone may be the reason for a server's delay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_SHARE: Final = {"cpu": 40.0, "io": 40.0, "memory": 10.0}
"""Limits: percentage of the last ten seconds in which some task had to wait for the resource (PSI, /proc/pressure)."""
_LOAD: Final = 1.5
"""Limit: load average per core."""


def machine_is_busy() -> str:
    """Evidence that the machine is busy, for messages; empty if it has capacity to spare."""
    some = {}
    for kind in _SHARE:
        with suppress(OSError, LookupError, ValueError):  # not every kernel reports it
            some[kind] = _avg10(Path(f"/proc/pressure/{kind}").read_text(encoding="ascii"))
    return busy(some, os.getloadavg()[0], os.cpu_count() or 1)


def busy(some: Mapping[str, float], load: float, cores: int) -> str:
    """The same as `machine_is_busy`, for given numbers.

    Args:
        some: for "cpu", "io" and "memory", as far as known, the percentage of time in which some task waited for it.
        load: the load average over the last minute.
        cores: the number of cores of the machine.
    """
    found = [f"tasks waited for {kind} {some[kind]:.0f} % of the time" for kind, limit in _SHARE.items() if some.get(kind, 0.0) >= limit]
    if load > _LOAD * cores:
        found.append(f"load {load:.1f} on {cores} cores")
    return ", ".join(found)


def _avg10(text: str) -> float:
    some = text.splitlines()[0]  # "some avg10=0.00 avg60=..."; "full" follows
    return float(dict(word.split("=") for word in some.split()[1:])["avg10"])
