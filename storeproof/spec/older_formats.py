"""Fields that had other names in the format before this one, by kind of file: an old file is refused with the new names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

STORE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "own_indexes": "auto_indexed",
        "lasting_reads": "durable_reads",
        "impostor": "reject_version_containing",
        "answers": "ready",
        "whole": "all_ready",
    }
)
SCALE: Final[Mapping[str, str]] = MappingProxyType({"lead_in_seconds": "round_warm_up_seconds", "growth": "scaling_records"})
SCALING: Final[Mapping[str, str]] = MappingProxyType({"growth": "scaling"})
WORKLOADS: Final[Mapping[str, str]] = MappingProxyType({"load": "preload"})
CAPABILITIES: Final[Mapping[str, str]] = MappingProxyType({"given": "dataset", "nothing": "nulls"})
