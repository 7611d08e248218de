"""The disk in memory as a part of a launch: chosen, named when it cannot be had, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from storeproof import native_support
from storeproof.cleanup.sweep import sweep_directories
from storeproof.disk import fuse, methods
from storeproof.disk.ext4 import unmount
from storeproof.disk.fuse import FuseDisk
from storeproof.disk.methods import PowerCutMethod, make_disk
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch.handle import FaultMeans
from storeproof.launch.process import ProcessHandle
from tests.disk.files import Make, mount_copied, mounts, names, write
from tests.launch.small import GREETS, WITHOUT_REAPER, Run, eventually, python_server, request

mounting = pytest.mark.usefixtures("memory_disks")
ON_FUSE = "power_cut=PowerCutMethod('fuse')"


@mounting
def test_it_is_gone_when_it_is_closed(make: Make, data: Path) -> None:
    """`close` removes the mount, and may be called twice."""
    made = make()
    assert str(data) in mounts()
    made.close()
    made.close()
    assert str(data) not in mounts()
    assert names(data) == []


@mounting
def test_a_process_that_has_ended_is_named_and_its_mount_removed(make: Make, data: Path) -> None:
    """A dead host process is a failure of the machine, and its mount can be removed."""
    made = make()
    made._host.kill()
    made._host.wait()
    with pytest.raises(MachineFailed, match=r"the process of the file system at .* has ended"):
        made.cut()
    assert str(data) in mounts()  # it answers nothing any longer
    unmount(data)
    assert str(data) not in mounts()


@mounting
def test_a_file_that_another_process_holds_open_keeps_the_old_mount_for_that_process_alone(make: Make, data: Path) -> None:
    """An open file does not prevent the remount, and sees the old, aborted file system."""
    made = make()
    held = os.open(data / "open", os.O_CREAT | os.O_WRONLY)
    made.cut()
    made.remount()
    with pytest.raises(OSError, match=r"not connected|aborted"):
        os.fsync(held)
    assert names(data) == []
    with suppress(OSError):
        os.close(held)


@mounting
def test_a_copy_of_the_mount_in_another_namespace_changes_nothing(make: Make, data: Path) -> None:
    """A container that is just starting has one, and with it the session would go on."""
    made = make()
    write(data / "synced", "kept", sync=True)
    write(data / "unsynced", "lost", sync=False)
    with mount_copied(data):
        for _ in range(2):
            made.cut()
            made.remount()
            assert names(data) == ["synced"]
        assert (data / "synced").read_text() == "kept"
        write(data / "again", "works", sync=True)


@mounting
def test_a_server_loses_power_and_starts_again(tmp_path: Path) -> None:
    """A handle on this disk can be cut and started again, and leaves nothing."""
    handle = ProcessHandle(request(python_server(GREETS), tmp_path, power_cut=PowerCutMethod("fuse")))
    try:
        assert handle.power_cut_method == "a file system in memory (FUSE)"
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


@mounting
def test_a_cut_comes_in_place_of_a_sync(make: Make, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync fails with an error, and what it synced before is there."""
    monkeypatch.setattr(fuse, "_SYNC_SECONDS", 30.0)
    made = make(at_sync=True)
    assert made.method == "a file system in memory (FUSE, cut in place of a sync)"
    synced: list[int] = []

    def write() -> None:
        with (data / "log").open("wb", buffering=0) as file, pytest.raises(OSError, match="Input/output error"):
            while True:
                file.write(b"line\n")
                os.fsync(file.fileno())
                synced.append(file.tell())
                sleep(0.005)

    writer = Thread(target=write)
    writer.start()
    eventually(lambda: len(synced) > 2)
    before = len(synced)
    made.cut()
    writer.join()
    assert len(synced) - before >= 6  # the seed draws the seventh sync from then on
    made.remount()
    assert (data / "log").stat().st_size == synced[-1]


@mounting
def test_a_cut_does_not_wait_forever_for_a_sync(make: Make, data: Path) -> None:
    """A cut in place of a sync happens also if no sync comes."""
    made = make(at_sync=True)
    (data / "log").write_text("not synced")
    made.cut()
    made.remount()
    assert names(data) == []


@mounting
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_no_mount_is_left_by_a_run_that_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    """Signals, also SIGKILL, leave no mount."""
    run = Run(tmp_path, fields=ON_FUSE)
    assert str(tmp_path) in mounts()
    run.end(number)
    assert eventually(lambda: run.left() == [])
    assert eventually(lambda: str(tmp_path) not in mounts())


@mounting
def test_the_next_run_removes_what_a_dead_one_and_its_disk_left(tmp_path: Path) -> None:
    """A sweep removes the mount of a run whose host process was killed too."""
    run = Run(tmp_path, before=WITHOUT_REAPER, fields=ON_FUSE)
    hosts = subprocess.run(["pgrep", "-f", f"fuse_host {tmp_path}"], capture_output=True, text=True, check=True).stdout.split()
    assert len(hosts) == 1
    os.kill(int(hosts[0]), signal.SIGKILL)
    run.end(signal.SIGKILL)
    assert str(tmp_path) in mounts()
    sweep_directories(tmp_path)
    assert run.left() == []
    assert str(tmp_path) not in mounts()


@mounting
def test_the_first_method_that_can_be_had_is_taken(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` falls back to FUSE and leaves no image; where nothing works all reasons are given."""

    def refuse(at: Path, image: Path) -> None:
        image.touch()
        raise NotAvailable("no loop device", "get one")

    monkeypatch.setattr(methods, "Ext4Disk", refuse)
    made = make_disk(PowerCutMethod(), data, data.parent / "image")
    made.close()
    assert made.method == "a file system in memory (FUSE)"
    assert not (data.parent / "image").exists()
    monkeypatch.setattr(fuse, "DEVICE", "/dev/no-such-device")
    with pytest.raises(NotAvailable, match=r"no loop device; .*needs FUSE: /dev/no-such-device: No such file.*; get one, or modprobe fuse"):
        make_disk(PowerCutMethod(), data, data.parent / "image")
    with pytest.raises(NotAvailable, match=r"no loop device; get one$"):
        make_disk(PowerCutMethod("ext4"), data, data.parent / "image")


def test_without_the_compiled_part_it_is_not_available(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compiled part it is `NotAvailable`, with the line that installs it."""
    monkeypatch.setattr(native_support, "present", lambda: False)
    with pytest.raises(NotAvailable, match=r"needs the compiled part of storeproof, which was not built .*pip install .*Rust"):
        FuseDisk(data)


def test_without_root_and_its_program_it_is_not_available(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root and fusermount3 it is `NotAvailable`."""
    monkeypatch.setattr(native_support, "present", lambda: True)
    monkeypatch.setattr(fuse, "DEVICE", "/dev/null")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(fuse.shutil, "which", lambda *_, **__: None)
    with pytest.raises(NotAvailable, match="needs the program fusermount3; apt-get install fuse3"):
        FuseDisk(data)
