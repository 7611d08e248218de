"""Sizes of memory in the values of settings, in the units that servers want: `${bytes}`, `${mib}`, `${gib}`."""

from __future__ import annotations

import string
from typing import Final

UNITS: Final = "${bytes}, ${mib}, ${gib}"
"""For messages."""


def names_a_size(value: str) -> bool:
    """Whether exactly one unit is in the value, and nothing else that looks like one."""
    template = string.Template(value)
    named = template.get_identifiers() if template.is_valid() else []
    return len(named) == 1 and named[0] in _units(0)


def with_size(value: str, size: int) -> str:
    """The value for `size` bytes; one that names no size stays as it is."""
    return string.Template(value).safe_substitute(_units(size))


def _units(size: int) -> dict[str, str]:
    return {"bytes": str(size), "mib": str(size // 2**20), "gib": f"{size / 2**30:g}"}
