"""The two stores: what they claim, and what of them a fault finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_PLAIN: Final = ("key_access.put-get", "key_access.delete")


@dataclass(frozen=True)
class BesideStore:
    """One of them."""

    program: Path
    claims: Mapping[str, Any]
    found: str
    """How the key ends of what is missing or wrong."""
    lies: Sequence[str]
    """Those that a crash finds out."""
    models: Sequence[str]
    """Under which it is tried."""


EXPIRING: Final = BesideStore(
    Path(__file__).parent / "expiring_log.py",
    {"capabilities": dict.fromkeys((*_PLAIN, "expiry.put-expiring", "expiry.read"), True)},
    "#expiry'] ",
    ("beside-later", "beside-first"),
    ("ext4", "posix"),
)
INDEXED: Final = BesideStore(
    Path(__file__).parent / "indexed_log.py",
    {"models": ["nested"], "capabilities": dict.fromkeys((*_PLAIN, "indexes.nested", "filter.eq-text"), True)},
    "#entry'] ",
    ("beside-later", "beside-first", "own-file"),
    ("ext4",),
)
