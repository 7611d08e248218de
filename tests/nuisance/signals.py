"""INT, TERM or HUP to the run, twice within a second: the first of the process, of its first case, or of its first server."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    number = sut.random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    since = sut.random.choice(("the process", "the first case", "a server"))
    first, second = sorted(sut.random.random() for _ in range(2))

    def begun() -> bool:
        if sut.running() is None:
            return False
        return {
            "the process": lambda: True,
            "the first case": (sut.folder / "times").exists,
            "a server": lambda: bool(sut.servers() or sut.containers()),
        }[since]()

    def work() -> None:
        while not begun():
            if not sut.until_over(0.02, 0.02):
                return
        for pause in (first, second - first):
            if not sut.until_over(pause, pause):
                return
            with sut.act(number.name), contextlib.suppress(ProcessLookupError):
                assert sut.process is not None
                # A terminal sends these to its whole group; a supervisor sends TERM to the process.
                (os.kill if number is signal.SIGTERM else os.killpg)(sut.process.pid, number)

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("signals", _around, ends_the_run=True)
