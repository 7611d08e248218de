"""The file system under a store's data: what was synced stays, all else vanishes, and nothing of it is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.cleanup.sweep import sweep_directories
from storeproof.disk import ext4, loop
from storeproof.disk.ext4 import Ext4Disk, unmount
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch.handle import FaultMeans
from storeproof.launch.process import ProcessHandle
from tests.disk.files import mount_copied, mounts
from tests.launch.small import GREETS, WITHOUT_REAPER, Run, eventually, python_server, request

mounting = pytest.mark.usefixtures("able")


@pytest.fixture(scope="module")
def able(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Only where a volume can be had at all: not without root, nor in a container without loop devices."""
    folder = tmp_path_factory.mktemp("volume")
    (folder / "data").mkdir()
    try:
        Ext4Disk(folder / "data", folder / "image").close()
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ext4Disk]:
    (tmp_path / "data").mkdir()
    made = Ext4Disk(tmp_path / "data", tmp_path / "image")
    yield made
    made.close()


def write(path: Path, text: str, *, sync: bool) -> None:
    with path.open("w") as file:
        file.write(text)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def devices() -> str:
    return subprocess.run(["losetup", "--list", "--noheadings", "--output", "BACK-FILE"], capture_output=True, text=True, check=True).stdout


@mounting
def test_a_cut_takes_what_was_not_synced_and_nothing_else(made: Ext4Disk, tmp_path: Path) -> None:
    """After a cut, synced data is there, unsynced data is not, and the disk works again."""
    data = tmp_path / "data"
    assert list(data.iterdir()) == []
    write(data / "settled", "old", sync=False)
    made.sync()
    write(data / "unsynced", "lost", sync=False)
    write(data / "synced", "kept", sync=True)
    write(data / "late", "lost", sync=False)
    made.cut()
    with pytest.raises(OSError, match="Input/output error"):
        write(data / "after", "never", sync=False)
    made.remount()
    assert (data / "settled").read_text() == "old"
    assert (data / "synced").read_text() == "kept"
    assert not (data / "late").exists()
    write(data / "again", "works", sync=True)


@mounting
def test_it_is_gone_when_it_is_closed(made: Ext4Disk, tmp_path: Path) -> None:
    """`close` removes mount and loop device, and may be called twice."""
    assert str(tmp_path) in mounts()
    assert str(tmp_path) in devices()
    made.close()
    made.close()
    assert str(tmp_path) not in mounts()
    assert eventually(lambda: str(tmp_path) not in devices())


@mounting
def test_a_file_that_another_process_holds_open_keeps_the_old_mount_for_that_process_alone(made: Ext4Disk, tmp_path: Path) -> None:
    """An open file does not prevent the remount, and sees the old, dead file system."""
    with (tmp_path / "data" / "open").open("w") as held:
        os.fsync(held.fileno())
        made.cut()
        made.remount()
        with pytest.raises(OSError, match="Input/output error"):
            os.fsync(held.fileno())
        write(tmp_path / "data" / "open", "of the new mount", sync=True)
    made.close()
    assert str(tmp_path) not in mounts()


def fill(made: Ext4Disk, data: Path) -> None:
    """Some that is durable in each of the ways in which it can be, and some that is not."""
    write(data / "settled", "old", sync=False)
    made.sync()
    for number in range(200):
        write(data / f"synced-{number}", str(number) * 5000, sync=number % 3 == 0)
    write(data / "last", "kept", sync=True)
    (data / "synced-0").unlink()
    write(data / "unsynced", "lost", sync=False)


def content(data: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in data.iterdir()}


@mounting
def test_a_copy_of_the_mount_in_another_namespace_changes_nothing(made: Ext4Disk, tmp_path: Path) -> None:
    """A container that is just starting has one: mounted again, the device would be the file system that was cut off."""
    data = tmp_path / "data"
    fill(made, data)
    with mount_copied(data):
        made.cut()
        made.remount()
        found = content(data)
        assert found["settled"] == b"old"
        assert found["last"] == b"kept"
        assert "unsynced" not in found
        write(data / "again", "works", sync=True)
        made.cut()
        made.remount()
        assert (data / "again").read_text() == "works"
    made.close()
    assert eventually(lambda: str(tmp_path) not in devices())


@mounting
def test_what_is_copied_is_what_is_mounted_again(made: Ext4Disk, tmp_path: Path) -> None:
    """The file of a cut volume, copied while the old mount is alive elsewhere, against the same file mounted when it is not."""
    data = tmp_path / "data"
    fill(made, data)
    copy, kept = made._copy_to_new_device, tmp_path / "kept"
    with mount_copied(data), pytest.MonkeyPatch.context() as patched:
        made.cut()
        patched.setattr(made, "_copy_to_new_device", lambda old: (os.link(tmp_path / "image", kept), copy(old))[1])
        made.remount()
    copied = content(data)
    assert eventually(lambda: str(kept) not in devices())
    unmount(data)
    subprocess.run(["mount", "-o", "loop", kept, data], check=True)
    assert content(data) == copied
    assert copied["last"] == b"kept"
    unmount(data)
    kept.unlink()


