"""The file that an option names, such as `--output`: its form, by how the name ends, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from storeproof.errors import UsageError
from storeproof.result.json_file import write_whole

F = TypeVar("F")


def form_of(output: Path | None, forms: Mapping[str, F], option: str = "--output") -> F | None:
    """What makes the file's text, of those by suffix; None without a file. Raises `UsageError`: the name has another suffix."""
    if output is None:
        return None
    if output.suffix not in forms:
        raise UsageError(f"{option} {output} ends in {output.suffix or 'nothing'}; allowed: {', '.join(forms)}")
    return forms[output.suffix]


def write_output(output: Path, text: str, option: str = "--output") -> None:
    """Write the file whole, or not at all. Raises `UsageError` if it cannot be written."""
    try:
        write_whole(output, text)
    except OSError as reason:
        raise UsageError(f"{output} cannot be written: {reason.strerror}; name another file with {option}") from None
