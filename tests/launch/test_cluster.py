"""A cluster of processes: each node in a namespace of its own, formed by the adapter, struck node by node, and removed as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from storeproof.cleanup.sweep import sweep_all
from storeproof.contract import Breach, NodeAddresses, Refused, Unknown
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import MachineFailed, NotAvailable, StoreDied
from storeproof.launch.handle import FaultMeans
from storeproof.launch.launcher import make
from storeproof.launch.several.cluster import ClusterHandle
from storeproof.network.namespaces import find_marks
from storeproof.spec.store import Topology
from tests.launch.small import eventually, gone, greeted
from tests.launch.small_cluster import SmallCluster, cluster_request, once, service
from tests.network.network_rights import needs_networks

pytestmark = needs_networks


@pytest.fixture(scope="module")
def running(networks: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ClusterHandle, SmallCluster]]:
    """A cluster for all tests that leave it as they found it."""
    adapter = SmallCluster()
    made = make(cluster_request(tmp_path_factory.mktemp("cluster"), adapter), lambda _: None)
    assert isinstance(made, ClusterHandle)
    adapter.missing = once("not yet")
    try:
        assert made.start() > 0
        assert adapter.calls == ["form n1 n2 n3", "form n1 n2 n3", "whole"]
        yield made, adapter
        pids = list(made.pids)
        made.node("n2").pause()
    finally:
        made.close()
    made.close()
    assert all(map(gone, pids))
    assert made.network.mark not in find_marks()


@pytest.fixture
def adapter(running: tuple[ClusterHandle, SmallCluster]) -> SmallCluster:
    """That of the running cluster, as it was after the start."""
    _, adapter = running
    adapter.main = "n1"
    adapter.calls.clear()
    return adapter


@pytest.fixture
def handle(running: tuple[ClusterHandle, SmallCluster], adapter: SmallCluster) -> ClusterHandle:
    handle, _ = running
    if not handle.alive():  # an earlier test failed
        handle.start()
        adapter.calls.clear()
    return handle


def namespace_of(pid: int) -> str:
    """The network namespace of a process."""
    return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 - no file has this path


def test_each_node_has_a_namespace_and_all_are_reached_from_here(handle: ClusterHandle, adapter: SmallCluster) -> None:
    """The address is that of the primary, with the ports of all services."""
    places = {}
    for name in handle.nodes:
        node = handle.node(name)
        greeted(node.address)
        (places[name],) = {namespace_of(pid) for pid in node.pids}
        assert node.address.host == handle.network.addresses[name]
    assert len({*places.values(), namespace_of(os.getpid())}) == 4
    assert (len(handle.pids), handle.kind, handle.initialised, handle.alive()) == (5, "process", True, True)
    assert handle.address == handle.node("n1").address
    assert (handle.address.port, handle.address.ports) == (4000, {"server": 4000, "watcher": 4001})
    adapter.main = "n2"
    assert handle.address == handle.node("n2").address
    with pytest.raises(RuntimeError, match="runs already"):
        handle.start_nowait()


def test_a_killed_node_is_started_again_and_the_cluster_is_not_formed_again(handle: ClusterHandle, adapter: SmallCluster) -> None:
    """The others keep their processes; a node that does not run cannot be killed."""
    first, *others = handle.nodes
    before = {name: set(handle.node(name).pids) for name in handle.nodes}
    adapter.main = first
    handle.kill_nodes([first])
    assert handle.nodes == (*others, first)
    for dead in (handle.check_alive, handle.node(first).check_alive, lambda: handle.kill_nodes([first])):
        with pytest.raises(StoreDied):
            dead()
    with pytest.raises(Unknown):
        _ = handle.address
    handle.start()
    assert adapter.calls == ["whole"]
    for name in others:
        assert set(handle.node(name).pids) == before[name]
    assert not before[first] & set(handle.node(first).pids)


def test_after_a_kill_of_all_it_is_formed_again(handle: ClusterHandle, adapter: SmallCluster) -> None:
    """As after a clean stop, and with empty disks."""
    pids = list(handle.pids)
    handle.kill()
    assert all(map(gone, pids))
    handle.start()
    handle.stop()
    assert handle.pids == []
    handle.empty()
    handle.start()
    assert adapter.calls == ["form n1 n2 n3", "whole"] * 2


class Whole(SmallCluster):
    """One that is asked to end as a whole, while all of its servers still answer."""

    def end(self, nodes: NodeAddresses) -> None:
        for address in nodes.values():
            greeted(address)
        self._note("end")


def test_a_cluster_that_ends_as_a_whole_is_asked_before_a_server_is_stopped(networks: None, tmp_path: Path) -> None:
    """Until it says that it will. A kill asks nothing."""
    adapter = Whole()
    with closing(ClusterHandle(cluster_request(tmp_path, adapter))) as handle:
        handle.start()
        adapter.calls.clear()
        adapter.missing = once("not yet")
        handle.stop()
        assert adapter.calls == ["end", "end"]
        assert handle.pids == []
        handle.start()
        adapter.calls.clear()
        handle.kill()
        assert adapter.calls == []


def test_healing_ends_every_fault_and_replaces_what_was_emptied(handle: ClusterHandle, adapter: SmallCluster) -> None:
    """A node that was only killed is started, one that was paused goes on, and the network is as before."""
    lost, killed, paused = (handle.node(name) for name in ("n1", "n2", "n3"))
    handle.network.unplug("n1")
    lost.kill()
    data = next(iter(lost.servers.values())).data
    assert data is not None
    assert (data / "started").exists()
    lost.empty()
    assert not (data / "started").exists()
    killed.kill()
    paused.pause()
    assert eventually(lambda: psutil.Process(paused.pids[0]).status() == psutil.STATUS_STOPPED)  # a signal is delivered a moment later
    handle.heal()
    for node in (lost, killed, paused):
        greeted(node.address)
    assert adapter.calls == ["replace n1"]
    adapter.calls.clear()
    handle.heal()
    assert adapter.calls == []


def test_a_node_that_is_brought_back_is_made_a_member_and_need_not_have_caught_up(networks: None, tmp_path: Path) -> None:
    """Where that takes a new copy it gets one; nothing waits until all is whole, and another node that is gone stays so."""
    adapter = Copied()
    adapter.needed = {}
    handle = ClusterHandle(cluster_request(tmp_path, adapter))
    try:
        handle.start()
        adapter.calls.clear()
        for name in ("n2", "n3"):
            handle.node(name).kill()
        adapter.needed = {"n2": []}
        handle.bring_back("n2")
        greeted(handle.node("n2").address)
        assert adapter.calls == ["rebuilt n2", "replace n2"]
        assert handle.node("n3").pids == []
    finally:
        handle.close()


class Copied(SmallCluster):
    """Whose adapter says once that n2 needs a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.needed = {"n2": [["${python}", "-c", "import pathlib, sys; pathlib.Path(sys.argv[1], '$$copied').touch()", "${data}"]]}

    def rebuilt(self, nodes: NodeAddresses) -> Mapping[str, Sequence[Sequence[str]]]:
        needed, self.needed = self.needed, {}
        self._note(f"rebuilt {' '.join(needed)}")
        return needed


