"""The files that a process writes to: those outside its directories are found, and no others."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from storeproof.machine.open_files import Place, written_outside


@pytest.fixture
def own(tmp_path: Path) -> Place:
    """The only directory that it may write to."""
    (tmp_path / "own").mkdir()
    return Place(str(tmp_path / "own"), tmp_path.stat().st_dev)


def found(own: Place, tmp_path: Path) -> list[str]:
    """By this process, under the test's directory: other parts of it have files of their own."""
    return [path for path in written_outside([os.getpid()], [own]) if path.startswith(str(tmp_path))]


def test_a_file_that_is_open_for_writing_elsewhere_is_found(own: Place, tmp_path: Path) -> None:
    """With its path; one in its own directory is not, nor one that it only reads, nor one that has no name any more."""
    for name in ("own/data", "read", "nameless", "elsewhere", "own-not"):
        (tmp_path / name).write_text("x")
    with (
        (tmp_path / "own/data").open("a"),
        (tmp_path / "read").open(),
        (tmp_path / "nameless").open("a"),
        (tmp_path / "elsewhere").open("a"),
        (tmp_path / "own-not").open("r+"),
    ):
        (tmp_path / "nameless").unlink()
        assert found(own, tmp_path) == [str(tmp_path / "elsewhere"), str(tmp_path / "own-not")]
    assert found(own, tmp_path) == []


def test_a_file_that_is_written_to_through_a_mapping_is_found(own: Place, tmp_path: Path) -> None:
    """The descriptor is closed; a private mapping reaches no file."""
    for name in ("shared", "private"):
        (tmp_path / name).write_bytes(bytes(mmap.PAGESIZE))
    with (tmp_path / "shared").open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 0)
    with (tmp_path / "private").open("r+b") as file:
        private = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
    # Python's mmap keeps a descriptor of its own: of both.
    assert found(own, tmp_path) == [str(tmp_path / "private"), str(tmp_path / "shared")]
    shared.close()
    private.close()
    assert found(own, tmp_path) == []


def test_what_is_mounted_within_its_directory_is_not_its_directory(own: Place, tmp_path: Path) -> None:
    """A file system in memory there survives no power cut, and is not the one that is cut."""
    other = Place(own.path, (own.device or 0) + 1)
    with (tmp_path / "own/data").open("w"):
        assert found(other, tmp_path) == [str(tmp_path / "own/data")]


def test_a_process_that_has_ended_has_none(own: Place) -> None:
    """Nor one that there never was."""
    assert written_outside([2**22 + 1], [own]) == []
