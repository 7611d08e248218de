"""Changes of one file that are not synced, each in a folder of its own: what is done before the `yield` is durable."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_KEEP_SIZE, _PUNCH_HOLE, _ZERO_RANGE = 0x1, 0x2, 0x10  # linux/falloc.h
_libc = ctypes.CDLL(None, use_errno=True)

Change = Callable[[Path], Iterator[None]]
CHANGES: Final[dict[str, Change]] = {}
"""Those after which ext4 always leaves the same."""
RACES: Final[dict[str, Change]] = {}
"""Those whose last write may reach the disk with the block that ext4 is just writing out, or not."""


def _change(change: Change) -> Change:
    CHANGES[change.__name__.strip("_")] = change
    return change


def _race(change: Change) -> Change:
    RACES[change.__name__.strip("_")] = change
    return change


@contextmanager
def _opened(path: Path, flags: int = 0) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _append(folder: Path, data: bytes, *, name: str = "file", flags: int = 0, sync: bool = False) -> None:
    with _opened(folder / name, os.O_APPEND | flags) as file:
        os.write(file, data)
        if sync:
            os.fdatasync(file)


def _write(folder: Path, offset: int, data: bytes) -> None:
    with _opened(folder / "file") as file:
        os.pwrite(file, data, offset)


def _allocate(folder: Path, mode: int, offset: int, length: int) -> None:
    with _opened(folder / "file") as file:
        if _libc.fallocate(file, mode, ctypes.c_long(offset), ctypes.c_long(length)):
            raise OSError(ctypes.get_errno(), "fallocate")


def _replace(folder: Path, data: bytes) -> None:
    _append(folder, data, name="new")
    (folder / "new").replace(folder / "file")


@_change
def _append_within_the_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 200)
    _append(folder, b"c" * 100)


@_change
def _append_to_the_end_of_the_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 3096)


@_change
def _append_beyond_the_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 9000)
    _append(folder, b"c" * 100)


@_change
def _append_at_a_new_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 4096)
    yield
    _append(folder, b"b" * 300)


@_change
def _append_after_a_sync(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 20000, sync=True)
    _append(folder, b"c" * 300)


@_change
def _append_to_a_second_name(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    os.link(folder / "file", folder / "second")
    _append(folder, b"b" * 300, name="second")


@_change
def _new_file(folder: Path) -> Iterator[None]:
    yield
    _append(folder, b"a" * 300)
    _append(folder, b"b" * 300)


@_change
def _empty_file(folder: Path) -> Iterator[None]:
    _append(folder, b"")
    yield
    _append(folder, b"a" * 300)


@_change
def _new_file_of_an_old_name(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    (folder / "file").unlink()
    _append(folder, b"b" * 300)


@_change
def _overwrite(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 5000)
    yield
    _write(folder, 100, b"b" * 300)


@_change
def _overwrite_and_grow(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 5000)
    yield
    _write(folder, 0, b"b" * 5500)


@_change
def _hole_within_the_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _write(folder, 2000, b"b" * 100)


@_change
def _hole_beyond_the_block(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300)
    _write(folder, 20000, b"c" * 100)


@_change
def _cut_short(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 9000)
    yield
    os.truncate(folder / "file", 1000)


@_change
def _cut_short_and_append(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 9000)
    yield
    os.truncate(folder / "file", 1000)
    _append(folder, b"b" * 6000)


@_change
def _cut_short_at_a_block_and_append(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 9000)
    yield
    os.truncate(folder / "file", 4096)
    _append(folder, b"b" * 300)


@_change
def _append_and_cut_short(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300)
    os.truncate(folder / "file", 1100)


@_change
def _append_and_cut_to_that_size(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300)
    os.truncate(folder / "file", 1300)


@_change
def _cut_longer(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    os.truncate(folder / "file", 30000)


@_change
def _append_and_cut_longer(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300)
    os.truncate(folder / "file", 9000)


@_change
def _cut_longer_and_write(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    os.truncate(folder / "file", 30000)
    _write(folder, 1000, b"b" * 500)


@_change
def _cut_to_nothing_and_append(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 5000)
    yield
    os.truncate(folder / "file", 0)
    _append(folder, b"b" * 300)


@_change
def _written_anew(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300, flags=os.O_TRUNC)


@_race
def _written_anew_and_append(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300, flags=os.O_TRUNC)
    _append(folder, b"c" * 300)


@_change
def _renamed(folder: Path) -> Iterator[None]:
    yield
    _replace(folder, b"a" * 300)


@_change
def _renamed_over_another(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _replace(folder, b"b" * 300)


@_race
def _renamed_over_another_and_append(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _replace(folder, b"b" * 300)
    _append(folder, b"c" * 300)


@_change
def _allocated_and_append(folder: Path) -> Iterator[None]:
    _allocate(folder, _KEEP_SIZE, 0, 65536)
    _append(folder, b"a" * 1000)
    yield
    _append(folder, b"b" * 300)


@_change
def _allocated_and_append_at_a_new_block(folder: Path) -> Iterator[None]:
    _allocate(folder, _KEEP_SIZE, 0, 65536)
    _append(folder, b"a" * 4096)
    yield
    _append(folder, b"b" * 300)


@_change
def _allocated_with_its_size_and_written(folder: Path) -> Iterator[None]:
    _allocate(folder, 0, 0, 65536)
    _write(folder, 0, b"a" * 300)
    yield
    _write(folder, 300, b"b" * 300)
    _write(folder, 8192, b"c" * 300)


@_change
def _allocate_and_write(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _allocate(folder, 0, 0, 20000)
    _write(folder, 1000, b"b" * 5000)


@_change
def _allocate_beyond_the_size_and_write(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _allocate(folder, _KEEP_SIZE, 0, 20000)
    _write(folder, 1000, b"b" * 5000)


@_change
def _hole_punched(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 20000)
    yield
    _allocate(folder, _PUNCH_HOLE | _KEEP_SIZE, 1000, 8192)


@_change
def _hole_punched_at_the_end(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 10000)
    yield
    _allocate(folder, _PUNCH_HOLE | _KEEP_SIZE, 5000, 8192)


@_change
def _hole_punched_and_written(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 20000)
    yield
    _allocate(folder, _PUNCH_HOLE | _KEEP_SIZE, 4096, 8192)
    _write(folder, 5000, b"b" * 5000)


@_change
def _range_zeroed_and_written(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 20000)
    yield
    _allocate(folder, _ZERO_RANGE, 4096, 8192)
    _write(folder, 5000, b"b" * 5000)


@_change
def _range_zeroed_beyond_the_end(folder: Path) -> Iterator[None]:
    _append(folder, b"a" * 1000)
    yield
    _allocate(folder, _ZERO_RANGE, 500, 8192)
