"""A limit of memory: where its group is made, what is written there, and that the kernel keeps it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable
from storeproof.machine.memory_group import Hierarchy, MemoryGroup, find_hierarchy, hierarchy

V1 = "35 31 0:32 / {point}/memory rw,relatime - cgroup cgroup rw,memory\n"
V2 = "41 31 0:38 / {point}/unified rw,relatime - cgroup2 cgroup2 rw\n"
MIB = 2**20


def test_version_1_is_used_inside_of_our_own_group(tmp_path: Path) -> None:
    """Limits from above hold then; beside it version 2 may exist without a controller for memory."""
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified" / "cgroup.controllers").write_text("")
    own = "9:name=systemd:/\n4:memory:/runs/7\n0::/\n"
    found = find_hierarchy((V2 + V1).format(point=tmp_path), own)
    assert found == Hierarchy(tmp_path / "memory" / "runs" / "7", 1)


def test_version_2_is_used_beside_our_own_group(tmp_path: Path) -> None:
    """A group with processes may not have limited ones inside; the root may."""
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified" / "cgroup.controllers").write_text("cpu io memory pids\n")
    mountinfo = V2.format(point=tmp_path)
    assert find_hierarchy(mountinfo, "0::/user.slice/session-1.scope\n") == Hierarchy(tmp_path / "unified" / "user.slice", 2)
    assert find_hierarchy(mountinfo, "0::/\n") == Hierarchy(tmp_path / "unified", 2)


def test_a_machine_without_is_told() -> None:
    """With what to do."""
    with pytest.raises(NotAvailable, match=r"no control group of this machine limits memory; .*--launch=container"):
        find_hierarchy("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n", "0::/\n")


def test_what_is_written_for_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit, no swap, and the controller handed on by the parent. The kernel makes the files; here they are made as it does."""
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids")
    real = Path.mkdir

    def mkdir(self: Path) -> None:
        real(self)
        for name in ("memory.max", "memory.swap.max"):
            (self / name).write_text("max")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    group = MemoryGroup(tmp_path / "storeproof-1", 64 * MIB)
    group.make(2)
    assert (group.path / "memory.max").read_text() == str(64 * MIB)
    assert (group.path / "memory.swap.max").read_text() == "0"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"
    (group.path / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\noom_group_kill 0\n")
    assert group.kills() == 1


def test_a_group_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """What was found, and what to do; nothing is left."""
    (tmp_path / "cgroup.subtree_control").write_text("memory")
    (tmp_path / "storeproof-1").write_text("in its place")
    with pytest.raises(NotAvailable, match=r"cannot be limited in .*: File exists; run it as root"):
        MemoryGroup(tmp_path / "storeproof-1", MIB).make(2)


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    """A real one of 32 MiB."""
    try:
        where = hierarchy()
        made = MemoryGroup(where.parent / f"storeproof-test-{os.getpid()}", 32 * MIB)
        made.make(where.version)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    yield made
    made.remove()
    assert not made.path.exists()


TAKES = "import sys; input(); taken = b'x' * (int(sys.argv[1]) << 20); print('taken')"


@pytest.mark.parametrize(("mib", "status", "kills"), [(4, 0, 0), (64, -signal.SIGKILL, 1)])
def test_the_kernel_ends_what_needs_more(group: MemoryGroup, mib: int, status: int, kills: int) -> None:
    """And counts it; what needs less runs to its end."""
    process = subprocess.Popen([sys.executable, "-c", TAKES, str(mib)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    group.add(process.pid)
    assert group.pids() == {process.pid}
    process.communicate(b"\n")
    assert process.returncode == status
    assert group.kills() == kills


def test_a_process_that_has_ended_is_not_put_there(group: MemoryGroup) -> None:
    """It is no error: the server's end is told elsewhere."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    group.add(process.pid)
    assert group.pids() == set()
