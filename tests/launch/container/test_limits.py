"""The cores and the memory that a container is given, and what is seen of its processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.contract import Unknown
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch import container_description
from storeproof.launch.container import ContainerHandle
from storeproof.machine import container_engine
from tests.launch.container.redis import REDIS, SETTINGS, command, pinged
from tests.launch.small import eventually, request

pytestmark = pytest.mark.docker

MIB = 2**20
CORE = max(os.sched_getaffinity(0))


@pytest.fixture
def handle() -> Iterator[ContainerHandle]:
    """A Redis of its own core and of 64 MiB."""
    made = ContainerHandle(request(REDIS, store="redis", probe=pinged, settings=SETTINGS, cores=(CORE,), memory=64 * MIB))
    yield made
    made.close()


def test_it_runs_on_its_cores(handle: ContainerHandle) -> None:
    """As the kernel has it, of every thread."""
    handle.start()
    first = handle._container.attrs["State"]["Pid"]
    for status in Path(f"/proc/{first}/task").glob("*/status"):
        assert f"Cpus_allowed_list:\t{CORE}\n" in status.read_text()


def test_the_limit_of_its_memory_is_told(handle: ContainerHandle) -> None:
    """A server that needs more is ended, and not to blame."""
    handle.start()
    with contextlib.suppress(Unknown):  # it does not answer any more
        command(handle.address, "SETRANGE", "key", str(200 * MIB), "x")
    assert eventually(lambda: not handle.alive())
    with pytest.raises(MachineFailed, match="it needed more than the 64 MiB that --memory allows"):
        handle.check_alive()


def test_what_it_uses_is_metered(handle: ContainerHandle) -> None:
    """Through the processes that this machine sees of it; each SET is synced."""
    handle.start()
    meter = handle.meter()
    meter.begin()
    for number in range(10):
        command(handle.address, "SET", f"k{number}", "x" * 1000)
    found = meter.end()
    assert found.cpu_seconds > 0
    if not {"syncs", "written_bytes"} & set(meter.unknown):
        assert found.syncs == 10
        assert (found.written_bytes or 0) >= 10 * 1000
    assert (meter.footprint().resident_bytes or 0) > MIB


def test_its_files_and_processes_can_be_watched(handle: ContainerHandle) -> None:
    """As this machine sees them."""
    handle.start()
    command(handle.address, "SET", "k", "x")
    folder, pids = handle.watched()
    assert list(folder.rglob("*.aof"))
    assert handle._container.attrs["State"]["Pid"] in pids


def test_processes_on_another_machine_cannot_be_seen(handle: ContainerHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of this machine may have the same number."""
    handle.start()
    monkeypatch.setattr(container_engine, "group_of", lambda _pid: "0::/user.slice\n")
    with pytest.raises(NotAvailable, match="runs on another machine"):
        handle.meter()
    with pytest.raises(NotAvailable, match="runs on another machine"):
        handle.watched()


def test_cores_of_another_machine_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given as many, whichever they are."""
    asked = request(REDIS, cores=(6, 7))
    monkeypatch.setattr(container_engine, "runs_here", lambda: True)
    assert container_description.limits(asked) == {"cpuset_cpus": "6,7"}
    monkeypatch.setattr(container_engine, "runs_here", lambda: False)
    assert container_description.limits(asked) == {"nano_cpus": 2 * 10**9}
