"""A pytest plugin for the suites' own process: it disturbs a run in the middle of a case that is named by the environment.

STRIKE=CASE:SIGNAL:SECONDS:VICTIM: as many seconds into the case, the signal goes to the store's processes (`store`), to its
container (`container`; SIGSTOP is a pause), or to the run itself (`run`). Once: of several stores in the case of the first.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from storeproof.machine import container_engine

_CASE, _SIGNAL, _SECONDS, _VICTIM = os.environ.get("STRIKE", ":::").rsplit(":", 3)
_struck = threading.Event()


def containers_of(pid: int) -> list[Any]:
    """What the engine runs or keeps for a run, by the process id in the owner's mark."""
    found = container_engine.client().containers.list(all=True, filters={"label": f"{container_engine.LABEL}=1"}, ignore_removed=True)
    return [each for each in found if each.labels.get(container_engine.OWNER_LABEL, "").startswith(f"{pid}:")]


def _strike(data: str) -> None:
    if _VICTIM == "container":
        for container in containers_of(os.getpid()):
            if _SIGNAL == "SIGSTOP":
                container.pause()
            else:
                container.kill(signal=_SIGNAL)
        return
    if _VICTIM == "run":
        psutil.Process().send_signal(signal.Signals[_SIGNAL])
        return
    struck: set[int] = set()
    while victims := [each for each in _processes_of(data) if each.pid not in struck]:  # one may fork while they are looked for
        for victim in victims:
            victim.send_signal(signal.Signals[_SIGNAL])
            struck.add(victim.pid)
    assert struck


def _processes_of(data: str) -> list[psutil.Process]:
    """The store's, those first that others descend from."""
    found = [each for each in psutil.Process().children(recursive=True) if _directory(each).startswith(f"{data}/")]
    return list(dict.fromkeys([*found, *(child for each in found for child in each.children(recursive=True))]))


def _directory(process: psutil.Process) -> str:
    """Empty where it has ended."""
    with suppress(psutil.NoSuchProcess):
        return f"{process.cwd()}/"
    return ""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    marker = item.get_closest_marker("case")
    if marker is not None and marker.kwargs["id"] == _CASE and not _struck.is_set():
        _struck.set()
        data = str(Path(item.config.option.data_dir or ".").resolve())
        if float(_SECONDS):
            timer = threading.Timer(float(_SECONDS), _strike, [data])
            timer.daemon = True
            timer.start()
        else:
            _strike(data)
    return (yield)