@mounting
def test_a_machine_without_room_for_the_copy_is_no_loss(tmp_path: Path) -> None:
    """A remount that fails for lack of space can be repeated, and nothing durable is lost."""
    (tmp_path / "small").mkdir()
    (tmp_path / "data").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "small", tmp_path / "small"], check=True)
    made = Ext4Disk(tmp_path / "data", tmp_path / "small" / "image")
    try:
        with mount_copied(tmp_path / "data"):
            write(tmp_path / "data" / "some", "x" * 1_000_000, sync=True)
            made.cut()
            with (tmp_path / "small" / "ballast").open("wb") as ballast:
                os.posix_fallocate(ballast.fileno(), 0, shutil.disk_usage(tmp_path / "small").free - 2**16)
            with pytest.raises(
                MachineFailed, match=r"in another mount namespace and could not be copied: cp: .*No space left.*; make room"
            ):
                made.remount()
            (tmp_path / "small" / "ballast").unlink()
            made.remount()
            assert (tmp_path / "data" / "some").stat().st_size == 1_000_000
    finally:
        made.close()
        assert eventually(lambda: str(tmp_path) not in devices())
        unmount(tmp_path / "small")


@mounting
def test_a_server_loses_power_and_starts_again(tmp_path: Path) -> None:
    """A handle on this disk can be cut, and started again afterwards."""
    handle = ProcessHandle(request(python_server(GREETS), tmp_path, power_cut=PowerCutMethod()))
    try:
        handle.start()
        handle.quiesce()
        assert handle.cannot(FaultMeans.CUT_POWER) is None
        handle.cut_power()
        assert not handle.alive()
        handle.start()
    finally:
        handle.close()
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in mounts()


def test_a_server_on_another_file_system_cannot_lose_power(tmp_path: Path) -> None:
    """A handle without a disk of ours says why it cannot be cut, and refuses."""
    handle = ProcessHandle(request(python_server(GREETS), tmp_path))
    try:
        assert "is not on a disk whose power can be cut" in str(handle.cannot(FaultMeans.CUT_POWER))
    finally:
        handle.close()


@mounting
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_no_mount_is_left_by_a_run_that_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    """Signals, also SIGKILL, leave no mount and no loop device."""
    run = Run(tmp_path, fields="power_cut=PowerCutMethod()")
    assert str(tmp_path) in mounts()
    run.end(number)
    assert eventually(lambda: run.left() == [])
    assert str(tmp_path) not in mounts()
    assert eventually(lambda: str(tmp_path) not in devices())


@mounting
def test_the_next_run_unmounts_what_a_dead_one_left(tmp_path: Path) -> None:
    """Without a reaper a sweep removes the mount that a killed run left."""
    run = Run(tmp_path, before=WITHOUT_REAPER, fields="power_cut=PowerCutMethod()")
    run.end(signal.SIGKILL)
    assert str(tmp_path) in mounts()
    sweep_directories(tmp_path)
    assert run.left() == []
    assert str(tmp_path) not in mounts()


def test_without_root_it_is_not_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root it is `NotAvailable`, with the command that helps."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotAvailable, match=r"only root may mount one; sudo -E "):
        Ext4Disk(tmp_path, tmp_path / "image")


@mounting
def test_without_the_program_it_is_not_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without mkfs.ext4 it is `NotAvailable`, and no device is left."""
    monkeypatch.setattr(ext4.shutil, "which", lambda *_, **__: None)
    with pytest.raises(NotAvailable, match=r"needs the program mkfs.ext4; apt-get install"):
        Ext4Disk(tmp_path, tmp_path / "image")
    assert str(tmp_path) not in devices()


def test_a_machine_without_loop_devices_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /dev/loop-control it is `NotAvailable`."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(loop, "_CONTROL", "/dev/no-such-device")
    with pytest.raises(NotAvailable, match=r"cannot be created: .*No such file or directory: '/dev/no-such-device'"):
        Ext4Disk(tmp_path, tmp_path / "image")


@mounting
def test_no_device_is_left_by_who_is_killed_at_any_moment(tmp_path: Path) -> None:
    """The kernel detaches it: it need not be found."""
    (tmp_path / "image").open("wb").truncate(2**20)
    code = (
        f"import os, signal; from pathlib import Path; from storeproof.disk.loop import attach; attach(Path({str(tmp_path / 'image')!r}))"
    )
    done = subprocess.run([sys.executable, "-c", f"{code}; os.kill(os.getpid(), signal.SIGKILL)"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert eventually(lambda: str(tmp_path) not in devices())


def test_to_unmount_what_is_not_mounted_does_nothing(tmp_path: Path) -> None:
    """Unmounting a plain or a missing directory is no error."""
    unmount(tmp_path)
    unmount(tmp_path / "not there")
