"""The names of the files in a directory, by inode number, at every moment.

Inode numbers are used again: the last name that a number had is not the one that it had at the time. The kernel's records say when a number
is given to a new file (`created`), and fanotify(7) which name that file has, with its number in the same message. The two come by separate
ways, each in the order in which it happened.
"""

from __future__ import annotations

import os
import platform
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from storeproof.machine.tracepoints import call

_CALLS: Final = {"x86_64": (300, 301), "aarch64": (262, 263)}
"""Numbers of the system calls fanotify_init and fanotify_mark, by architecture."""
_CLOEXEC, _NONBLOCK = 1, 2
_WITH_NAMES: Final = 0x200 | 0x400 | 0x800 | 0x1000
"""FAN_REPORT_DFID_NAME_TARGET: include/uapi/linux/fanotify.h, like all that follows."""
_ADD_FILESYSTEM: Final = 0x101
_MOVED_TO, _CREATE, _OVERFLOW, _ON_DIRECTORIES = 0x80, 0x100, 0x4000, 1 << 30
_EVENT: Final = struct.Struct("=IBBHQii")
_INFO: Final = struct.Struct("=BBH")
_HANDLE: Final = struct.Struct("=Ii")
_AT: Final = _INFO.size + 8
"""Where the handle of a file begins: behind the id of its file system."""
_FILE, _NAME_IN_DIRECTORY = 1, 2
_HERE: Final = -100
_DEEPEST: Final = 64
"""Directories above a file; more is a circle, from messages that were lost."""


class Name(NamedTuple):
    directory: int
    """Its inode number."""
    name: str


class FileNames:
    """The names below a directory; of all other files of its file system only those that appear after this was made."""

    def __init__(self, folder: Path) -> None:
        """Raises `OSError`: this user may not be told, or the file system cannot."""
        create, mark = _CALLS[platform.machine()]
        self._told = call(create, _CLOEXEC | _NONBLOCK | _WITH_NAMES, os.O_RDONLY)
        self.overflowed = False
        """Whether there was more than the kernel keeps for us: then names are missing."""
        self._root = folder.stat().st_ino
        self._now: dict[int, Name] = {}
        """As far as the kernel's records have been read."""
        self._coming: dict[int, deque[Name]] = {}
        """Names of files whose creation is in records that have not been read."""
        self._unnamed: dict[int, int] = {}
        """Files that were created, and whose name has not been told yet, with their directories. Some never have one (O_TMPFILE)."""
        self._late: set[int] = set()
        """Files whose name was told after their creation was read; or it is that of the next file with this number."""
        try:
            call(mark, self._told, _ADD_FILESYSTEM, _MOVED_TO | _CREATE | _ON_DIRECTORIES, _HERE, os.fsencode(folder) + b"\0")
            self._scan(folder, self._root)
        except OSError:
            self.close()
            raise

    def read(self) -> list[int]:
        """Take in what was told; return the inode numbers that have another name now."""
        changed: list[int] = []
        while True:
            try:
                text = os.read(self._told, 1 << 16)
            except BlockingIOError:
                return changed
            for kind, inode, name in _events(text):
                self.overflowed |= bool(kind & _OVERFLOW)
                if kind & _CREATE:
                    self._told_of(inode, name)
                elif kind & _MOVED_TO and inode in self._coming:
                    self._coming[inode][-1] = name
                elif kind & _MOVED_TO:
                    self._now[inode] = name
                changed.append(inode)

    def _told_of(self, inode: int, name: Name) -> None:
        if self._unnamed.get(inode) == name.directory:
            del self._unnamed[inode]
            self._late.add(inode)
            self._now[inode] = name
        else:
            self._coming.setdefault(inode, deque()).append(name)

    def created(self, inode: int, directory: int) -> None:
        """The number is that of a new file, or directory, from now on."""
        coming = self._coming.get(inode)
        late = inode in self._late
        self._late.discard(inode)
        self._unnamed.pop(inode, None)
        if coming and coming[0].directory == directory:
            self._now[inode] = coming.popleft()
            if not coming:
                del self._coming[inode]
        elif not (late and not coming and self._now[inode].directory == directory):
            self._now.pop(inode, None)
            self._unnamed[inode] = directory

    def name(self, inode: int) -> Name | None:
        """None: it was not told, or the file never had one."""
        return self._now.get(inode)

    def path(self, inode: int) -> str | None:
        """Below the directory, `.` for itself; None for a file that is not there, or whose name is not known."""
        parts: list[str] = []
        for _ in range(_DEEPEST):
            if inode == self._root:
                return "/".join(reversed(parts)) or "."
            name = self.name(inode)
            if name is None:
                return None
            parts.append(name.name)
            inode = name.directory
        return None

    def close(self) -> None:
        os.close(self._told)

    def _scan(self, folder: Path, inode: int) -> None:
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:  # removed meanwhile
            return
        for entry in entries:
            self._now[entry.inode()] = Name(inode, entry.name)
            if entry.is_dir(follow_symlinks=False):
                self._scan(Path(entry.path), entry.inode())


def _events(text: bytes) -> Iterator[tuple[int, int, Name]]:
    """What happened, the inode number of the file, and its name."""
    at = 0
    while at < len(text):
        length, _, _, metadata, kind, _, _ = _EVENT.unpack_from(text, at)
        inode, name, info = 0, Name(0, ""), at + metadata
        while info < at + length:
            what, _, size = _INFO.unpack_from(text, info)
            handle, _ = _HANDLE.unpack_from(text, info + _AT)
            begins = info + _AT + _HANDLE.size
            number = int.from_bytes(text[begins : begins + 4], "little")  # FILEID_INO32_GEN: number and generation
            if what == _FILE:
                inode = number
            elif what == _NAME_IN_DIRECTORY:
                name = Name(number, os.fsdecode(text[begins + handle : info + size].split(b"\0")[0]))
            info += size
        yield kind, inode, name
        at += length
