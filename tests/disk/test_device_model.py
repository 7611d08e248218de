"""A model of a device as a part of a run: mounted, as slow as it says at least, and gone when it is closed."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storeproof import native_support
from storeproof.disk import device_model, device_model_host, ext4, fuse
from storeproof.disk.device_model import DeviceModel
from storeproof.errors import NotAvailable
from storeproof.machine.mounts import mount_of
from storeproof.spec.questions.read_devices import read_device
from tests.disk.files import mounts

BLOCK = 4096
HARD_DISK = read_device("hdd-15k")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The directory to mount it on, and the one beneath."""
    for name in ("at", "beneath"):
        (tmp_path / name).mkdir()
    return tmp_path / "at", tmp_path / "beneath"


@pytest.fixture
def hard_disk(places: tuple[Path, Path]) -> Iterator[Path]:
    """A model of a hard disk, where it is mounted. Only where one can be had at all."""
    try:
        made = DeviceModel(*places, HARD_DISK)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    yield places[0]
    made.close()


def blocks_of(path: Path, number: int) -> int:
    """A file with that number of blocks, all on the disk, opened for direct I/O."""
    path.write_bytes(os.urandom(number * BLOCK))
    opened = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC)
    os.fsync(opened)
    return opened


def read_block(opened: int, place: int) -> bytes:
    with mmap.mmap(-1, BLOCK) as aligned:
        assert os.preadv(opened, [aligned], place * BLOCK) == BLOCK
        return bytes(aligned)


def test_each_read_takes_as_long_as_on_the_device(hard_disk: Path) -> None:
    """Reads elsewhere, one after the other and eight at once: the hard disk serves them one after the other, and what it reads is what was
    written."""
    opened, shuffled = blocks_of(hard_disk / "file", 64), list(range(0, 64, 4))
    random.Random(1).shuffle(shuffled)
    started = time.perf_counter()
    found = [read_block(opened, place) for place in shuffled[:8]]
    middle = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        found += pool.map(lambda place: read_block(opened, place), shuffled[8:])
    ended = time.perf_counter()
    os.close(opened)
    assert middle - started >= 8 * HARD_DISK.read.elsewhere_us / 1e6
    # Of those at once one or two may be neighbours, in the order in which they come.
    assert ended - middle >= 6 * HARD_DISK.read.elsewhere_us / 1e6
    content = (hard_disk / "file").read_bytes()
    assert found == [content[place * BLOCK :][:BLOCK] for place in shuffled]


def test_a_sync_of_a_growing_file_costs_several_writes(hard_disk: Path) -> None:
    """Its data, and the blocks of the journal, of which the last follows the others too late."""
    with (hard_disk / "log").open("wb", buffering=0) as file:
        file.write(b"first")
        os.fsync(file)
        started = time.perf_counter()
        for _ in range(5):
            file.write(bytes(600))
            os.fdatasync(file)
        took = time.perf_counter() - started
    assert took >= 5 * 2 * HARD_DISK.write.elsewhere_us / 1e6


def test_it_is_a_disk_for_all_users(hard_disk: Path) -> None:
    """ext4 with nothing beneath it that shows, whose root others may enter."""
    assert mount_of(hard_disk).filesystem == "ext4"
    assert hard_disk.stat().st_mode & 0o777 == 0o755
    assert str(hard_disk.with_name("beneath")) not in mounts()


def test_what_it_holds_is_held_once(hard_disk: Path) -> None:
    """Its loop device reaches the file by direct I/O, without a second page cache."""
    loop = Path(mount_of(hard_disk).source).name
    assert Path(f"/sys/block/{loop}/loop/dio").read_text().strip() == "1"


def test_nothing_is_left_of_it(places: tuple[Path, Path]) -> None:
    """`close` unmounts it while a file on it is open, however much was not written yet, and may be called twice."""
    try:
        made = DeviceModel(*places, HARD_DISK)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    loop = Path(mount_of(places[0]).source).name
    (places[0] / "file").write_bytes(bytes(64 << 20))
    process = made._host.pid
    made.close()
    made.close()
    assert not Path(f"/proc/{process}").exists()
    assert str(places[0]) not in mounts()
    assert not Path(f"/sys/block/{loop}/loop/backing_file").exists()
    assert [list(place.iterdir()) for place in places] == [[], []]


@pytest.mark.usefixtures("hard_disk")
@pytest.mark.parametrize(
    ("missing", "message"), [(0, "needs to be mounted: .*No such file"), (1, "needs a FUSE file system: .*No such file")]
)
def test_what_its_process_cannot_do_is_told(places: tuple[Path, Path], missing: int, message: str) -> None:
    """In a line; what it had done is undone."""
    others = [place.with_name(f"other-{place.name}") for place in places]
    others[1 - missing].mkdir()
    with pytest.raises(NotAvailable, match=f"^a model of a device {message}") as told:
        DeviceModel(others[0], others[1], HARD_DISK)
    assert "\n" not in str(told.value)
    assert "other-" not in mounts()


def test_without_loop_devices_it_cannot_be_had(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anything left mounted."""

    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "/dev/loop-control")

    monkeypatch.setattr(device_model_host, "attach", refuse)
    with pytest.raises(NotAvailable, match=r"^a model of a device needs a loop device: .*'/dev/loop-control'$"):
        device_model_host.mount_over(places[1], places[0])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("root", "a model of a device is mounted, and only root may do that; sudo -E "),
        ("compiled part", "a model of a device needs the compiled part of storeproof"),
        ("fuse", "a model of a device needs FUSE: /dev/none: No such file or directory; modprobe fuse"),
        ("mkfs", "a model of a device needs the program mkfs.ext4; apt-get install e2fsprogs"),
    ],
)
def test_what_is_missing_is_told(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, what: str, message: str) -> None:
    """In one line, with the remedy."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000 if what == "root" else 0)
    monkeypatch.setattr(native_support, "present", lambda: what != "compiled part")
    monkeypatch.setattr(fuse, "DEVICE", "/dev/none" if what == "fuse" else os.devnull)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(NotAvailable) as told:
        DeviceModel(*places, HARD_DISK) if what != "mkfs" else ext4.make_file_system("/dev/none", device_model.WHAT)
    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
