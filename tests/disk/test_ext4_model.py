"""The disk in memory leaves what ext4 leaves: after the same changes, and a sync of another file that commits the journal.

Nothing else tells whether its rules are those of ext4: sizes that are durable before their data were missing for long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pytest

from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.disk.methods import Disk
from storeproof.errors import NotAvailable
from tests.disk.files import cut, names, write
from tests.disk.unsynced_changes import CHANGES, RACES, Change

pytestmark = [
    pytest.mark.usefixtures("memory_disks"),
    pytest.mark.serial,  # beside programs that write much, the kernel writes out what no one synced
]

Left = Mapping[str, str]
"""What a change left, in words, by the change's name."""
_FEWER = {"written_anew_and_append": "file: 300 b, 300 zero", "renamed_over_another_and_append": "file: 300 b, 300 zero"}
_MORE = dict.fromkeys(_FEWER, "file: 300 b, 300 c")


@pytest.fixture(scope="module")
def on_ext4(tmp_path_factory: pytest.TempPathFactory) -> Left:
    folder = tmp_path_factory.mktemp("ext4")
    (folder / "data").mkdir()
    try:
        disk = Ext4Disk(folder / "data", folder / "image")
    except NotAvailable as reason:
        pytest.skip(str(reason))
    return left(disk, folder / "data")


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Left:
    folder = tmp_path_factory.mktemp("memory")
    return left(FuseDisk(folder), folder)


def left(disk: Disk, at: Path) -> Left:
    """What each change leaves after a cut."""
    try:
        under_way = [begun(change, at / name) for name, change in {**CHANGES, **RACES}.items()]
        disk.sync()
        for change in under_way:
            assert next(change, "over") == "over"
        write(at / "other", "commits the journal", sync=True)
        cut(disk)
        return {name: in_words(at / name) for name in {**CHANGES, **RACES}}
    finally:
        disk.close()


def begun(change: Change, folder: Path) -> Iterator[None]:
    folder.mkdir()
    running = change(folder)
    next(running)
    return running


def in_words(folder: Path) -> str:
    """Its files, each as runs of one byte."""
    return "; ".join(
        f"{name}: " + ", ".join(f"{len(list(run))} {chr(byte) if byte else 'zero'}" for byte, run in groupby((folder / name).read_bytes()))
        for name in names(folder)
    )


@pytest.mark.parametrize("name", CHANGES)
def test_the_disk_in_memory_leaves_what_ext4_leaves(on_ext4: Left, in_memory: Left, name: str) -> None:
    """Byte for byte, where ext4 leaves the same each time."""
    assert in_memory[name] == on_ext4[name]


@pytest.mark.parametrize("name", RACES)
def test_where_ext4_has_a_choice_the_disk_in_memory_leaves_the_less(on_ext4: Left, in_memory: Left, name: str) -> None:
    """The block is being written out while it changes."""
    assert in_memory[name] == _FEWER[name]
    assert on_ext4[name] in {_FEWER[name], _MORE[name]}


def test_a_size_is_durable_before_its_data(in_memory: Left) -> None:
    """What a kind file system would hide."""
    assert in_memory["append_within_the_block"] == "file: 1000 a, 300 zero"
    assert in_memory["append_beyond_the_block"] == "file: 1000 a, 3096 zero"
    assert in_memory["append_at_a_new_block"] == "file: 4096 a"
