"""`--disk` names directories on disks, and what cannot be one is a wrong use of the command."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from storeproof.cleanup.registry import registry
from storeproof.errors import NotAvailable, UsageError
from storeproof.machine.mounts import Mount
from storeproof.plugin import device_models
from storeproof.plugin import disks as module
from storeproof.plugin.device_models import mount_models
from storeproof.plugin.disks import models_among, named_disks, same_device
from storeproof.spec.device import DeviceSheet
from storeproof.spec.questions.read_devices import read_device


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the directories `one` and `two` on a disk, wherever they are in fact, and a file."""
    monkeypatch.setattr(module, "mount_of", lambda path: Mount("8:1", "/dev/sda1", "tmpfs" if path.name == "memory" else "ext4", "rw"))
    for name in ("one", "two", "memory"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def disks(*given: str, endpoints: tuple[str, ...] = (), **option: Any) -> dict[str, Path | DeviceSheet]:
    return named_disks(Namespace(**{"disk": list(given), "data_dir": None, "needs": None, **option}), endpoints)


def test_each_disk_has_its_directory(folder: Path) -> None:
    """In the order of the command line, with whole paths; without the option there is none."""
    assert list(disks("nvme=two", "sas=one").items()) == [("nvme", folder / "two"), ("sas", folder / "one")]
    assert disks() == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["one"], "--disk takes NAME=PATH, such as nvme=/mnt/nvme, or NAME=model:MODEL; found 'one'"),
        (["=one"], "--disk takes NAME=PATH"),
        (["a="], "--disk takes NAME=PATH"),
        (["A@b=one"], "--disk: `A@b` is no name of a disk; allowed: lower case letters, digits"),
        (["a=none"], "--disk a: none is not a directory; create it first"),
        (["a=file"], "--disk a: file is not a directory; create it first"),
        (["a=memory"], r"--disk a: memory is in memory \(tmpfs\), which is no disk; name a directory on one"),
        (["a=model:ssd"], "--disk a: unknown model of a device `ssd`.*; allowed: hdd-15k, nvme, sata-ssd$"),
        (["a=model:"], "--disk a: unknown model of a device ``; allowed: hdd-15k, nvme, sata-ssd$"),
        (["a=model:nvme", "a=one"], "--disk names two disks `a`: model:nvme and .*one; give each a name of its own"),
        (["a=one", "b=two", "a=two"], "--disk names two disks `a`: .*one and .*two; give each a name of its own"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_no_disk(given: list[str], message: str) -> None:
    """The message says what was found, and what to do."""
    with pytest.raises(UsageError, match=message):
        disks(*given)


def test_a_model_is_named_beside_disks(folder: Path) -> None:
    """It has the sheet of its device, and the others have none. A directory that is called so is named by a path."""
    (folder / "model:nvme").mkdir()
    found = disks("a=model:hdd-15k", "b=one", "c=./model:nvme")
    assert found == {"a": read_device("hdd-15k"), "b": folder / "one", "c": folder / "model:nvme"}
    assert models_among(found) == {"a": read_device("hdd-15k")}


def test_a_model_that_cannot_be_mounted_is_a_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the disk and what is missing; the directory that was made for it is removed with all others of the run."""

    def refuse(*_: object) -> None:
        raise NotAvailable("a model of a device needs a moon", "wait")

    monkeypatch.setattr(device_models, "default_base", lambda: tmp_path)
    monkeypatch.setattr(device_models, "DeviceModel", refuse)
    with pytest.raises(UsageError, match=r"^--disk a: a model of a device needs a moon; wait$"):
        mount_models({"a": read_device("nvme")})
    registry.close_all()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("folder")
def test_a_directory_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """By permissions, or since its file system is mounted read-only."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match="--disk a: one cannot be written to by this user; give it to this user, or name another"):
        disks("a=one")


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"data_dir": "two"}, "--disk and --data-dir exclude each other: on each disk the data is below the directory"),
        ({"needs": "needs.yaml"}, "--disk and --needs exclude each other: a needs file grants all candidates one machine"),
        ({"endpoints": ("redis",)}, "--disk is for servers that storeproof starts, and redis is an endpoint: its disk is not ours"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_excludes_it(beside: dict[str, Any], message: str) -> None:
    """To ignore the option would be to lie."""
    with pytest.raises(UsageError, match=message):
        disks("a=one", **beside)


def test_two_names_of_one_disk_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are allowed, as a control, and a user who meant two disks is told; of two disks nothing is said."""
    both = {"a": folder / "one", "b": folder / "two"}
    (line,) = same_device(both)
    assert line == "the disks a and b are directories of one file system: between them is no difference but noise"
    monkeypatch.setattr(Path, "stat", lambda path: Namespace(st_dev=len(path.name) if path.name == "one" else 0))
    assert list(same_device(both)) == []
