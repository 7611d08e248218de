"""Rules of the packet filter on loopback, for the ports of the trial's servers alone: connections are reset, packets are dropped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_COMMENT = "storeproof-nuisance"
_TIMES = 12
"""At most, in a trial: one that repeats what was spoiled gets through in the end."""


def _iptables(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["iptables", "-w", "5", *arguments], capture_output=True, text=True, check=False)


def _cannot(_trial: ShortTrial) -> str | None:
    try:
        tried = _iptables("-S", "INPUT")
    except FileNotFoundError:
        return "iptables is not installed; apt-get install iptables"
    return f"the packet filter cannot be changed here: {tried.stderr.strip()}" if tried.returncode else None


@contextlib.contextmanager
def rule(port: int, *target: str) -> Iterator[None]:
    """In force while inside."""
    comment = f"{_COMMENT}:{os.getpid()}"
    match = ["INPUT", "-i", "lo", "-p", "tcp", "--dport", str(port), "-m", "comment", "--comment", comment, "-j", *target]
    done = _iptables("-I", *match)
    assert done.returncode == 0, done.stderr
    try:
        yield
    finally:
        done = _iptables("-D", *match)
        assert done.returncode == 0, done.stderr


def sweep() -> None:
    """Remove the rules of runners that have ended."""
    if shutil.which("iptables") is None:
        return
    for line in _iptables("-S", "INPUT").stdout.splitlines():
        found = re.search(rf"{_COMMENT}:(\d+)", line)
        if found and not Path(f"/proc/{found[1]}").exists():
            _iptables("-D", *line.replace('"', "").split()[1:])


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    def work() -> None:
        for _ in range(_TIMES):
            if not sut.until_over(0.2, 1.5):
                return
            for port in sut.ports():
                if sut.random.random() < 0.5:
                    what, target, seconds = "reset", ("REJECT", "--reject-with", "tcp-reset"), sut.random.uniform(0.05, 0.5)
                else:
                    what, target, seconds = "dropped", ("DROP",), 1.0
                with sut.act(f"packets to port {port} are {what} for {seconds:.1f} s"), rule(port, *target):
                    sut.until_over(seconds, seconds)

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("network rules", _around, _cannot)
