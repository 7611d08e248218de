"""Nodes of a cluster: killed together by the files that hold their process ids, and awaited. The container is this machine."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from storeproof.contract import Address, Layout
from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch.endpoint import EndpointHandle
from storeproof.launch.endpoint_probe import EndpointProbe
from storeproof.launch.handle import FaultMeans
from storeproof.launch.in_container import RunningNodes
from storeproof.launch.process import ProcessHandle
from storeproof.spec.store import EndpointLaunch, Nodes, ProcessLaunch
from tests.launch.small import ROW, request


class Here:
    """Runs the commands that are meant for a container here."""

    def exec_run(self, command: Sequence[str]) -> tuple[int, bytes]:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout


class Cluster:
    """Two processes that sleep, with their ids in files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("a", "b"):
            self.begin(name)
        files = {name: str(directory / name) for name in self.running}
        self.nodes = Nodes(
            pid_files=files, ready=("test", "-e", str(directory / "answers")), all_ready=("test", "-e", str(directory / "whole"))
        )

    def begin(self, name: str) -> None:
        # A parent of its own that waits for it, as in a container: a zombie could still be signalled.
        file = self.directory / name
        keeper = ("sh", "-c", 'sleep 60 & echo $! >"$0.new"; mv "$0.new" "$0"; wait', str(file))
        self.running[name] = subprocess.Popen(keeper)
        while not file.exists():
            time.sleep(0.005)

    def pid(self, name: str) -> int:
        return int((self.directory / name).read_text())

    def end(self) -> None:
        for name, process in self.running.items():
            if runs(self.pid(name)):
                os.kill(self.pid(name), 9)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Ends with the test."""
    made = Cluster(tmp_path)
    yield made
    made.end()


def runs(pid: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_only_the_named_node_is_killed_and_it_is_gone_afterwards(cluster: Cluster) -> None:
    """The other one runs on, and is then the one that has run longest."""
    nodes = RunningNodes("mine", cluster.nodes, lambda: "")
    assert nodes.names == ("a", "b")
    nodes.kill(Here(), ["a"])
    assert (runs(cluster.pid("a")), runs(cluster.pid("b"))) == (False, True)
    assert nodes.names == ("b", "a")


def test_all_nodes_are_killed(cluster: Cluster) -> None:
    """By one command."""
    nodes = RunningNodes("mine", cluster.nodes, lambda: "")
    nodes.kill(Here(), nodes.names)
    assert not runs(cluster.pid("a"))
    assert not runs(cluster.pid("b"))


def test_a_node_that_does_not_run_cannot_be_killed(cluster: Cluster) -> None:
    """Else a fault that struck nothing would pass for one that was survived."""
    nodes = RunningNodes("mine", cluster.nodes, lambda: "the log's last line")
    nodes.kill(Here(), ["a"])
    with pytest.raises(StoreDied, match=r"mine: a could not be killed") as raised:
        nodes.kill(Here(), ["a"])
    assert raised.value.log == "the log's last line"
    (cluster.directory / "b").rename(cluster.directory / "elsewhere")
    with pytest.raises(StoreDied, match="b could not be killed"):
        nodes.kill(Here(), ["b"])
    (cluster.directory / "elsewhere").rename(cluster.directory / "b")


def test_answering_and_being_whole_are_two_questions(cluster: Cluster) -> None:
    """A cluster that answers with one node is not whole; the time for it is limited."""
    nodes = RunningNodes("mine", cluster.nodes, lambda: "")
    with pytest.raises(StoreDied, match=r"the cluster did not answer within 0.1 s"):
        nodes.wait(Here(), 0.1, whole=False)
    (cluster.directory / "answers").touch()
    nodes.wait(Here(), 0.1, whole=False)
    with pytest.raises(StoreDied, match=r"the cluster was not complete within 0.1 s"):
        nodes.wait(Here(), 0.1, whole=True)
    (cluster.directory / "whole").touch()
    nodes.wait(Here(), 0.1, whole=True)


def test_a_single_server_has_no_nodes(tmp_path: Path) -> None:
    """It says so before any load, it is whole, and it refuses: nothing is struck in silence."""
    launch = ProcessLaunch(binary="${python}", install="none", command=("-c", "pass"))
    process = ProcessHandle(request(launch, tmp_path, store="mine", probe=lambda _: None))
    try:
        assert str(process.cannot(FaultMeans.KILL_NODES)) == "it runs as one server: it has no nodes that could be killed one by one"
        assert process.nodes == ()
        process.wait_whole()
        with pytest.raises(NotAvailable, match="no nodes"):
            process.kill_nodes(["a"])
    finally:
        process.close()
    probe = EndpointProbe("mine://localhost:1", tmp_path / "mine.yaml", "plain", (), Layout("sp_mine", ROW))
    endpoint = EndpointHandle(request(EndpointLaunch(url="mine://localhost:1"), endpoint=probe))
    assert isinstance(endpoint.address, Address)
    assert endpoint.cannot(FaultMeans.KILL_NODES)
    with pytest.raises(NotAvailable):
        endpoint.kill_nodes(["a"])
