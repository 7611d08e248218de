"""A cluster in containers: what `tests/launch/test_cluster.py` asks of processes, and what only containers could get wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from storeproof.cleanup.sweep import sweep_all
from storeproof.contract import NodeAddresses, Unknown
from storeproof.errors import MachineFailed, NotAvailable, StoreDied
from storeproof.launch.launcher import make
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.machine import container_engine
from storeproof.network.namespaces import find_marks
from storeproof.spec.store import Launch, Topology
from tests.launch.container.redis import IMAGE, command, names
from tests.launch.container.redis_cluster import redis_request
from tests.launch.small import eventually, gone
from tests.launch.small_cluster import SmallCluster
from tests.launch.test_cluster import RUN, WITHOUT_REAPER, left, namespace_of
from tests.network.network_rights import needs_networks

pytestmark = [pytest.mark.docker, needs_networks]


CORE = min(os.sched_getaffinity(0))
SHARE = 2**26
"""Bytes of memory of each server."""


class Copied(SmallCluster):
    """Whose adapter says, when a test wants it, that n2 needs a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.needed: dict[str, Sequence[Sequence[str]]] = {}

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        needed, self.needed = self.needed, {}
        return needed


def container_of(handle: ClusterHandle, node: str, service: str = "server") -> Any:
    """The container of one server, as the engine has it now."""
    server = handle.node(node).servers[service]
    return container_engine.client().containers.get(server._directory().root.name)


def volumes_of(container: Any) -> set[str]:
    """The names of its volumes."""
    return {mount["Name"] for mount in container.attrs["Mounts"] if mount["Type"] == "volume"}


@pytest.fixture(scope="module")
def running(networks: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ClusterHandle, Copied]]:
    """A cluster for all tests that leave it as they found it; nothing of it is left, also if a node is paused."""
    adapter, base = Copied(), tmp_path_factory.mktemp("cluster")
    base.chmod(0o700)  # closed to the user of the servers, who need not pass through it
    made = make(redis_request(base, adapter, cores=(CORE,), memory=3 * SHARE), lambda _: None)
    assert isinstance(made, ClusterHandle)
    try:
        made.start()
        yield made, adapter
        pids, volumes = list(made.pids), volumes_of(container_of(made, "n1"))
        assert volumes  # the image declares some
        made.node("n2").pause()
    finally:
        made.close()
    made.close()
    assert all(map(gone, pids))
    assert names() == set()
    assert list(base.iterdir()) == []
    assert made.network.mark not in find_marks()
    assert not volumes & {each.name for each in container_engine.client().volumes.list()}


@pytest.fixture
def handle(running: tuple[ClusterHandle, Copied]) -> ClusterHandle:
    handle, adapter = running
    if not handle.alive():  # an earlier test failed
        handle.start()
    adapter.calls.clear()
    return handle


def test_the_servers_of_a_node_share_its_namespace_and_are_reached_from_here(handle: ClusterHandle) -> None:
    """Each in a container of the image, as a user without rights, held in its limits by the engine."""
    places = {}
    for name in handle.nodes:
        (places[name],) = {namespace_of(pid) for pid in handle.node(name).pids}
        assert command(handle.node(name).address, "PING") == "+PONG\r\n"
    assert len({*places.values(), namespace_of(os.getpid())}) == 3
    assert (handle.kind, handle.image_digest, handle.binary_digest) == ("container", container_engine.require_image(IMAGE, "duo"), None)
    assert [(each.kind, each.package) for each in handle.origins] == [("image", IMAGE)]
    assert len(handle.pids) == 3
    found = container_of(handle, "n1").attrs
    assert (found["HostConfig"]["Memory"], found["HostConfig"]["CpusetCpus"]) == (SHARE, str(CORE))
    assert {psutil.Process(pid).uids().real for pid in handle.pids} == {65534}
    assert "duo, watcher of n1:" in handle.log_tail()
    assert "Ready to accept connections" in handle.log_tail()
    assert handle.meter().footprint().resident_bytes


def test_a_killed_node_keeps_its_address_and_its_data(handle: ClusterHandle) -> None:
    """Its namespace outlives its servers; so does its cable, and what a fault does to it."""
    node = handle.node("n1")
    command(node.address, "SET", "key", "kept")
    command(node.address, "SAVE")
    before = namespace_of(node.pids[0])
    handle.network.unplug("n1")
    handle.kill_nodes(["n1"])
    with pytest.raises(StoreDied, match="does not run"):
        handle.check_alive()
    handle.heal()
    assert {namespace_of(pid) for pid in node.pids} == {before}
    assert command(node.address, "GET", "key") == "$4\r\nkept\r\n"


def test_an_emptied_node_begins_again(handle: ClusterHandle, running: tuple[ClusterHandle, Copied]) -> None:
    """Its data is a directory of this machine."""
    node, (_, adapter) = handle.node("n2"), running
    command(node.address, "SET", "key", "lost")
    command(node.address, "SAVE")
    node.kill()
    data = next(iter(node.servers.values())).data
    assert data is not None
    assert (data / "dump.rdb").stat().st_uid == 65534
    node.empty()
    handle.heal()
    assert adapter.calls == ["replace n2"]
    assert command(node.address, "GET", "key") == "$-1\r\n"


