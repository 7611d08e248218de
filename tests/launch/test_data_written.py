"""What reached a data directory: new and changed files count, untouched ones do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable
from storeproof.launch.data_written import AllWritten, ChangedFiles


def test_changed_and_new_files_count_with_their_sizes(tmp_path: Path) -> None:
    """Also one that was rewritten in place to the same size; not one that was only read, and not one that is gone."""
    for name, size in (("old", 1000), ("rewritten", 100), ("grown", 10), ("gone", 5)):
        (tmp_path / name).write_bytes(bytes(size))
        os.utime(tmp_path / name, ns=(0, 0))
    written = ChangedFiles(tmp_path)
    assert written.bytes() == 0
    (tmp_path / "old").read_bytes()
    (tmp_path / "rewritten").write_bytes(b"x" * 100)
    with (tmp_path / "grown").open("ab") as file:
        file.write(b"12345")
    (tmp_path / "gone").unlink()
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/new").write_bytes(b"1234567")
    assert written.bytes() == 100 + 15 + 7


def test_a_clock_that_is_set_back_hides_nothing(tmp_path: Path) -> None:
    """A file counts if its time is another one, be it earlier."""
    (tmp_path / "file").write_bytes(bytes(64))
    written = ChangedFiles(tmp_path)
    os.utime(tmp_path / "file", ns=(0, 1))
    assert written.bytes() == 64


def test_a_directory_that_may_not_be_read_is_not_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a store whose files belong to another user would be said to write nothing."""

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(NotAvailable, match=r"the data directory cannot be looked at: .*Permission denied; run it as root"):
        ChangedFiles(tmp_path)


def test_several_directories_are_one_store(tmp_path: Path) -> None:
    """A front in memory writes nothing, and its home does."""
    (tmp_path / "home").mkdir()
    (tmp_path / "front").mkdir()
    written = AllWritten([ChangedFiles(tmp_path / "home"), ChangedFiles(tmp_path / "front")])
    (tmp_path / "home/data").write_bytes(bytes(9))
    assert written.bytes() == 9
