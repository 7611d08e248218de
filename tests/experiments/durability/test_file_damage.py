"""Damage to files: where it strikes, and that it can be undone."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from storeproof.experiments.durability.file_damage import Copy, damage, flip, truncate


def differing(one: bytes, other: bytes) -> list[int]:
    return [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]


@pytest.mark.parametrize("seed", range(20))
def test_a_flip_changes_a_few_bytes_that_are_not_zero(tmp_path: Path, seed: int) -> None:
    """What was only reserved holds nothing that could be damaged."""
    before = bytes(3000) + b"what was written" * 40 + bytes(50_000)
    file = tmp_path / "log"
    file.write_bytes(before)
    said = flip(file, random.Random(seed))
    after = file.read_bytes()
    places = differing(before, after)
    assert 0 < len(places) <= 8
    assert all(before[place] for place in places)
    assert said == f"changed the bytes {', '.join(map(str, places))} of {len(before)}"


@pytest.mark.parametrize("seed", range(20))
def test_a_file_is_cut_within_its_used_part(tmp_path: Path, seed: int) -> None:
    """The cut is where there is data, so that something is lost."""
    file = tmp_path / "log"
    file.write_bytes(b"x" * 4000 + bytes(50_000))
    truncate(file, random.Random(seed))
    assert file.stat().st_size < 4096


def test_the_newest_files_are_damaged(tmp_path: Path) -> None:
    """Neither what was there before the load, nor locks and process ids, nor what is empty."""
    for age, (name, content) in enumerate(
        [("log", b"l" * 2000), ("a/table", b"t" * 2000), ("old", b"o" * 2000), ("pid", b"123"), ("reserved", bytes(9000))]
    ):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (1000.0, 1000.0 if name == "old" else 2000.0 - age))
    struck = {done.file for seed in range(30) if (done := damage(tmp_path, 1500.0, "flip", random.Random(seed)))}
    assert struck == {"log", "a/table"}


def test_where_nothing_was_written_nothing_is_damaged(tmp_path: Path) -> None:
    """Files that the load did not touch are left alone."""
    (tmp_path / "old").write_bytes(b"o" * 2000)
    assert damage(tmp_path, (tmp_path / "old").stat().st_mtime + 10, "flip", random.Random(1)) is None


def test_a_copy_is_put_back_as_it_was(tmp_path: Path) -> None:
    """Contents and modes are those of the copied directory."""
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    (data / "deep" / "file").write_bytes(b"as it was")
    (data / "deep" / "file").chmod(0o640)
    copy = Copy(data, tmp_path / "copy")
    inode = data.stat().st_ino
    (data / "deep" / "file").write_bytes(b"damaged")
    (data / "new").write_bytes(b"made since")
    copy.put_back()
    assert [str(each.relative_to(data)) for each in data.rglob("*") if each.is_file()] == ["deep/file"]
    assert (data / "deep" / "file").read_bytes() == b"as it was"
    assert (data / "deep" / "file").stat().st_mode & 0o777 == 0o640
    assert data.stat().st_ino == inode, "the directory itself stays: a file system may be mounted there"
    copy.remove()
    assert [each.name for each in tmp_path.iterdir()] == ["data"]