def test_a_node_that_needs_a_copy_gets_one_before_the_cluster_is_whole(networks: None, tmp_path: Path) -> None:
    """Its server for clients is killed, its data directory emptied, and the commands of the adapter run in its place."""
    adapter = Copied()
    handle = ClusterHandle(cluster_request(tmp_path, adapter))
    try:
        handle.start_nowait()
        server, watcher = handle.node("n2").servers.values()
        before = {*server.pids, *watcher.pids}
        assert server.data is not None
        (server.data / "old").touch()
        handle.wait_ready()
        assert adapter.calls == ["form n1 n2 n3", "rebuilt n2", "whole"]
        assert sorted(each.name for each in server.data.iterdir()) == ["$copied", "started"]
        assert {*server.pids, *watcher.pids} & before == set(watcher.pids)
        greeted(server.address)
    finally:
        handle.close()


def test_a_node_that_is_renewed_without_commands_is_replaced(networks: None, tmp_path: Path) -> None:
    """It is started as with an empty disk, and the adapter makes it a member again."""
    adapter = Copied()
    adapter.needed = {"n2": []}
    handle = ClusterHandle(cluster_request(tmp_path, adapter))
    try:
        handle.start_nowait()
        server = next(iter(handle.node("n2").servers.values()))
        assert server.data is not None
        (server.data / "old").touch()
        handle.wait_ready()
        assert adapter.calls == ["form n1 n2 n3", "rebuilt n2", "replace n2", "whole"]
        assert [each.name for each in server.data.iterdir()] == ["started"]
    finally:
        handle.close()


def test_the_operator_promotes_only_where_the_topology_says_so(tmp_path: Path, handle: ClusterHandle, adapter: SmallCluster) -> None:
    """Else it is left to the cluster."""
    handle.fail_over()
    assert handle.primary() == "n1"
    other = ClusterHandle(cluster_request(tmp_path, adapter, failover="operator"))
    try:
        other.fail_over()
        assert adapter.calls == ["promote n2"]
    finally:
        other.close()


def test_a_cluster_that_is_not_formed_has_died(tmp_path: Path) -> None:
    """At once if it can never be formed; with what was missing, and the logs of all servers."""
    adapter = SmallCluster()
    adapter.missing = lambda: Refused("wrong version")
    handle = ClusterHandle(cluster_request(tmp_path, adapter, settle=1))
    try:
        with pytest.raises(StoreDied, match="trio: the cluster was not formed: wrong version"):
            handle.start()
        handle.kill()
        adapter.missing = lambda: Unknown("n3 has not caught up")
        # On a busy machine it is given more time, and then the machine is to blame.
        with pytest.raises((StoreDied, MachineFailed), match=r"the cluster was not formed within \d+ s .*n3 has not caught up") as died:
            handle.start()
        if isinstance(died.value, StoreDied):
            assert "trio, watcher of n2:\nready to greet" in died.value.log
    finally:
        handle.close()


