"""A published claim, of SQLite by the frozen edition, for what is checked in a result alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from storeproof.conformance.archive import open_archive
from storeproof.conformance.result_part import result_of
from storeproof.result.model import Result

FILE = Path(__file__).parents[2] / "conformance" / "2026.12" / "storeproof-sqlite" / "sqlite.tar"


@cache
def published() -> Result:
    """Its result."""
    with open_archive(FILE) as archive:
        return result_of(archive)
