"""Where files of the specification are read from: the disk; or, of a store that a stranger describes, what came with it and no more."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from storeproof.regular_file import Unreadable, open_regular


class Reader:
    """Reads the files on the disk."""

    def open(self, path: Path) -> BinaryIO:
        """The file, opened for reading bytes. Raises `Unreadable`: it is not there, may not be read, or is no regular file."""
        return open_regular(path)

    def settled(self, path: Path) -> Path:
        """The one path of a file that several lead to."""
        return path.resolve()

    def listed(self, folder: Path) -> list[Path]:
        """The YAML files in a folder, by name."""
        return sorted(folder.glob("*.yaml"))


@dataclass(frozen=True)
class HeldReader(Reader):
    """Reads files that are held somewhere else, under relative paths, and those of this installation. Whatever a file names, no other file
    is opened, nor looked for."""

    names: Collection[str]
    content: Callable[[str], bytes]
    """The content of one of these names."""
    installed: Collection[Path]
    """Folders on the disk, resolved."""

    def open(self, path: Path) -> BinaryIO:
        settled = self.settled(path)
        if self._is_installed(settled):
            return super().open(settled)
        if settled.as_posix() not in self.names:
            raise Unreadable("is not in the bundle")
        return io.BytesIO(self.content(settled.as_posix()))

    def settled(self, path: Path) -> Path:
        return Path(os.path.normpath(path))

    def listed(self, folder: Path) -> list[Path]:
        if self._is_installed(self.settled(folder)):
            return super().listed(folder)
        return sorted(path for path in map(Path, self.names) if path.parent == folder and path.suffix == ".yaml")

    def _is_installed(self, settled: Path) -> bool:
        return any(settled.is_relative_to(each) for each in self.installed)


_DISK: Final = Reader()
_reader: ContextVar[Reader] = ContextVar("reader", default=_DISK)


def reader() -> Reader:
    """The one that reads here and now."""
    return _reader.get()


@contextmanager
def reading_by(other: Reader) -> Iterator[None]:
    """Within the block, every file of the specification is read by this one."""
    before = _reader.set(other)
    try:
        yield
    finally:
        _reader.reset(before)