def test_a_primary_that_is_no_node_is_the_adapters_error(
    handle: ClusterHandle, adapter: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the names that are allowed."""
    monkeypatch.setattr(adapter, "primary", lambda nodes: "n9")
    with pytest.raises(Breach, match="returned 'n9'; allowed: n1, n2, n3"):
        _ = handle.address


def test_it_is_a_cluster_without_power_cuts(tmp_path: Path, handle: ClusterHandle, adapter: SmallCluster) -> None:
    """What it cannot is refused before anything is started; so are containers without an image."""
    assert handle.cluster is handle
    assert handle.cannot(FaultMeans.CLUSTER) is None
    assert handle.cannot(FaultMeans.KILL_NODES) is None
    assert "cannot be cut" in str(handle.cannot(FaultMeans.CUT_POWER))
    with pytest.raises(NotAvailable, match="cannot be cut"):
        ClusterHandle(cluster_request(tmp_path, adapter, power_cut=PowerCutMethod("auto", 1)))
    with pytest.raises(NotAvailable, match=r"trio cannot be launched by container as a cluster.*--launch=process"):
        make(cluster_request(tmp_path, adapter, kind="container"), lambda _: None)


def test_where_a_program_is_missing_it_leaves_nothing(tmp_path: Path) -> None:
    """Neither directories nor a network."""
    request = cluster_request(tmp_path, SmallCluster())
    assert request.cluster is not None
    before = set(find_marks())
    services = {**request.cluster.topology.services, "watcher": service(4001, binary="no-such-server")}
    broken = Topology.model_validate({**request.cluster.topology.model_dump(), "services": services})
    with pytest.raises(NotAvailable, match="no-such-server"):
        ClusterHandle(replace(request, cluster=replace(request.cluster, topology=broken)))
    assert list(tmp_path.iterdir()) == []
    assert set(find_marks()) <= before


RUN = """
    import signal, sys, time
    from pathlib import Path
    from storeproof.launch.several.cluster import ClusterHandle
    from {module} import {request}
    from tests.launch.small_cluster import SmallCluster
    signal.signal(signal.SIGINT, signal.default_int_handler)
    {before}
    handle = ClusterHandle({request}(Path({base!r}), SmallCluster()))
    handle.start()
    handle.network.isolate("n1")
    handle.node("n2").pause()
    print(handle.network.mark.interface, *handle.pids, flush=True)
    while True:
        time.sleep(0.05)
"""
WITHOUT_REAPER = """import storeproof.launch.managed_server as m, storeproof.launch.several.cluster as c
    m.reap_at_exit = c.reap_at_exit = lambda *_, **__: None"""


def left(interface: str, pids: list[int], base: Path) -> list[str]:
    """What is left of a run."""
    found = [str(pid) for pid in pids if not gone(pid)] + [str(path) for path in base.iterdir()]
    found += [interface] if interface in psutil.net_if_addrs() else []
    return found + [name for mark, names in find_marks().items() if mark.interface == interface for name in names]


@pytest.mark.parametrize(
    ("signals", "reaper"),
    [([signal.SIGINT], True), ([signal.SIGINT, signal.SIGINT], True), ([signal.SIGKILL], True), ([signal.SIGKILL], False)],
    ids=["ctrl-c", "ctrl-c-twice", "kill", "kill-without-reaper"],
)
def test_a_run_that_ends_amid_a_fault_leaves_nothing(tmp_path: Path, signals: list[signal.Signals], reaper: bool) -> None:
    """By Ctrl-C its own clean-up removes all, also if it is pressed again meanwhile; by SIGKILL its reaper, or else the next run."""
    before_it = "" if reaper else WITHOUT_REAPER
    code = RUN.format(base=str(tmp_path), before=before_it, module="tests.launch.small_cluster", request="cluster_request")
    run = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert run.stdout is not None
    interface, *words = run.stdout.readline().split()
    run.stdout.close()
    pids = [int(word) for word in words]
    assert len(pids) == 5
    before = len(left(interface, pids, tmp_path))
    assert before == 5 + 5 + 1 + 4
    run.send_signal(signals[0])
    for number in signals[1:]:  # as soon as the clean-up has begun
        assert eventually(lambda: len(left(interface, pids, tmp_path)) < before, 20)
        run.send_signal(number)
    run.wait(30)
    if signals[0] == signal.SIGINT:
        assert left(interface, pids, tmp_path) == []
    elif reaper:
        assert eventually(lambda: left(interface, pids, tmp_path) == [], 20)
    else:
        assert len(left(interface, pids, tmp_path)) == before
        sweep_all(tmp_path)
        assert left(interface, pids, tmp_path) == []
