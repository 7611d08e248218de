"""Makes a result safe to print in a terminal."""

from __future__ import annotations

from typing import Any

from storeproof.printable import printable
from storeproof.result.model import Result


def shown_of(result: Result) -> Result:
    """The result with control characters escaped: its text comes from servers, and the file from anywhere."""
    return Result.model_validate(_printable(result.model_dump()))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value) if type(value) is str else value  # an outcome is an enum, not text
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_printable(each) for each in value)
    return value
