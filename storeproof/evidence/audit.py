"""What was read back after a fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storeproof.history import Place, Seen


@dataclass(frozen=True, slots=True)
class AuditEvidence:
    """One audit. Times are nanoseconds on the clock of the operations."""

    moment: int
    """When the reading began: what was invoked later is not judged by it, and what was answered later is unknown to it."""
    everything: bool
    """Whether it reads the keys of all rounds, and not only those of this one."""
    seen: Mapping[Place, Seen]
    gone: tuple[str, ...]
    """Models whose collection itself was missing."""
    ended: int
