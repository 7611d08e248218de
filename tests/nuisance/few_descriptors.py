"""`ulimit -n` for the trial and all that it starts."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

import psutil

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial


@contextlib.contextmanager
def _around(trial: ShortTrial) -> Iterator[None]:
    number = trial.random.choice((64, 128, 256))

    def work() -> None:
        while trial.process is None:
            if not trial.until_over(0.001, 0.001):
                return
        with contextlib.suppress(psutil.NoSuchProcess):
            trial.process.rlimit(resource.RLIMIT_NOFILE, (number, number))
        with trial.act(f"ulimit -n {number}"):
            trial.over.wait()

    with meanwhile(trial, work):
        yield


NUISANCE = Nuisance("few descriptors", _around, lasting=True)
