"""Memory that is short: a server is killed when it takes more than a bound, or the run's own address space is limited.

Never the machine's memory. A container's bound is the engine's (a memory cgroup, and the kernel's killer); a process is killed as
earlyoom or systemd-oomd do it, by someone who looks at what it takes.
"""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from typing import Any

import psutil

from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_KILLS = 4
_MIB = 2**20
_ADDRESS_SPACE = 3 * 2**30
"""Bytes: enough to start with, too little for all threads of a trial."""


def _limit_container(sut: ShortTrial, container: Any) -> None:
    """As much as it takes now and a little more, without swap."""
    import docker.errors

    with contextlib.suppress(docker.errors.APIError, KeyError):  # it may end meanwhile
        taken = container.client.api.stats(container.id, stream=False, one_shot=True)["memory_stats"]["stats"]
        bytes_ = int(taken.get("rss", taken.get("anon", 0))) + sut.random.randint(1, 8) * _MIB
        bytes_ = max(bytes_, 6 * _MIB)
        with sut.act(f"container {container.short_id} may take {bytes_ // _MIB} MiB"):
            container.update(mem_limit=bytes_, memswap_limit=bytes_)


def _taken(server: psutil.Process) -> dict[psutil.Process, int]:
    found = {}
    with contextlib.suppress(psutil.Error):
        for each in (server, *server.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found[each] = each.memory_info().rss
    return found


def _limit_containers(sut: ShortTrial) -> None:
    limited: set[str] = set()
    while sut.until_over(0.3, 1):
        for container in sut.containers():
            if container.id not in limited:
                _limit_container(sut, container)
                limited.add(container.id)


def _kill_the_greedy(sut: ShortTrial) -> None:
    bounds: dict[psutil.Process, int] = {}
    kills = 0
    while sut.until_over(0.05, 0.05) and kills < _KILLS:
        listening = bool(sut.ports())
        for server in sut.servers():
            if server not in bounds and not listening:
                continue  # how much it takes is known when it is up
            taken = _taken(server)
            bound = bounds.setdefault(server, sum(taken.values()) + sut.random.randint(1, 8) * _MIB)
            if taken and sum(taken.values()) > bound:
                victim = max(taken, key=lambda each: taken[each])
                with contextlib.suppress(psutil.Error), sut.act(f"pid {victim.pid} ({victim.name()}) took too much and is killed"):
                    victim.send_signal(signal.SIGKILL)
                kills += 1


def _limit_address_space(sut: ShortTrial) -> None:
    while sut.process is None:
        if not sut.until_over(0.001, 0.001):
            return
    with contextlib.suppress(psutil.NoSuchProcess):
        sut.process.rlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    with sut.act(f"ulimit -v {_ADDRESS_SPACE // 1024}"):
        sut.over.wait()


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    by_process = sut.random.choice((_kill_the_greedy, _kill_the_greedy, _limit_address_space))
    work = _limit_containers if sut.launch == "container" else by_process
    with meanwhile(sut, lambda: work(sut)):
        yield


NUISANCE = Nuisance("short memory", _around)
