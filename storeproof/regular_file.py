"""Reads a file that the command line names, which may be a directory, a pipe without a writer, a device, or ten gigabytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFIFO: "is a pipe, not a file",
    stat.S_IFSOCK: "is a socket, not a file",
    stat.S_IFCHR: "is a device, not a file",
    stat.S_IFBLK: "is a device, not a file",
}


class Unreadable(Exception):
    """It cannot be read; the text continues a sentence after the file's name: `does not exist`, `is a directory`."""


def open_regular(path: Path) -> BinaryIO:
    """The file, opened for reading bytes. Never blocks. Raises `Unreadable`: it is not there, may not be read, or is no regular file."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unreadable("does not exist") from None
    except OSError as reason:
        raise Unreadable(f"cannot be read: {reason.strerror}") from None
    except ValueError:  # NUL, or half a character
        raise Unreadable("cannot be read: no file can have this name") from None
    try:
        if what := _KINDS.get(stat.S_IFMT(os.fstat(number).st_mode)):
            raise Unreadable(what)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read_text(path: Path, most: int) -> str:
    """The text of a file in UTF-8 of at most `most` bytes. Raises `Unreadable`: as `open_regular`, or it is longer or not UTF-8."""
    with open_regular(path) as file:
        return text_of(file, most)


def text_of(file: BinaryIO, most: int) -> str:
    """The text of an open file, as `read_text`. Raises `Unreadable`: it is longer or not UTF-8."""
    return decoded(bounded(file.read(most + 1), most))


def bounded(content: bytes, most: int) -> bytes:
    """The content itself. Raises `Unreadable`: it has more than `most` bytes."""
    if len(content) > most:
        raise Unreadable(f"is longer than {most >> 10:,} KiB")
    return content


def decoded(content: bytes) -> str:
    """The text that is written in UTF-8. Raises `Unreadable`: it is not."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as reason:
        raise Unreadable(f"cannot be read: it is not text in UTF-8, byte {reason.start} is {content[reason.start]:#04x}") from None


def exists(path: Path) -> bool:
    """Whether the path exists; False for a name that no file can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
