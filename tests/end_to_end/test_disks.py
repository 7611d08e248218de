"""A run on two disks has each store twice, with the same cases, and a data sheet of each disk."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from storeproof.disk.device_model import DeviceModel
from storeproof.errors import NotAvailable
from storeproof.machine.mounts import mount_of
from storeproof.result.json_file import read_result
from storeproof.spec.questions.read_devices import read_device
from tests.end_to_end.running import leaves_nothing, start, struck


def test_two_directories_are_two_disks(tmp_path: Path) -> None:
    """Their names are in the result, on the screen and in the line that goes on; they are measured in the same blocks."""
    if mount_of(tmp_path).filesystem == "tmpfs":
        pytest.skip("the temporary directory is in memory, which is no disk")
    data = tmp_path / "data"
    for name in ("one", "two"):
        (data / name).mkdir(parents=True)
    done = start(
        tmp_path, f"--disk=one={data / 'one'}", f"--disk=two={data / 'two'}", "-k", "settings or stateful.single_key or single-put-distinct"
    )
    assert done.code == 0, done.said
    one, two = done.result["stores"]
    assert [each["disk"] for each in (one, two)] == ["one", "two"]
    assert _outcomes(one) == _outcomes(two)
    assert {"pass"} < set(_outcomes(one).values()), "and some are left out"
    assert one["measurements"]
    for store, other in ((one, "two"), (two, "one")):
        assert {tuple(each["interleaved_with"]) for each in store["measurements"]} == {(f"sqlite:wal-full@{other}",)}
    sheets = read_result(tmp_path / "report").environment.disks
    assert list(sheets) == ["one", "two"]
    for sheet in sheets.values():
        assert sheet.append is not None
        assert sheet.overwrite is not None
        assert sheet.append.p50 > 0
    assert "sqlite:wal-full@one" in done.said
    assert f"--disk=one={data / 'one'} --disk=two={data / 'two'}" in done.said
    assert "the disks one and two are directories of one file system" in " ".join(done.said.split())
    for name in ("one", "two"):
        assert list((data / name).iterdir()) == []
        (data / name).rmdir()
    leaves_nothing(tmp_path)


@pytest.fixture
def models(tmp_path: Path) -> None:
    """Only where a model of a device can be had."""
    places = tmp_path / "at", tmp_path / "beneath"
    for place in places:
        place.mkdir()
    try:
        DeviceModel(*places, read_device("nvme")).close()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    for place in places:
        place.rmdir()


@pytest.mark.usefixtures("models")
def test_a_model_is_a_disk_that_is_called_a_model(tmp_path: Path) -> None:
    """On the screen, in the result with its sheet beside what was measured, and in the line that goes on; then it is gone."""
    done = start(tmp_path, "--disk=hdd=model:hdd-15k", "--disk=nvme=model:nvme", "-k", "settings or stateful.single_key")
    assert done.code == 0, done.said
    said = " ".join(done.said.split())
    assert "the disk hdd is no device: Model of a hard disk of 15,000 rpm, write cache off, with the figures of HGST" in said
    assert "--disk=hdd=model:hdd-15k --disk=nvme=model:nvme" in done.said
    environment = read_result(tmp_path / "report").environment
    assert environment.disk.startswith("Model of a hard disk")
    for name, device in (("hdd", "hdd-15k"), ("nvme", "nvme")):
        sheet = environment.disks[name]
        assert sheet.model == read_device(device)
        assert sheet.disk == sheet.model.title
        assert sheet.filesystem.startswith("ext4")
        assert sheet.direct is not None
        assert sheet.direct.p50 >= sheet.model.write.at_least_us
    hard_disk = environment.disks["hdd"]
    assert hard_disk.append is not None
    assert hard_disk.append.p50 >= 2 * 5100, "the data, and the journal of the file system"
    assert _mounts_of(tmp_path) == []
    leaves_nothing(tmp_path)


@pytest.mark.usefixtures("models")
def test_nothing_is_left_of_a_model_when_the_run_is_killed(tmp_path: Path) -> None:
    """SIGKILL while a server on it is under load: the server, the mount, its loop device, its process and its directory are gone."""
    case = "performance.single-put-distinct-90/0i/4c"
    options = ("--disk=hdd=model:hdd-15k", "-k", "key_access or single-put", "-p", "striking")
    killed = start(tmp_path, *options, environment=struck(case, signal.SIGKILL, 0.5, "run"))
    assert killed.code == -signal.SIGKILL, killed.said
    leaves_nothing(tmp_path)
    assert _mounts_of(tmp_path) == []


def _mounts_of(folder: Path) -> list[str]:
    return [line for line in Path("/proc/mounts").read_text().splitlines() if f" {folder}/" in line]


def _outcomes(store: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["outcome"] for each in store["outcomes"]}
