"""Reads the results that needs are held against, the published ones of this checkout among them."""

from __future__ import annotations

from pathlib import Path

from storeproof.errors import UsageError
from storeproof.regular_file import exists
from storeproof.result.consistency import check_agrees
from storeproof.result.json_file import file_in, read_result
from storeproof.result.needs.evidence import ReadResult
from storeproof.spec import SPEC_ROOT


def published_results() -> list[Path]:
    """The published results of this checkout, without the latest run of its user. Raises `UsageError` where there are none."""
    folders = (each for each in sorted((SPEC_ROOT.parent / "reports").glob("*/")) if each.name != "latest")
    found = [file for folder in folders if exists(file := file_in(folder))]
    if not found:
        raise UsageError("there are no published results beside this installation; name results: storeproof decide NEEDS RESULT...")
    return found


def read_agreeing(file: Path) -> ReadResult:
    """A result that agrees with itself. Raises `UsageError`: it cannot be read, or was changed after its run."""
    result = read_result(file)
    check_agrees(file, result)
    return ReadResult(file, result)
