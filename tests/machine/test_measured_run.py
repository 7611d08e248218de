"""What is measured of a command is the command's own."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.machine.measured_run import measured_run

_HOLDS = "import sys; held = bytearray(int(sys.argv[1]) << 20); sys.exit(3)"


def test_the_memory_of_who_measures_is_not_counted(tmp_path: Path) -> None:
    """A small program, run by a large one."""
    held = bytearray(200 << 20)
    found = measured_run([sys.executable, "-c", "pass"], tmp_path, at_most=60)
    assert len(held) >> 20 > found.megabytes > 1
    assert found.code == 0


def test_a_child_of_the_command_is_counted(tmp_path: Path) -> None:
    """The largest of all its processes."""
    parent = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {_HOLDS!r}, '150']).returncode)"
    found = measured_run([sys.executable, "-c", parent], tmp_path, at_most=60)
    assert (found.code, found.megabytes > 150) == (3, True)


def test_a_command_without_end_is_killed(tmp_path: Path) -> None:
    """And what it said of errors is kept."""
    with (tmp_path / "errors").open("w+b") as errors:
        found = measured_run(["sh", "-c", "echo here >&2; exec sleep 600"], tmp_path, at_most=0.5, errors=errors)
        errors.seek(0)
        assert (found.code, errors.read()) == (-signal.SIGKILL, b"here\n")


def test_the_time_of_processors_is_not_that_of_the_clock(tmp_path: Path) -> None:
    """It waits for most of its time."""
    found = measured_run(["sleep", "1"], tmp_path, at_most=60)
    assert found.seconds > 0.9 > found.busy
