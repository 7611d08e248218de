"""INT, TERM or HUP to the run, twice within a second: the first of the process, of its first case, or of its first server."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial


@contextlib.contextmanager
def _around(trial: ShortTrial) -> Iterator[None]:
    number = trial.random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    since = trial.random.choice(("the process", "the first case", "a server"))
    first, second = sorted(trial.random.random() for _ in range(2))

    def begun() -> bool:
        if trial.running() is None:
            return False
        return {
            "the process": lambda: True,
            "the first case": (trial.folder / "times").exists,
            "a server": lambda: bool(trial.servers() or trial.containers()),
        }[since]()

    def work() -> None:
        while not begun():
            if not trial.until_over(0.02, 0.02):
                return
        for pause in (first, second - first):
            if not trial.until_over(pause, pause):
                return
            with trial.act(number.name), contextlib.suppress(ProcessLookupError):
                assert trial.process is not None
                # A terminal sends these to its whole group; a supervisor sends TERM to the process.
                (os.kill if number is signal.SIGTERM else os.killpg)(trial.process.pid, number)

    with meanwhile(trial, work):
        yield


NUISANCE = Nuisance("signals", _around, ends_the_run=True)
