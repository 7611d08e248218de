"""What a nuisance is: something that other work on a machine does to a trial, and that undoes itself."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.nuisance.short_trial import ShortTrial


def possible(_trial: ShortTrial) -> str | None:
    """Always."""
    return None


@dataclass(frozen=True)
class Nuisance:
    """One of them. The trial starts and ends inside of `around`."""

    name: str
    around: Callable[[ShortTrial], AbstractContextManager[None]]
    cannot: Callable[[ShortTrial], str | None] = possible
    """Why it cannot be had here, or None."""
    also: str = ""
    """Cases, as -k selects them, that it is likely to harm beyond the usual ones."""
    lasting: bool = False
    """Whether it is at work all the time, so that it meets cases of milliseconds too, and lets most of them come to an end."""
    ends_the_run: bool = False
    """Whether it stops the whole run, so that no finding can be expected of it."""


@contextlib.contextmanager
def meanwhile(sut: ShortTrial, work: Callable[[], None]) -> Iterator[None]:
    """Work in a thread while the trial runs. It must end when the trial is over; what it raises is raised here."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as reason:  # noqa: BLE001 - raised below
            failures.append(reason)

    thread = threading.Thread(target=run, name=f"nuisance {work.__qualname__}")
    thread.start()
    try:
        yield
    finally:
        sut.over.set()
        thread.join()
    if failures:
        raise failures[0]
