"""Reads a server's log, and hides passwords in what is shown to users."""

from __future__ import annotations

from pathlib import Path

from storeproof.masking import mask

_BYTES = 8192
_LINES = 25
_MOST_BYTES = 2**20
_SHORTEST_SECRET = 4
"""Characters. A shorter password is not hidden: replacing it would make the log unreadable, and it is no secret."""


def tail(log: Path, password: str | None) -> str:
    """The last lines of a log file, without the password; empty if the file cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _BYTES))
            return last_lines(file.read(), password)
    except OSError:
        return ""


def read_since(log: Path, since: int) -> str:
    """What follows the first `since` bytes of a log file, at most 1 MiB; a password in it is not hidden."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def last_lines(text: bytes, password: str | None) -> str:
    """The last lines of a text, with the password replaced by `***`."""
    shown = "\n".join(text.decode("utf-8", errors="replace").splitlines()[-_LINES:])
    return mask(shown, [password]) if password and len(password) >= _SHORTEST_SECRET else shown
