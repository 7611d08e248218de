"""More work than there are processors."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from tests.nuisance.nuisance import Nuisance
from tests.nuisance.short_trial import ShortTrial

_SECONDS = 300
"""Of processor time, at most, for each: so none outlives us for long."""


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    number = sut.random.choice((2, 3, 4)) * (os.cpu_count() or 1)
    command = ["prlimit", f"--cpu={_SECONDS}", "setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"]
    spinning = [subprocess.Popen(command) for _ in range(number)]
    try:
        with sut.act(f"{number} processes that spin"):
            yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


NUISANCE = Nuisance("busy processors", _around, lasting=True)
