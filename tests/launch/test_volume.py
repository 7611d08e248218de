"""The file system under a store's data: what was synced stays, all else vanishes, and nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch import volume
from storeproof.launch.process import ProcessHandle
from storeproof.launch.sweep import sweep_directories
from storeproof.launch.volume import Volume, unmount

from .small import GREETS, Run, eventually, greeted, python_server

mounting = pytest.mark.usefixtures("able")


@pytest.fixture(scope="module")
def able(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Only where a volume can be had at all: not without root, nor in a container without loop devices."""
    folder = tmp_path_factory.mktemp("volume")
    (folder / "data").mkdir()
    try:
        Volume(folder / "data", folder / "image").close()
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Volume]:
    (tmp_path / "data").mkdir()
    made = Volume(tmp_path / "data", tmp_path / "image")
    yield made
    made.close()


def write(path: Path, text: str, *, sync: bool) -> None:
    with path.open("w") as file:
        file.write(text)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def mounts() -> str:
    return Path("/proc/self/mounts").read_text()


def devices() -> str:
    return subprocess.run(["losetup", "--list", "--noheadings", "--output", "BACK-FILE"], capture_output=True, text=True, check=True).stdout


@mounting
def test_a_cut_takes_what_was_not_synced_and_nothing_else(made: Volume, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert list(data.iterdir()) == []
    write(data / "settled", "old", sync=False)
    made.settle()
    write(data / "unsynced", "lost", sync=False)
    write(data / "synced", "kept", sync=True)
    write(data / "late", "lost", sync=False)
    made.cut()
    with pytest.raises(OSError, match="Input/output error"):
        write(data / "after", "never", sync=False)
    made.renew()
    assert (data / "settled").read_text() == "old"
    assert (data / "synced").read_text() == "kept"
    assert not (data / "late").exists()
    write(data / "again", "works", sync=True)


@mounting
def test_it_is_gone_when_it_is_closed(made: Volume, tmp_path: Path) -> None:
    assert str(tmp_path) in mounts()
    assert str(tmp_path) in devices()
    made.close()
    made.close()
    assert str(tmp_path) not in mounts()
    assert eventually(lambda: str(tmp_path) not in devices())


@mounting
def test_a_mount_that_is_still_in_use_is_named(made: Volume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume, "GONE_SECONDS", 0.2)
    with (tmp_path / "data" / "open").open("w"), pytest.raises(StoreDied, match=r"is still in use 0\.2 s after its store ended"):
        made.renew()


@mounting
def test_a_copy_of_the_mount_in_another_namespace_is_waited_for(made: Volume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that is just starting has one: mounted again at once, it would be the file system that was cut off."""
    monkeypatch.setattr(volume, "GONE_SECONDS", 0.3)
    other = subprocess.Popen(["unshare", "--mount", "sleep", "600"])
    try:
        assert eventually(lambda: str(tmp_path) in Path(f"/proc/{other.pid}/mounts").read_text())
        assert eventually(lambda: Path(f"/proc/{other.pid}/ns/mnt").readlink() != Path("/proc/self/ns/mnt").readlink())
        made.cut()
        with pytest.raises(StoreDied, match="mounted in another mount namespace"):
            made.renew()
    finally:
        other.kill()
        other.wait()
    made.renew()
    write(tmp_path / "data" / "again", "works", sync=True)


@mounting
def test_a_server_loses_power_and_starts_again(tmp_path: Path) -> None:
    handle = ProcessHandle("small", python_server(GREETS), {}, greeted, tmp_path, on_volume=True)
    try:
        handle.start()
        handle.settle()
        assert handle.cannot("power_cut") is None
        handle.cut_power()
        assert not handle.alive()
        handle.start()
    finally:
        handle.close()
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in mounts()


def test_a_server_on_another_file_system_cannot_lose_power(tmp_path: Path) -> None:
    handle = ProcessHandle("small", python_server(GREETS), {}, greeted, tmp_path)
    try:
        assert "does not lie on a file system that could be cut off" in str(handle.cannot("power_cut"))
    finally:
        handle.close()


@mounting
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_no_mount_is_left_by_a_run_that_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    run = Run(tmp_path, before="import functools; ProcessHandle = functools.partial(ProcessHandle, on_volume=True)")
    assert str(tmp_path) in mounts()
    run.end(number)
    assert eventually(lambda: run.left() == [])
    assert str(tmp_path) not in mounts()
    assert eventually(lambda: str(tmp_path) not in devices())


@mounting
def test_the_next_run_unmounts_what_a_dead_one_left(tmp_path: Path) -> None:
    unguarded = "import functools, storeproof.launch.process as p; p.guard = lambda base: None"
    run = Run(tmp_path, before=f"{unguarded}; ProcessHandle = functools.partial(ProcessHandle, on_volume=True)")
    run.end(signal.SIGKILL)
    assert str(tmp_path) in mounts()
    sweep_directories(tmp_path)
    assert run.left() == []
    assert str(tmp_path) not in mounts()


def test_without_root_it_is_not_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotAvailable, match=r"only root may mount one; sudo -E "):
        Volume(tmp_path, tmp_path / "image")


def test_without_the_programs_it_is_not_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(volume.shutil, "which", lambda *_, **__: None)
    with pytest.raises(NotAvailable, match="needs the program losetup; apt-get install"):
        Volume(tmp_path, tmp_path / "image")


def test_a_machine_without_loop_devices_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    losetup = tmp_path / "losetup"
    losetup.write_text("#!/bin/sh\necho losetup: cannot find an unused loop device >&2\nexit 1\n")
    losetup.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NotAvailable, match="cannot be had: losetup: cannot find an unused loop device"):
        Volume(tmp_path, tmp_path / "image")


def test_to_unmount_what_is_not_mounted_does_nothing(tmp_path: Path) -> None:
    unmount(tmp_path)
    unmount(tmp_path / "not there")
