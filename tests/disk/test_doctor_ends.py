"""A command that is ended while it tries a mount: nothing is left when the next command has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.disk.files import mounts
from tests.launch.small import eventually

pytestmark = pytest.mark.usefixtures("memory_disks")

DOCTOR = """
import sys, time
from storeproof.launch import doctor
{before}
make = doctor.make_disk
def made(wanted, at, image):
    disk = make(wanted, at, image)
    if wanted.method == {method!r}:
        print("mounted", flush=True)
        while True:
            time.sleep(0.05)
    return disk
doctor.make_disk = made
from storeproof.cli import main
sys.argv = ["storeproof", "doctor"]
main()
"""


def doctor(base: Path, number: signal.Signals, method: str, *, reaped: bool = True) -> None:
    """Run the doctor until it has mounted a volume, and end it there."""
    before = "" if reaped else "doctor.reap_at_exit = lambda *_, **__: None"
    process = subprocess.Popen(
        [sys.executable, "-c", DOCTOR.format(before=before, method=method)],
        env={**os.environ, "TMPDIR": str(base)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "mounted\n"
    assert str(base) in mounts()
    process.send_signal(number)
    process.wait(30)
    process.stdout.close()


def nothing_left(base: Path) -> bool:
    devices = subprocess.run(["losetup", "--list", "--noheadings", "--output", "BACK-FILE"], capture_output=True, text=True, check=True)
    return list(base.iterdir()) == [] and str(base) not in mounts() and str(base) not in devices.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("method", ["ext4", "fuse"])
def test_a_doctor_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals, method: str) -> None:
    """A doctor killed while it tries a disk leaves no mount, device or directory."""
    doctor(tmp_path, number, method)
    assert eventually(lambda: nothing_left(tmp_path))


def test_the_next_command_removes_what_a_doctor_left(tmp_path: Path) -> None:
    """Whichever it is."""
    doctor(tmp_path, signal.SIGKILL, "ext4", reaped=False)
    assert not nothing_left(tmp_path)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", "import sys; from storeproof.cli import main; sys.argv[0] = 'storeproof'; main()"]
    subprocess.run([*command, "stores", "--help"], env=environment, check=True, capture_output=True)
    assert not nothing_left(tmp_path), "help is answered at once, whatever is left"
    subprocess.run([*command, "stores", "sqlite"], env=environment, check=True, capture_output=True)
    assert eventually(lambda: nothing_left(tmp_path))