def test_a_node_is_made_again_by_commands_of_the_image(handle: ClusterHandle, running: tuple[ClusterHandle, Copied]) -> None:
    """In a container of their own; one that fails says why, in the log."""
    server, (_, adapter) = next(iter(handle.node("n2").servers.values())), running
    assert server.data is not None
    adapter.needed = {"n2": [["touch", "${data}/copied"]]}
    handle.wait_whole()
    assert (server.data / "copied").exists()
    adapter.needed = {"n2": [["touch", "${data}/no/such/folder"]]}
    with pytest.raises(StoreDied, match="duo, server of n2: touch ended with exit status 1") as died:
        handle.wait_whole()
    assert "No such file or directory" in died.value.log
    handle.heal()


def test_a_paused_node_does_not_answer_until_it_goes_on(handle: ClusterHandle) -> None:
    """As by SIGSTOP."""
    node = handle.node("n1")
    node.pause()
    assert eventually(lambda: {psutil.Process(pid).status() for pid in node.pids} == {psutil.STATUS_STOPPED})
    node.resume()
    assert command(node.address, "PING") == "+PONG\r\n"


def test_it_stops_and_starts_as_a_whole(handle: ClusterHandle, running: tuple[ClusterHandle, Copied]) -> None:
    """After a clean stop and after a kill of all it is formed again."""
    _, adapter = running
    for end in (handle.stop, handle.kill):
        pids = list(handle.pids)
        end()
        assert all(map(gone, pids))
        handle.start()
    assert adapter.calls == ["form n1 n2", "whole"] * 2


def test_who_kills_a_container_is_told_from_its_server(handle: ClusterHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill from outside spoils the round, as does a limit of memory; an end of its own is the store's.

    The engine's flag for the limit comes late on a busy machine: here it never comes, and what the engine tells of it does.
    """
    from docker.models.containers import Container

    reload = Container.reload

    def without_flag(container: Container) -> None:
        reload(container)
        container.attrs["State"]["OOMKilled"] = False

    monkeypatch.setattr(Container, "reload", without_flag)
    container_of(handle, "n1").kill()
    assert eventually(lambda: not handle.alive(), 5)
    with pytest.raises(MachineFailed, match="was killed from outside: SIGKILL"):
        handle.check_alive()
    handle.heal()
    with contextlib.suppress(Unknown):  # or the connection ends without a word
        command(handle.node("n1").address, "SETRANGE", "long", str(2 * SHARE), "x")
    assert eventually(lambda: not handle.alive(), 5)
    with pytest.raises(MachineFailed, match=r"needed more than the 64 MiB that --memory allows"):
        handle.check_alive()
    handle.heal()
    command(handle.node("n1").address, "SHUTDOWN", "NOSAVE")
    assert eventually(lambda: not handle.alive(), 5)
    with pytest.raises(StoreDied, match="duo, server of n1 ended with exit status 0"):
        handle.check_alive()
    handle.heal()


def test_what_an_image_lacks_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """So is what no image has, and a store without one."""
    request = redis_request(tmp_path, SmallCluster())
    assert request.cluster is not None
    networks, containers = set(find_marks()), names()

    def refused(match: str, launch: Launch = request.launch, **fields: object) -> None:
        assert request.cluster is not None
        described = request.cluster.topology.model_dump()
        described["services"]["server"] |= fields
        topology = Topology.model_validate(described)
        with pytest.raises(NotAvailable, match=match):
            ClusterHandle(replace(request, launch=launch, cluster=replace(request.cluster, topology=topology)))

    refused("the image storeproof/redis has no no-such-copier", programs=("no-such-copier",))
    refused("the Python of the suites, which no image has", before_start=(("${python}", "-c", "pass"),))
    refused("its file names no image", Launch())
    assert list(tmp_path.iterdir()) == []
    assert names() == containers
    assert set(find_marks()) <= networks


@pytest.mark.parametrize(
    ("number", "reaper"),
    [(signal.SIGINT, True), (signal.SIGKILL, True), pytest.param(signal.SIGKILL, False, marks=pytest.mark.serial)],
    ids=["ctrl-c", "kill", "kill-without-reaper"],  # serial: any other run on this machine sweeps too
)
def test_a_run_that_ends_amid_a_fault_leaves_nothing(tmp_path: Path, number: signal.Signals, reaper: bool) -> None:
    """Containers neither, also those that only hold a namespace."""
    before_it = "" if reaper else WITHOUT_REAPER
    code = RUN.format(base=str(tmp_path), before=before_it, module="tests.launch.container.redis_cluster", request="redis_request")
    run = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    assert run.stdout is not None
    interface, *words = run.stdout.readline().split()
    run.stdout.close()
    pids = [int(word) for word in words]

    def all_left() -> list[str]:
        every = container_engine.client().containers.list(all=True, ignore_removed=True)
        return left(interface, pids, tmp_path) + [each.name for each in every if each.name.startswith(f"storeproof-{run.pid}-")]

    before = len(all_left())
    assert before == 3 + 3 + 1 + 3 + 5
    run.send_signal(number)
    run.wait(30)
    if number == signal.SIGINT:
        assert all_left() == []
    elif reaper:
        assert eventually(lambda: all_left() == [], 20)
    else:
        assert len(all_left()) == before
        sweep_all(tmp_path)
        assert all_left() == []
