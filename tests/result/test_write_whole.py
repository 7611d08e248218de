"""Files are written whole, with the permissions that the user's umask leaves, and nothing is left beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.result.json_file import write_bytes, write_whole


@pytest.fixture(params=["without a name", "with a name"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One that has files without a name, and one that does not."""
    opened = os.open

    def refusing(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return opened(path, flags, mode)

    if request.param == "with a name":
        monkeypatch.setattr(os, "open", refusing)
    return str(request.param)


@pytest.fixture(params=[0o077, 0o022, 0o000], ids=oct)
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The user's umask."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("file_system")
def test_permissions_are_those_of_the_umask(tmp_path: Path, mask: int) -> None:
    """Of a new file, and of one that replaces another."""
    for text in ("first", "second"):
        write_whole(tmp_path / "folder" / "x", text)
        assert (tmp_path / "folder" / "x").read_text() == text
        assert (tmp_path / "folder" / "x").stat().st_mode & 0o777 == 0o666 & ~mask
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["x"]


def test_a_write_that_ends_early_leaves_the_old_file(tmp_path: Path, file_system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else: by a signal, too, where the file has no name yet."""
    write_bytes(tmp_path / "x", b"old")
    during = []

    def interrupted(_: int) -> None:
        during.extend(each.name for each in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "x", b"new")
    assert len(during) == (1 if file_system == "without a name" else 2)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"x": b"old"}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """Also for the superuser, whom permissions do not stop."""
    (tmp_path / "x").mkdir()
    for path in (Path("/proc/x"), tmp_path / "x"):
        with pytest.raises(OSError, match=r"No such file|Is a directory|Permission denied|Operation not permitted"):
            write_bytes(path, b"")
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
