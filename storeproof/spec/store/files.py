"""What a store's files are for, so that its I/O can be told apart by kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from storeproof.spec.base import Frozen

FileKind = Literal["journal", "save", "merge", "catalogue", "temporary", "log"]
"""`journal`: the log that a write waits for. `save`: data that goes from memory to disk. `merge`: data that is read from disk and written
again, such as a compaction or a rewritten log. `catalogue`: what the store knows of its files. `temporary`: what no restart needs. `log`:
messages for people."""


class FileRule(Frozen):
    """Files of one kind, of which those that no rule before this one names."""

    kind: FileKind
    """What they are for."""
    paths: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
    """Shell patterns of their paths below the data directory; a `*` may stand for slashes too. `.` is the data directory itself, which a
    store syncs after it created a file."""
    thread: str | None = None
    """A shell pattern of the thread's name, or of the title of its process; only I/O by such threads is meant. What these read from the
    device is of this kind too."""
