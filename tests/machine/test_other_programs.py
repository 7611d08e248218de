"""Other programs are those that this run did not start; what they use is counted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

import pytest

from storeproof.machine import other_programs
from storeproof.machine.other_programs import OtherPrograms

USED = 0.3
"""Seconds of processor time."""
_BURN = f"""
import pathlib, sys, time
while time.process_time() < {USED}:
    pass
pathlib.Path(sys.argv[1]).touch()
time.sleep(600)
"""


def wait_for(file: Path) -> None:
    """Until it is there: processor time is counted, and not the time on a busy machine."""
    while not file.exists():
        time.sleep(0.01)


@pytest.fixture
def strangers() -> Iterator[list[int]]:
    """Pids of programs that are to be ended."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, SIGKILL)


def stranger(done: Path) -> int:
    """Start a program that uses the processor; its parent ends at once, so that it descends from this process no more."""
    quiet = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    started = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {_BURN!r}, {str(done)!r}], {quiet}).pid)"
    return int(subprocess.run([sys.executable, "-c", started], check=True, capture_output=True, text=True).stdout)


def test_what_a_stranger_uses_is_counted(tmp_path: Path, strangers: list[int]) -> None:
    """Whatever else runs here, it is at least that."""
    others, since = OtherPrograms(), time.monotonic()
    strangers.append(stranger(tmp_path / "done"))
    wait_for(tmp_path / "done")
    share, passed = others.share(), time.monotonic() - since
    assert share >= min(1.0, 0.9 * USED / passed / (os.cpu_count() or 1))


def test_what_belongs_to_this_run_is_none(tmp_path: Path, strangers: list[int]) -> None:
    """Neither this process nor what it has started."""
    child = subprocess.Popen([sys.executable, "-c", _BURN, str(tmp_path / "child")])
    try:
        strangers.append(stranger(tmp_path / "stranger"))
        wait_for(tmp_path / "child")
        wait_for(tmp_path / "stranger")
        found = {pid: seconds for (pid, _), seconds in other_programs._seconds().items()}
    finally:
        child.kill()
        child.wait()
    assert found.keys().isdisjoint({os.getpid(), child.pid})
    assert found[strangers[0]] >= 0.9 * USED
