"""A command that is run to its end: how it ended, what time it took, and how much memory the largest of its processes had.

The kernel counts as a process' peak also what it had before it became another program: as a copy of its parent, the parent's memory. So
the command is started by a process of its own, which is this file and small.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import IO


@dataclass(frozen=True)
class Ended:
    """How it ended."""

    code: int
    """As `subprocess` has it: negative for a signal."""
    megabytes: float
    """The most that it, or a process that it waited for, had in memory."""
    seconds: float
    busy: float
    """Seconds of processors that it and its processes took: unlike `seconds`, about the same on a busy machine."""

    def __str__(self) -> str:
        return f"{self.code:4} {self.megabytes:7.0f} {self.seconds:6.1f} {self.busy:6.1f}"


def measured_run(command: Sequence[str], folder: Path, at_most: float, errors: IO[bytes] | None = None) -> Ended:
    """Run it in a folder, and kill it after `at_most` seconds; it prints nothing, and what it says of errors goes to `errors`."""
    done = subprocess.run(
        [sys.executable, "-P", __file__, str(at_most), *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors or subprocess.DEVNULL,
        check=True,
    )
    return Ended(**json.loads(done.stdout))


def _run(command: Sequence[str], at_most: float) -> Ended:
    began = monotonic()
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    timer = threading.Timer(at_most, run.kill)
    timer.start()
    _, status, used = os.wait4(run.pid, 0)
    timer.cancel()
    run.returncode = os.waitstatus_to_exitcode(status)
    return Ended(run.returncode, used.ru_maxrss / 1024, monotonic() - began, used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    print(json.dumps(asdict(_run(sys.argv[2:], float(sys.argv[1])))))
