"""Makes a result safe to print in a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from storeproof.printable import printable
from storeproof.result.json_file import read_text_of, result_from
from storeproof.result.model import Result

_ESCAPED: Final = re.compile(r"\\[bfru]")
"""A character that JSON does not show as it is, in a text without escaped backslashes: it may be a control character."""


def read_shown(path: Path) -> Result:
    """Read a result as `read_result` does, with control characters escaped as in `shown_of`.

    Most files have none, in their text as in what it stands for: those need no copy, which takes twice as long as reading.
    """
    text, file = read_text_of(path)
    result = result_from(text, file)
    return result if printable(text) == text and not _ESCAPED.search(text.replace(r"\\", "")) else shown_of(result)


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
