"""A result as a terminal may show it."""

from __future__ import annotations

from typing import Any

from storeproof.printable import printable
from storeproof.result.model import Result


def shown_of(result: Result) -> Result:
    """The same with all of its text printable: servers named themselves in it, and the file may be somebody else's."""
    return Result.model_validate(_printable(result.model_dump()))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value) if type(value) is str else value  # outcomes are strings too, of their own type
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_printable(each) for each in value)
    return value
