"""`ulimit -n` for the trial and all that it starts."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

import psutil

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    number = sut.random.choice((64, 128, 256))

    def work() -> None:
        while sut.process is None:
            if not sut.until_over(0.001, 0.001):
                return
        with contextlib.suppress(psutil.NoSuchProcess):
            sut.process.rlimit(resource.RLIMIT_NOFILE, (number, number))
        with sut.act(f"ulimit -n {number}"):
            sut.over.wait()

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("few descriptors", _around, lasting=True)
