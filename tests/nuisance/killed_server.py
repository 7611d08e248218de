"""Another process kills the store's server, as an administrator or an out-of-memory killer does."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import psutil

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_TIMES = 5
"""At most, in a trial: one that repeats what was spoiled gets through in the end."""


def strike(sut: ShortTrial) -> bool:
    """Kill one of the servers that run now; False where there is none."""
    for server in sut.servers():
        with contextlib.suppress(psutil.NoSuchProcess), sut.act(f"pid {server.pid} ({server.name()}) is killed"):
            server.send_signal(signal.SIGKILL)
            return True
    for container in sut.containers():
        import docker.errors

        with contextlib.suppress(docker.errors.APIError), sut.act(f"container {container.short_id} is killed"):
            container.kill(signal="SIGKILL")
            return True
    return False


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    def work() -> None:
        for _ in range(_TIMES):
            early = sut.random.random() < 0.2  # else not before it listens
            while not (sut.servers() or sut.containers() if early else sut.ports()):
                if not sut.until_over(0.02, 0.02):
                    return
            if not sut.until_over(0, 2):
                return
            strike(sut)

    with meanwhile(sut, work):
        yield


NUISANCE = Nuisance("killed server", _around)
