"""The states that are listed of a recording are those that a file system may leave: each change is made on a real one too."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.spec.guarantee import CrashModel
from tests.disk.files import cut
from tests.disk.real_file_systems import ALL, GIVES_BLOCKS_BACK, MOUNTS, Left, make_disk, parts, what_is_left, what_is_torn
from tests.disk.test_ext4_model import begun, in_words
from tests.disk.unsynced_changes import CHANGES, RACES

pytestmark = [
    pytest.mark.usefixtures("memory_disks"),
    pytest.mark.serial,  # beside programs that write much, the kernel writes out what no one synced
]

_WRITEBACK = ("writeback", "writeback at once")
_STALE = {"journal": ("allocate_and_write",), **dict.fromkeys(_WRITEBACK, GIVES_BLOCKS_BACK)}
"""Changes after which a file may have what another one had.

With `data=journal`: its journal has an older content of the blocks, and none of the zeros. With `data=writeback`: blocks that a file gave
back are another's at once, and not only after the commit (`ext4_free_blocks` in fs/ext4/mballoc.c, Linux 6.1), so that without the commit
the file has what the other one wrote there.
"""

_HALF_COPIED = re.compile(r"\d+ b, \d+ zero, \d+ c$")
"""Of two writes that race, the second came while the block of the first was on its way to the device, and was copied into it halfway: seen
once in some hundred runs. A device that takes no stable pages takes what is there; the page is then written once more."""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Left]:
    """What one of `MOUNTS` left, or `torn`: ext4 as `ordered`, on a device that wrote a part of a page."""

    @cache
    def found(system: str) -> Left:
        with pytest.MonkeyPatch.context() as patch:

            def make() -> tuple[Ext4Disk, Path]:
                folder = tmp_path_factory.mktemp("disk")
                return make_disk("ordered" if system == "torn" else system, folder, patch), folder

            return what_is_torn(make) if system == "torn" else what_is_left(make, parts(new=system in _WRITEBACK))

    return found


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[CrashModel], Left]:
    """The states of a recording of each change: all of them, and under `... at the end` those after the whole change."""

    @cache
    def states(model: CrashModel) -> Left:
        found: dict[str, set[str]] = {}
        at = tmp_path_factory.mktemp("memory")
        disk = FuseDisk(at)
        try:
            for name, change in ALL.items():
                running = begun(change, at / name)
                disk.sync()
                disk.record()
                assert next(running, "over") == "over"
                changes = disk.recorded().changes
                states, more = disk.states(model)
                assert not more
                found[name], found[f"{name} at the end"] = set(), set()
                for state in states:
                    disk.restore(state)
                    cut(disk)
                    found[name].add(in_words(at / name))
                    if state.name.startswith(f"{changes}-"):
                        found[f"{name} at the end"].add(in_words(at / name))
        finally:
            disk.close()
        return found

    return states


OF = [("ordered", "ext4"), ("at once", "ext4"), ("locked reads", "ext4"), ("torn", "torn"), *((each, "writeback") for each in _WRITEBACK)]


@pytest.mark.parametrize(
    ("system", "model", "name"),
    [
        (system, model, name)
        for system, model in [*OF, *((each, "posix") for each in ("torn", *MOUNTS))]
        for name in ALL
        if name not in _STALE.get(system, ())
    ],
)
def test_what_is_left_is_listed(
    left: Callable[[str], Left], listed: Callable[[CrashModel], Left], system: str, model: CrashModel, name: str
) -> None:
    """No state is forgotten."""
    seen = {each for each in left(system)[name] if name not in RACES or not _HALF_COPIED.search(each)}
    assert seen <= listed(model)[name]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(("model", "systems"), [("ext4", ["ordered"]), ("torn", ["ordered", "torn"]), ("writeback", _WRITEBACK)])
def test_what_is_listed_is_left(
    left: Callable[[str], Left], listed: Callable[[CrashModel], Left], model: CrashModel, systems: list[str], name: str
) -> None:
    """No state decides that a real file system cannot leave."""
    assert listed(model)[f"{name} at the end"] <= set().union(*(left(system)[name] for system in systems))


@pytest.mark.parametrize("name", ALL)
def test_posix_has_what_the_others_have(listed: Callable[[CrashModel], Left], name: str) -> None:
    """It is the widest."""
    assert listed("ext4")[name] | listed("torn")[name] | listed("writeback")[name] <= listed("posix")[name]
