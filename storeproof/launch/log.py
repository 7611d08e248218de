"""The end of a server's log, without passwords."""

from __future__ import annotations

from pathlib import Path

_BYTES = 8192
_LINES = 25
_MOST_BYTES = 2**20
_SHORTEST_SECRET = 4
"""A shorter password than this would blank out half the log, and is no secret."""


def tail(log: Path, password: str | None) -> str:
    """The last lines of a file; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _BYTES))
            return last_lines(file.read(), password)
    except OSError:
        return ""


def read_since(log: Path, since: int) -> str:
    """What was written after the first `since` bytes, at most a MiB of it; with the password, if it was written."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def last_lines(text: bytes, password: str | None) -> str:
    """The last lines, without the password."""
    shown = "\n".join(text.decode("utf-8", errors="replace").splitlines()[-_LINES:])
    return shown.replace(password, "***") if password and len(password) >= _SHORTEST_SECRET else shown
