"""What older formats called otherwise, by kind of file. A file of an older major format is refused with the new names of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from storeproof.spec.interleaving import Isolation

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
LEVELS: Final[Mapping[Isolation, Isolation]] = MappingProxyType({"snapshot": "repeatable_read"})
"""Before format 2.2 of capabilities `snapshot` was the name of SQL's REPEATABLE READ, and there was no stronger level of that name."""
