"""A recording as data: read again it is the same, and what was cut off, changed or made up is none."""

from __future__ import annotations

import os
import random
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from storeproof.disk import recording
from storeproof.disk.fuse import FuseDisk
from storeproof.disk.recording import packed, states_of, unpacked
from tests.disk.files import Make, write

pytestmark = pytest.mark.usefixtures("memory_disks")

_PAGE: Final = 4096
_MODELS: Final = ("kernel", "ext4", "torn", "writeback", "posix")
_MANY: Final = 10_000


def recorded(disk: FuseDisk, at: Path) -> bytes:
    """A file of equal pages, one of zeros, a directory and a link before; then a bit of everything."""
    write(at / "equal", "x" * 64 * _PAGE, sync=False)
    write(at / "zeros", "\0" * 64 * _PAGE, sync=False)
    write(at / "untouched", "never", sync=False)
    (at / "directory").mkdir()
    (at / "directory" / "link").symlink_to("../equal")
    disk.record()
    disk.mark(1)
    write(at / "new", "one", sync=True)
    with (at / "equal").open("r+b") as file:
        file.write(random.Random(1).randbytes(600))
    os.truncate(at / "zeros", 3)
    (at / "new").rename(at / "directory" / "moved")
    (at / "equal").chmod(0o600)
    with (at / "zeros").open("r+b") as file:
        (at / "zeros").unlink()
        file.write(b"read by who has it open")
        os.fsync(file)
    disk.mark(2)
    disk.recorded()
    return unpacked(disk.packed_recording())


def test_it_is_read_again_without_a_mount(make: Make, data: Path) -> None:
    """With the same states under each model, and small: a page is written once."""
    from storeproof.native import DiskRecording

    disk = make()
    content = recorded(disk, data)
    again = DiskRecording.load(content)
    assert again.dump() == content
    assert [number for _, number in again.about()[3]] == [1, 2]
    assert len(content) < 5 * _PAGE
    for model in _MODELS:
        listed, more = again.states(model, _MANY)
        assert (states_of(listed), more) == disk.states(model)
        assert len(listed) > 3


def test_a_state_is_told_from_one_of_another_disk(make: Make, data: Path) -> None:
    """Also where they differ in a file that no change is about."""
    from storeproof.native import DiskRecording

    content = recorded(make(), data)
    other = content.replace(b"never", b"often")[:-4]
    first, second = (
        DiskRecording.load(each).states("ext4", _MANY)[0] for each in (content, other + zlib.crc32(other).to_bytes(4, "little"))
    )
    assert [each[:3] for each in first] == [each[:3] for each in second]
    assert not {each[3] for each in first} & {each[3] for each in second}


def test_what_was_cut_off_or_changed_is_none(make: Make, data: Path) -> None:
    """Wherever it was, and also where the checksum is right again it does nothing but be refused, or be another recording."""
    from storeproof.native import DiskRecording

    content = recorded(make(), data)
    dice = random.Random(2)
    for _ in range(300):
        at = dice.randrange(len(content))
        changed = content[:at] + bytes([content[at] ^ (1 << dice.randrange(8))]) + content[at + 1 :]
        for forged in (content[:at], changed):
            with pytest.raises(ValueError, match="not a recording"):
                DiskRecording.load(forged)
        with suppress(ValueError):
            DiskRecording.load(changed[:-4] + zlib.crc32(changed[:-4]).to_bytes(4, "little")).states("posix", _MANY)


@pytest.mark.parametrize("name", [b"..", b"a/b", b"/ab"])
def test_no_file_of_a_recording_is_outside_its_directory(make: Make, data: Path, name: bytes) -> None:
    """Its states are written to a directory, and a recording may be forged."""
    from storeproof.native import DiskRecording

    content = recorded(make(), data)
    for real in (b"new", b"zeros"):
        at = content.index(bytes([len(real)]) + real)
        forged = content[:at] + bytes([len(name)]) + name + content[at + 1 + len(real) : -4]
        with pytest.raises(ValueError, match="not a recording"):
            DiskRecording.load(forged + zlib.crc32(forged).to_bytes(4, "little"))


def test_a_state_can_be_looked_at(make: Make, data: Path, tmp_path: Path) -> None:
    """Page by page, and as files."""
    from storeproof.native import DiskRecording

    disk = make()
    write(data / "log", "x" * _PAGE, sync=True)
    disk.record()
    with (data / "log").open("ab") as file:
        file.write(b"y" * 2 * _PAGE)
    write(data / "new", "z", sync=False)
    changes = disk.recorded().changes
    kept = DiskRecording.load(unpacked(disk.packed_recording()))
    states = states_of(kept.states("writeback", _MANY)[0])

    def shown(event: str) -> dict[str, tuple[str, int | None, list[str]]]:
        index = next(each.index for each in states if each.name == f"{changes}-{event}")
        found = kept.describe(index)
        (tmp_path / event).mkdir()
        kept.extract(index, str(tmp_path / event))
        return {os.fspath(path): (name, size, [word for _, word in pages]) for path, name, _, size, pages in found}

    sizes = shown("sizes")
    assert sizes["log"] == ("there", 3 * _PAGE, ["zero", "zero"])
    assert sizes["new"] == ("there", 1, ["zero"])
    assert (tmp_path / "sizes" / "log").read_bytes() == b"x" * _PAGE + bytes(2 * _PAGE)
    everything = shown("all")
    assert everything["log"] == ("there", 3 * _PAGE, ["present", "present"])
    assert (tmp_path / "all" / "new").read_text() == "z"


def test_one_that_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither packed nor unpacked."""
    content = random.Random(3).randbytes(1000)
    assert unpacked(packed(content)) == content
    monkeypatch.setattr(recording, "MOST_BYTES", 999)
    assert packed(content) == ""
    monkeypatch.undo()
    text = packed(content)
    monkeypatch.setattr(recording, "MOST_PACKED", len(text) - 1)
    assert packed(content) == ""
    monkeypatch.setattr(recording, "MOST_BYTES", 999)
    with pytest.raises(ValueError, match="has more than 999 bytes"):
        unpacked(text)
