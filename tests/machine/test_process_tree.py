"""Which processes belong to a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.machine import process_tree
from storeproof.machine.process_tree import Stat, members, read_stat

PROGRAM = os.path.realpath(sys.executable)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Stat]:
    """A process in the directory, with a child that has a session of its own."""
    child = "import subprocess, time; subprocess.Popen(['sleep', '60'], start_new_session=True); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", child], cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = read_stat(process.pid)
        assert found is not None
        whole = members(tmp_path, {(found.pid, found.start)}, {PROGRAM})
        try:
            yield found
        finally:
            for each in whole:
                os.kill(each.pid, 9)


def test_a_leader_and_what_descends_from_it(server: Stat, tmp_path: Path) -> None:
    """Wherever these run: only what is older than the first leader is left out."""
    whole = members(tmp_path / "elsewhere", {(server.pid, server.start)}, ())
    assert (whole[0].pid, whole[0].start) == (server.pid, server.start)
    assert len(whole) == 2


def test_before_a_leader_is_recorded_the_program_and_the_directory_tell(server: Stat, tmp_path: Path) -> None:
    """storeproof may be killed between a start and its record."""
    assert next(each.pid for each in members(tmp_path, (), {PROGRAM})) == server.pid


def test_what_remains_of_an_earlier_start_belongs_to_it(server: Stat, tmp_path: Path) -> None:
    """A server that was started again has several leaders."""
    assert server.pid in {each.pid for each in members(tmp_path, {(server.pid, server.start), (1, server.start + 100)}, ())}


def test_what_is_older_than_the_first_leader_does_not_belong(server: Stat, tmp_path: Path) -> None:
    """It cannot be of this server, whatever directory it is in."""
    assert not members(tmp_path, {(1, server.start + 1)}, {PROGRAM})


def test_a_process_that_was_seen_before_is_read_again_only_if_it_may_belong(
    server: Stat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is older is known by the inode of its directory in /proc; a process that takes over a number has another."""
    members(tmp_path, {(server.pid, server.start)}, ())
    read: list[int] = []

    def reading(pid: int) -> Stat | None:
        read.append(pid)
        return read_stat(pid)

    monkeypatch.setattr(process_tree, "read_stat", reading)
    assert len(members(tmp_path, {(server.pid, server.start)}, ())) == 2
    assert server.pid in read
    assert 1 not in read
    inode, start = process_tree._starts[server.pid]
    process_tree._starts[server.pid] = (inode + 1, 0)  # as if an older process had had the number
    assert len(members(tmp_path, {(server.pid, server.start)}, ())) == 2
    assert process_tree._starts[server.pid] == (inode, start)
