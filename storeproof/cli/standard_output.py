"""Standard output and standard error of all commands. A reader may leave, as in `storeproof verify x.tar | head -1`: the rest is dropped,
and the exit code stays that of the command. An answer that cannot be written, as on a full disk, is one message."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from storeproof.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """A file that the shell opened for us. What cannot be written to it is dropped."""

    def __init__(self, number: int, *, is_missed: bool) -> None:
        """`is_missed`: something has to be said when it cannot be written, though not because its reader has left."""
        super().__init__(number, "wb", closefd=False)
        self._is_missed = is_missed

    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except OSError as reason:
            if self._is_missed and not isinstance(reason, BrokenPipeError):
                self._is_missed = False  # said once
                raise UsageError(f"standard output cannot be written: {reason.strerror}; send it to another file, or make room") from None
            return len(memoryview(content).cast("B"))


@contextmanager
def standard_output() -> Iterator[None]:
    """Within the block all that is printed goes there, and at its end it is written. Raises `UsageError`: the answer cannot be."""
    before = sys.stdout, sys.stderr
    sys.stdout = _opened(sys.stdout, sys.__stdout__, is_missed=True)
    sys.stderr = _opened(sys.stderr, sys.__stderr__, is_missed=False)
    try:
        yield
    finally:
        try:
            for each in (sys.stderr, sys.stdout):
                if each is not None:
                    each.flush()
        finally:
            sys.stdout, sys.stderr = before


def _opened(used: TextIO, given: TextIO | None, *, is_missed: bool) -> TextIO:
    """What to use from now on; the same where the shell closed it, or where a test reads it."""
    if given is None or used is not given:
        return used
    buffer = io.BufferedWriter(_Output(given.fileno(), is_missed=is_missed))
    return io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=getattr(given, "line_buffering", False))
