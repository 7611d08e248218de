"""Passwords to which an endpoint's URL refers by name, since every user of the machine can read a command line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from storeproof.errors import UsageError
from storeproof.regular_file import Unreadable, read_text

_NAMED = re.compile(r"\$\{(?:(?P<file>file:)(?P<path>[^}]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*))\}")
_FORMS = "${NAME} is replaced by an environment variable, and ${file:PATH} by the first line of a file"
_LONGEST = 64 << 10


def resolve_secrets(url: str) -> str:
    """The URL with `${NAME}` and `${file:PATH}` replaced by the values that they name.

    Within a URL a value is percent-encoded. If the whole text is one name, its value is the whole URL.

    Raises:
        UsageError: there is no such variable or file, it is empty, or `${` is not followed by a name; no value is shown.
    """
    if whole := _NAMED.fullmatch(url):
        return _value(whole)
    resolved = _NAMED.sub(lambda named: quote(_value(named), safe=""), url)
    if "${" in _NAMED.sub("", url):
        raise UsageError(f"the endpoint's URL has an invalid `${{`; allowed: {_FORMS}; write any other `$` as %24")
    return resolved


def _value(named: re.Match[str]) -> str:
    found = _first_line(Path(named["path"])) if named["file"] else os.environ.get(named["name"])
    if found is None:
        raise UsageError(
            f"the endpoint's URL names {named[0]}, but there is no such environment variable; export it, or use ${{file:PATH}}"
        )
    if not found:
        raise UsageError(f"the endpoint's URL names {named[0]}, which is empty; {_FORMS}")
    return found


def _first_line(path: Path) -> str:
    try:
        return read_text(path.expanduser(), _LONGEST).split("\n", 1)[0].rstrip("\r")
    except Unreadable as reason:
        raise UsageError(f"the endpoint's URL names ${{file:{path}}}, but that file {reason}") from None
