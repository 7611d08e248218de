"""The machine is described from what its kernel says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.machine.mounts import mount_of
from storeproof.result.environment import collect_environment


def test_this_machine_is_described(tmp_path: Path) -> None:
    """Every field is filled, and the measured limits are passed on as they are."""
    found = collect_environment(
        tmp_path, fsync_us=812.5, loopback_us=20.0, requires=["redis>=5", "surely-not-installed>=1", "not a requirement ("]
    )
    assert found.fsync_us == 812.5
    assert found.loopback_us == 20.0
    assert found.cores == len(os.sched_getaffinity(0))
    assert found.memory_bytes > 2**28
    assert all((found.cpu, found.kernel, found.disk, found.filesystem, found.python))
    assert found.packages["redis"]
    assert "surely-not-installed" not in found.packages


def test_the_data_directory_need_not_exist_yet() -> None:
    """Its nearest mount counts."""
    assert collect_environment(Path("/dev/shm/not/there"), 1, 1).filesystem.startswith("tmpfs")


def test_the_longest_mount_point_wins_and_escapes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/data` must not be taken for the mount of `/database`; the kernel writes a blank as `\\040`."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
        "2 1 8:2 / /data rw - xfs /dev/sdb1 rw\n"
        "3 1 8:3 / /my\\040disk rw,noatime shared:1 - btrfs /dev/sdc1 rw\n"
    )
    real = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, **how: real(mounts if str(self) == "/proc/self/mountinfo" else self, **how))
    assert mount_of(Path("/database/x")).filesystem == "ext4"
    assert mount_of(Path("/data/x")).source == "/dev/sdb1"
    assert mount_of(Path("/my disk/x")).options == "rw,noatime"
